#include "base/strict_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/errors.h"
#include "base/suggestion.h"

namespace assay {

Json parse_json(std::string_view text, const std::string& file) {
  std::vector<std::set<std::string>> keys;  // of each object that is open
  const auto see = [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second) {
      throw BadInput(fmt::format("{}: the key '{}' stands twice", file, value.get<std::string>()));
    }
    return true;
  };
  try {
    return Json::parse(text, see);
  } catch (const Json::exception& e) {  // numbers too large are no parse error
    const std::string_view complaint =
        e.what();  // "[json.exception.parse_error.101] parse error at ..."
    throw BadInput(
        fmt::format("{}: no JSON: {}", file,
                    complaint.substr(std::min(complaint.size(), complaint.find("] ") + 2))));
  }
}

std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";  // of what is no UTF-8
}

void Field::refuse(const std::string& complaint) const {
  throw BadInput(fmt::format("{}{} {}", where_, where_.ends_with(':') ? "" : ":", complaint));
}

std::string Field::below(const std::string& key) const {
  return where_ + (where_.ends_with(':') ? " " : ".") + key;
}

void Field::has_exactly(const std::vector<std::string>& keys) const {
  if (!json_.is_object()) refuse(fmt::format("expected an object with {}", fmt::join(keys, ", ")));
  for (const auto& [key, value] : json_.items()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      refuse(fmt::format("unknown field '{}'{}", key, suggestion(key, keys)));
    }
  }
  for (const std::string& key : keys) {
    if (!json_.contains(key)) refuse(fmt::format("the field '{}' is missing", key));
  }
}

bool Field::has(const std::string& key) const { return json_.is_object() && json_.contains(key); }

Field Field::operator[](const std::string& key) const { return {json_.at(key), below(key)}; }

std::vector<Field> Field::items() const {
  if (!json_.is_array()) refuse("expected a list");
  std::vector<Field> all;
  for (std::size_t i = 0; i < json_.size(); ++i) {
    all.emplace_back(json_[i], fmt::format("{}[{}]", where_, i));
  }
  return all;
}

std::vector<std::pair<std::string, Field>> Field::entries() const {
  if (!json_.is_object()) refuse("expected an object");
  std::vector<std::pair<std::string, Field>> all;
  for (const auto& [key, value] : json_.items()) all.emplace_back(key, Field(value, below(key)));
  return all;
}

std::string Field::text() const {
  if (!json_.is_string()) refuse("expected text");
  return json_.get<std::string>();
}

bool Field::flag() const {
  if (!json_.is_boolean()) refuse("expected true or false");
  return json_.get<bool>();
}

std::int64_t Field::whole(std::int64_t least, std::int64_t most) const {
  const bool is_whole = json_.is_number_integer();
  const bool fits = is_whole && (!json_.is_number_unsigned() ||
                                 json_.get<std::uint64_t>() <=
                                     std::uint64_t{std::numeric_limits<std::int64_t>::max()});
  if (!fits || json_.get<std::int64_t>() < least || json_.get<std::int64_t>() > most) {
    refuse(fmt::format("expected a whole number from {} to {}", least, most));
  }
  return json_.get<std::int64_t>();
}

std::uint64_t Field::bits() const {
  if (!json_.is_number_unsigned()) refuse("expected a whole number from 0 to 2^64 - 1");
  return json_.get<std::uint64_t>();
}

double Field::number_or_nan() const {
  return json_.is_number() ? json_.get<double>() : std::nan("");
}

double Field::positive() const {
  const double value = number_or_nan();
  if (!(value > 0)) refuse("expected a finite number above 0");
  return value;
}

double Field::not_negative() const {
  const double value = number_or_nan();
  if (!(value >= 0)) refuse("expected a finite number that is not negative");
  return value;
}

}  // namespace assay
