#include "cli/tests/xml.h"

#include <algorithm>
#include <regex>
#include <vector>

namespace assay::tests {
namespace {

bool is_utf8(const std::string& text) {
  static const std::regex character(
      "[\\x00-\\x7f]|[\\xc2-\\xdf][\\x80-\\xbf]|[\\xe0-\\xef][\\x80-\\xbf]{2}|"
      "[\\xf0-\\xf4][\\x80-\\xbf]{3}");
  std::smatch match;
  for (auto at = text.begin(); at != text.end(); at = match[0].second) {
    if (!std::regex_search(at, text.end(), match, character,
                           std::regex_constants::match_continuous))
      return false;
  }
  return true;
}

// Of text between tags or in an attribute.
bool is_proper_text(const std::string& text) {
  static const std::regex entity("&(amp|lt|gt|quot|apos|#[0-9]+);");
  const std::string rest = std::regex_replace(text, entity, "");
  return rest.find_first_of("&<") == std::string::npos;
}

}  // namespace

std::string fault_of_xml(const std::string& document) {
  const bool plain = std::none_of(document.begin(), document.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r';
  });
  if (!plain) return "a control character";
  if (!is_utf8(document)) return "not UTF-8";

  static const std::regex tag(
      "^<(/?)([A-Za-z_][A-Za-z0-9_.-]*)((?:\\s+[A-Za-z_]+=\"[^\"<]*\")*)\\s*(/?)>");
  static const std::regex attribute("([A-Za-z_]+)=\"([^\"]*)\"");
  std::vector<std::string> open;
  std::size_t at = document.starts_with("<?xml ") ? document.find("?>") + 2 : 0;
  bool any = false;
  while (at < document.size()) {
    if (document[at] != '<') {
      const std::size_t end = std::min(document.find('<', at), document.size());
      const std::string text = document.substr(at, end - at);
      if (!is_proper_text(text)) return "bad text: " + text;
      if (open.empty() && text.find_first_not_of(" \n") != std::string::npos)
        return "text outside: " + text;
      at = end;
      continue;
    }
    std::smatch match;
    const std::string rest = document.substr(at, document.find('>', at) + 1 - at);
    if (!std::regex_search(rest, match, tag)) return "no tag: " + rest;
    const std::string name = match[2], attributes = match[3];
    if (match[1].length() > 0) {
      if (open.empty() || open.back() != name) return "closes what is not open: " + name;
      open.pop_back();
    } else {
      if (open.empty() && any) return "two roots";
      any = true;
      std::vector<std::string> seen;
      for (std::sregex_iterator i(attributes.begin(), attributes.end(), attribute), end; i != end;
           ++i) {
        if (!is_proper_text((*i)[2])) return "bad attribute: " + (*i)[2].str();
        if (std::find(seen.begin(), seen.end(), (*i)[1].str()) != seen.end())
          return "attribute twice: " + (*i)[1].str();
        seen.push_back((*i)[1]);
      }
      if (match[4].length() == 0) open.push_back(name);
    }
    at += static_cast<std::size_t>(match.length(0));
  }
  if (!open.empty()) return "not closed: " + open.back();
  return any ? "" : "no element";
}

}  // namespace assay::tests
