#include "cli/out/xml.h"

#include <algorithm>

#include "base/printable.h"

namespace assay {
namespace {

constexpr std::string_view marked_up = "&<>\"\n\t";

std::string_view entity_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\n':
      return "&#10;";
    default:
      return "&#9;";
  }
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string xml;
  while (true) {
    const std::size_t plain = std::min(text.find_first_of(marked_up), text.size());
    xml += printable(text.substr(0, plain));
    if (plain == text.size()) return xml;
    xml += entity_of(text[plain]);
    text.remove_prefix(plain + 1);
  }
}

std::string escaped_lines(const std::string& text) {
  std::string xml;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    xml += escaped(std::string_view(text).substr(begin, end - begin));
    if (end < text.size()) xml += '\n';
    begin = end + 1;
  }
  return xml;
}

}  // namespace assay
