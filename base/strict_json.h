// Reads JSON that we wrote ourselves: every field is there, is of its type and in its range, and
// there are no others. Whatever is not so is BadInput that names the file and the field.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

using Json = nlohmann::ordered_json;

// Refuses text that is no JSON, and a key that stands twice.
Json parse_json(std::string_view text, const std::string& file);

// The form in which it is stored.
std::string text_of(const Json&);

// A value and where it stands: "FILE: cells[3].recipe".
class Field {
 public:
  Field(const Json& json, std::string where) : json_(json), where_(std::move(where)) {}

  void has_exactly(const std::vector<std::string>& keys) const;  // an object, with these
  bool has(const std::string& key) const;
  Field operator[](const std::string& key) const;
  std::vector<Field> items() const;
  std::vector<std::pair<std::string, Field>> entries() const;

  const Json& json() const { return json_; }
  const std::string& where() const { return where_; }
  bool is_null() const { return json_.is_null(); }
  std::string text() const;
  bool flag() const;
  std::int64_t whole(std::int64_t least, std::int64_t most) const;
  std::uint64_t bits() const;
  double positive() const;  // JSON knows no numbers that are not finite
  double not_negative() const;

  // Throws BadInput: where, and what is wrong here.
  [[noreturn]] void refuse(const std::string& complaint) const;

 private:
  double number_or_nan() const;
  std::string below(const std::string& key) const;
  const Json& json_;
  std::string where_;
};

}  // namespace assay
