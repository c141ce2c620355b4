// HTML, SVG and XML that cannot be broken by what they show: text becomes markup only by being
// escaped. What is no character of XML becomes visible, as \x1b.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

class Markup {
 public:
  Markup() = default;
  Markup(std::string_view text);  // escaped
  Markup(const std::string& text) : Markup(std::string_view(text)) {}
  Markup(const char* text) : Markup(std::string_view(text)) {}

  // What this repository holds itself.
  static Markup trusted(std::string_view markup);

  Markup& operator+=(const Markup& more) {
    markup_ += more.markup_;
    return *this;
  }
  friend Markup operator+(Markup a, const Markup& b) { return std::move(a += b); }

  bool empty() const { return markup_.empty(); }
  const std::string& markup() const { return markup_; }

 private:
  std::string markup_;
};

// Names, and values that are escaped.
using Attributes = std::vector<std::pair<std::string_view, std::string>>;

// <name key="value">inside</name>, or <name/> with nothing inside that HTML need not close.
Markup tag(std::string_view name, const Attributes&, const Markup& inside = {});
Markup tag(std::string_view name, const Markup& inside = {});

// Text between the quotes of an attribute, where line breaks count too.
std::string in_attribute(std::string_view text);

// A number for an attribute of SVG: "12.5".
std::string position(double);

}  // namespace assay
