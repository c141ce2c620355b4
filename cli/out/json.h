// JSON as the commands write it: values nest like a literal, and fields keep their order. Bytes
// that are not UTF-8 are replaced, so that any text can be written.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace assay {

class JsonValue {
 public:
  using List = std::vector<JsonValue>;
  using Fields = std::vector<std::pair<std::string, JsonValue>>;

  JsonValue() = default;  // null
  JsonValue(bool flag) : value_(flag) {}
  JsonValue(double number) : value_(number) {}
  template <std::signed_integral T>
  JsonValue(T number) : value_(std::int64_t{number}) {}
  template <std::unsigned_integral T>
  JsonValue(T number) : value_(std::uint64_t{number}) {}
  JsonValue(const char* text) : value_(std::string(text)) {}
  JsonValue(std::string_view text) : value_(std::string(text)) {}
  JsonValue(std::string text) : value_(std::move(text)) {}
  JsonValue(List list) : value_(std::move(list)) {}
  JsonValue(Fields fields) : value_(std::move(fields)) {}
  JsonValue(std::initializer_list<Fields::value_type> fields) : value_(Fields(fields)) {}
  template <class T>
  JsonValue(const std::optional<T>& value) : JsonValue(value ? JsonValue(*value) : JsonValue()) {}
  template <class T>
  JsonValue(const std::vector<T>& all) : value_(List(all.begin(), all.end())) {}
  template <class T>
  JsonValue(const std::map<std::string, T>& all) : value_(Fields(all.begin(), all.end())) {}

  void add(std::string key, JsonValue value) {
    std::get<Fields>(value_).emplace_back(std::move(key), std::move(value));
  }

  using Value = std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string,
                             List, Fields>;
  const Value& value() const { return value_; }

 private:
  Value value_;
};

// What `describe` makes of each.
template <class All, class Describe>
JsonValue json_list(const All& all, Describe&& describe) {
  JsonValue::List list;
  for (const auto& one : all) list.push_back(describe(one));
  return list;
}

// As it is written to a file.
std::string text_of(const JsonValue&);

}  // namespace assay
