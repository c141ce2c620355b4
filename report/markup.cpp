#include "report/markup.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"

namespace assay {
namespace {

std::string_view entity_of(char c) {
  switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return "";
  }
}

constexpr std::string_view special = "&<>\"'\n\t";

bool is_void(std::string_view name) {
  for (std::string_view one : {"br", "meta", "link", "rect", "line", "circle", "path", "polyline"})
    if (one == name) return true;
  return false;
}

}  // namespace

Markup::Markup(std::string_view text) {
  while (true) {
    const std::size_t plain = std::min(text.find_first_of(special), text.size());
    markup_ += printable(text.substr(0, plain));
    if (plain == text.size()) return;
    const std::string_view entity = entity_of(text[plain]);
    markup_ += entity.empty() ? text.substr(plain, 1) : entity;
    text.remove_prefix(plain + 1);
  }
}

Markup Markup::trusted(std::string_view markup) {
  Markup all;
  all.markup_ = markup;
  return all;
}

std::string in_attribute(std::string_view text) {
  const Markup markup(text);
  std::string escaped;
  for (const char c : markup.markup()) {
    if (c == '\n') {
      escaped += "&#10;";
    } else if (c == '\t') {
      escaped += "&#9;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

Markup tag(std::string_view name, const Attributes& attributes, const Markup& inside) {
  std::string text = fmt::format("<{}", name);
  for (const auto& [key, value] : attributes)
    text += fmt::format(" {}=\"{}\"", key, in_attribute(value));
  if (inside.empty() && is_void(name)) return Markup::trusted(text + "/>");
  return Markup::trusted(fmt::format("{}>{}</{}>", text, inside.markup(), name));
}

Markup tag(std::string_view name, const Markup& inside) { return tag(name, {}, inside); }

std::string position(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

}  // namespace assay
