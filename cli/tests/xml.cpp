#include "cli/tests/xml.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::tests {
namespace {

bool is_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char first = byte(i);
    const std::size_t length = first < 0x80                     ? 1
                               : first >= 0xc2 && first <= 0xdf ? 2
                               : first >= 0xe0 && first <= 0xef ? 3
                               : first >= 0xf0 && first <= 0xf4 ? 4
                                                                : 0;
    if (length == 0 || i + length > text.size()) return false;
    for (std::size_t j = 1; j < length; ++j) {
      if ((byte(i + j) & 0xc0) != 0x80) return false;
    }
    i += length;
  }
  return true;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_entity(std::string_view name) {
  for (std::string_view known : {"amp", "lt", "gt", "quot", "apos"}) {
    if (name == known) return true;
  }
  return name.size() > 1 && name.front() == '#' &&
         std::all_of(name.begin() + 1, name.end(), is_digit);
}

// Of text between tags or in an attribute.
bool is_proper_text(std::string_view text) {
  for (std::size_t at; (at = text.find_first_of("&<")) != text.npos;) {
    const std::size_t end = text.find(';', at);
    if (text[at] == '<' || end == text.npos || !is_entity(text.substr(at + 1, end - at - 1)))
      return false;
    text.remove_prefix(end + 1);
  }
  return true;
}

struct Tag {
  bool closes = false, is_empty = false;
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes;
};

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

std::string take_name(std::string_view& text) {
  std::size_t size = 0;
  const auto is_part = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  const auto is_later_part = [&](char c) {
    return is_part(c) || is_digit(c) || c == '.' || c == '-';
  };
  while (size < text.size() && (size == 0 ? is_part(text[size]) : is_later_part(text[size])))
    ++size;
  const std::string name(text.substr(0, size));
  text.remove_prefix(size);
  return name;
}

bool take_blanks(std::string_view& text) {
  const std::size_t size = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  text.remove_prefix(size);
  return size > 0;
}

// The tag at the start of `text`, which is taken from it. Nothing if there is none.
std::optional<Tag> take_tag(std::string_view& text) {
  Tag tag;
  if (!take(text, "<")) return std::nullopt;
  tag.closes = take(text, "/");
  tag.name = take_name(text);
  if (tag.name.empty()) return std::nullopt;
  while (take_blanks(text) && !text.starts_with("/") && !text.starts_with(">")) {
    const std::string name = take_name(text);
    if (name.empty() || !take(text, "=\"")) return std::nullopt;
    const std::size_t end = text.find('"');
    if (end == text.npos) return std::nullopt;
    tag.attributes.emplace_back(name, text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  tag.is_empty = take(text, "/");
  if (!take(text, ">")) return std::nullopt;
  return tag;
}

std::string fault_of_attributes(const Tag& tag) {
  std::vector<std::string> seen;
  for (const auto& [name, value] : tag.attributes) {
    if (!is_proper_text(value)) return "bad attribute: " + value;
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) return "attribute twice: " + name;
    seen.push_back(name);
  }
  return "";
}

}  // namespace

std::string fault_of_xml(const std::string& document) {
  const bool plain = std::none_of(document.begin(), document.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r';
  });
  if (!plain) return "a control character";
  if (!is_utf8(document)) return "not UTF-8";

  std::string_view rest = document;
  if (rest.starts_with("<?xml ")) rest.remove_prefix(rest.find("?>") + 2);
  std::vector<std::string> open;
  bool any = false;
  while (!rest.empty()) {
    const std::string_view text = rest.substr(0, rest.find('<'));
    if (!is_proper_text(text)) return "bad text: " + std::string(text);
    if (open.empty() && text.find_first_not_of(" \n") != text.npos)
      return "text outside: " + std::string(text);
    rest.remove_prefix(text.size());
    if (rest.empty()) break;
    const auto tag = take_tag(rest);
    if (!tag) return "no tag before: " + std::string(rest);
    if (tag->closes) {
      if (open.empty() || open.back() != tag->name) return "closes what is not open: " + tag->name;
      open.pop_back();
      continue;
    }
    if (open.empty() && std::exchange(any, true)) return "two roots";
    if (const std::string fault = fault_of_attributes(*tag); !fault.empty()) return fault;
    if (!tag->is_empty) open.push_back(tag->name);
  }
  if (!open.empty()) return "not closed: " + open.back();
  return any ? "" : "no element";
}

}  // namespace assay::tests
