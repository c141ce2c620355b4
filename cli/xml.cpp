#include "cli/xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace assay {
namespace {

// The length of the UTF-8 character at the beginning of `text`; 0 if there is none that XML allows.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length == 0 || first > 0xf4 || text.size() < length) return 0;
  std::uint32_t code = first & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3fu);
  }
  const bool overlong = code < (length == 3 ? 0x800u : length == 4 ? 0x10000u : 0x80u);
  const bool forbidden =
      (code >= 0xd800 && code < 0xe000) || code == 0xfffe || code == 0xffff || code > 0x10ffff;
  return overlong || forbidden ? 0 : length;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string xml;
  while (!text.empty()) {
    const char c = text.front();
    std::size_t taken = 1;
    switch (c) {
      case '&':
        xml += "&amp;";
        break;
      case '<':
        xml += "&lt;";
        break;
      case '>':
        xml += "&gt;";
        break;
      case '"':
        xml += "&quot;";
        break;
      case '\n':
        xml += "&#10;";
        break;
      case '\t':
        xml += "&#9;";
        break;
      default:
        if (const std::size_t length = character_length(text); length > 0) {
          xml += text.substr(0, taken = length);
        } else {
          xml += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        }
    }
    text.remove_prefix(taken);
  }
  return xml;
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
