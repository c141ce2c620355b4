#include "base/json_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "base/errors.h"

namespace assay {
namespace {

bool is_of_type(const Json& value, const std::string& type) {
  if (type == "null") return value.is_null();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  throw std::logic_error(fmt::format("the schema names no type: {}", type));
}

class Checker {
 public:
  Checker(const Json& root, UnknownFields unknown) : root_(root), unknown_(unknown) {}

  void check(const Json& schema, const Field& value) const {
    std::set<std::string> named;
    check(schema, value, named);
    if (!value.json().is_object() || unknown_ == UnknownFields::ignored || named.contains(any))
      return;
    for (const auto& [key, inner] : value.json().items())
      if (!named.contains(key)) value.refuse(fmt::format("the schema knows no field '{}'", key));
  }

 private:
  static constexpr const char* any = "*";  // fields of all names are described

  // Adds the fields that it describes to `named`.
  void check(const Json& schema, const Field& value, std::set<std::string>& named) const {
    for (const auto& [keyword, rule] : schema.items()) {
      if (keyword == "$ref") {
        check(definition(rule.get<std::string>()), value, named);
      } else if (keyword == "allOf") {
        for (const Json& part : rule) check(part, value, named);
      } else if (keyword == "if") {
        if (holds(rule, value)) check(schema.at("then"), value, named);
      } else if (keyword == "properties" || keyword == "additionalProperties") {
        check_fields(keyword == "properties", schema, value, named);
      } else {
        check_itself(keyword, rule, value);
      }
    }
  }

  void check_fields(bool by_name, const Json& schema, const Field& value,
                    std::set<std::string>& named) const {
    if (!value.json().is_object()) return;
    const Json& properties = schema.contains("properties") ? schema["properties"] : none_;
    if (!by_name) named.insert(any);
    for (const auto& [key, field] : value.entries()) {
      if (properties.contains(key) != by_name) continue;
      named.insert(key);
      check(by_name ? properties[key] : schema["additionalProperties"], field);
    }
  }

  void check_itself(const std::string& keyword, const Json& rule, const Field& value) const {
    const Json& json = value.json();
    if (keyword == "type") {
      check_type(rule, value);
    } else if (keyword == "const") {
      if (json != rule) value.refuse(fmt::format("expected {}", rule.dump()));
    } else if (keyword == "enum") {
      if (std::find(rule.begin(), rule.end(), json) == rule.end())
        value.refuse(fmt::format("expected one of {}", rule.dump()));
    } else if (keyword == "minimum") {
      if (json.is_number() && !(json.get<double>() >= rule.get<double>()))
        value.refuse(fmt::format("expected {} or more", rule.dump()));
    } else if (keyword == "required") {
      for (const Json& key : rule)
        if (json.is_object() && !value.has(key))
          value.refuse(fmt::format("the field {} is missing", key.dump()));
    } else if (keyword == "items") {
      if (json.is_array())
        for (const Field& item : value.items()) check(rule, item);
    } else if (!is_remark(keyword)) {
      throw std::logic_error(
          fmt::format("the schema has a keyword that is not known: {}", keyword));
    }
  }

  static void check_type(const Json& rule, const Field& value) {
    const Json types = rule.is_array() ? rule : Json::array({rule});
    for (const Json& type : types)
      if (is_of_type(value.json(), type)) return;
    value.refuse(fmt::format("expected {}", rule.dump()));
  }

  static bool is_remark(const std::string& keyword) {
    return keyword == "description" || keyword == "title" || keyword == "$schema" ||
           keyword == "$id" || keyword == "$defs" || keyword == "then";
  }

  bool holds(const Json& schema, const Field& value) const {
    try {
      std::set<std::string> named;
      check(schema, value, named);
      return true;
    } catch (const BadInput&) {
      return false;
    }
  }

  const Json& definition(const std::string& name) const {
    const std::string prefix = "#/$defs/";
    if (!name.starts_with(prefix))
      throw std::logic_error(fmt::format("the schema refers to {}", name));
    return root_.at("$defs").at(name.substr(prefix.size()));
  }

  const Json& root_;
  const UnknownFields unknown_;
  const Json none_ = Json::object();
};

}  // namespace

void check_schema(const Json& schema, const Field& value, UnknownFields unknown) {
  Checker(schema, unknown).check(schema, value);
}

}  // namespace assay
