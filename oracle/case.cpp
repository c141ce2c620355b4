#include "oracle/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "base/errors.h"
#include "base/suggestion.h"
#include "base/text.h"

namespace assay {
namespace {

constexpr std::array all_fills = {Fill::uniform, Fill::exact,    Fill::small_ints, Fill::identity,
                                  Fill::one_hot, Fill::special,  Fill::scaled,     Fill::balanced,
                                  Fill::largest, Fill::patterned};
constexpr std::int64_t largest_size = std::int64_t{1} << 40;

std::string text_of(std::int64_t value) { return fmt::to_string(value); }
std::string text_of(std::uint64_t value) { return fmt::to_string(value); }
std::string text_of(float value) {
  return fmt::format("{}", value);
}  // the shortest that reads back the same
std::string text_of(Gap gap) { return fmt::format("+{}", gap.floats); }
std::string text_of(const Offsets& offset) {
  const auto& [a, b, c] = offset.floats;
  return fmt::format("{},{},{}", a, b, c);
}
std::string text_of(Fill fill) { return std::string(to_string(fill)); }

template <class T>
bool parse_number(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// Each reader returns what the value may be if it cannot read it, and nothing if it can.
std::string read(std::string_view text, std::int64_t& size) {
  return parse_number(text, size) && size >= 0 && size <= largest_size
             ? ""
             : "a whole number from 0 to 2^40";
}
std::string read(std::string_view text, std::uint64_t& seed) {
  return parse_number(text, seed) ? "" : "a whole number from 0 to 2^64 - 1";
}
std::string read(std::string_view text, float& scalar) {
  return parse_number(text, scalar) && std::isfinite(scalar) ? "" : "a finite number";
}
std::string read(std::string_view text, Gap& gap) {
  const bool signed_right = !text.empty() && text.front() == '+';
  return signed_right && parse_number(text.substr(1), gap.floats) && gap.floats >= 0 &&
                 gap.floats <= largest_size
             ? ""
             : "how far it exceeds the row, such as +3";
}
std::string read(std::string_view text, Offsets& offset) {
  const std::string expected = "three of 0 to 63 for A, B and C, such as 1,0,2";
  for (std::size_t i = 0; i < 3; ++i) {
    const auto comma = text.find(',');
    if ((comma == text.npos) != (i == 2)) return expected;
    int& floats = offset.floats[i];
    if (!parse_number(text.substr(0, comma), floats) || floats < 0 || floats > Offsets::most)
      return expected;
    if (i < 2) text.remove_prefix(comma + 1);
  }
  return "";
}
std::string read(std::string_view text, Fill& fill) {
  for (Fill candidate : all_fills) {
    if (to_string(candidate) == text) {
      fill = candidate;
      return "";
    }
  }
  std::vector<std::string> names;
  for (Fill candidate : all_fills) names.emplace_back(to_string(candidate));
  return fmt::format("one of {}", joined(names));
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const auto begin = text.find_first_not_of(" \t\r");
    if (begin == text.npos) return words;
    const auto end = std::min(text.find_first_of(" \t\r", begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    text.remove_prefix(end);
  }
}

std::vector<std::string> member_names() {
  std::vector<std::string> names;
  Case c;
  for_each_member(c, [&](const char* name, auto&, bool) { names.emplace_back(name); });
  return names;
}

}  // namespace

std::string_view to_string(Fill fill) {
  switch (fill) {
    case Fill::uniform: return "uniform";
    case Fill::exact: return "exact";
    case Fill::small_ints: return "small_ints";
    case Fill::identity: return "identity";
    case Fill::one_hot: return "one_hot";
    case Fill::special: return "special";
    case Fill::scaled: return "scaled";
    case Fill::balanced: return "balanced";
    case Fill::largest: return "largest";
    case Fill::patterned: return "patterned";
  }
  return "unknown";
}

std::string to_string(const Case& c) {
  std::vector<std::string> words, defaults;
  const Case plain;
  for_each_member(
      plain, [&](const char*, const auto& value, bool) { defaults.push_back(text_of(value)); });
  std::size_t i = 0;
  for_each_member(c, [&](const char* name, const auto& value, bool always) {
    const std::string text = text_of(value);
    if (always || text != defaults[i]) words.push_back(fmt::format("{}={}", name, text));
    ++i;
  });
  return joined(words, " ");
}

Case parse_case(std::string_view text) {
  Case c;
  std::vector<std::string> seen;
  for (std::string_view word : words_of(text)) {
    const auto equals = word.find('=');
    const std::string name(word.substr(0, equals));
    if (equals == word.npos) {
      throw BadInput(fmt::format("case: '{}' is not NAME=VALUE, such as m=64", word));
    }
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      throw BadInput(fmt::format("case: '{}' is given twice", name));
    }
    bool known = false;
    for_each_member(c, [&](const char* member, auto& value, bool) {
      if (name != member) return;
      known = true;
      if (const std::string expected = read(word.substr(equals + 1), value); !expected.empty()) {
        throw BadInput(fmt::format("case: '{}': {} is {}", word, name, expected));
      }
    });
    if (!known) {
      throw BadInput(fmt::format("case: '{}': there is no '{}'{}; there are {}", word, name,
                                 suggestion(name, member_names()), joined(member_names())));
    }
    seen.push_back(name);
  }
  for_each_member(c, [&](const char* name, auto&, bool always) {
    if (always && std::find(seen.begin(), seen.end(), name) == seen.end()) {
      throw BadInput(fmt::format("case: '{}' is missing; a case is at least m=.. n=.. k=..", name));
    }
  });
  return c;
}

}  // namespace assay
