#include <fmt/format.h>

#include <filesystem>

#include "base/strict_json.h"
#include "base/text.h"
#include "report/verdict.h"
#include "report/views.h"
#include "report/words.h"

namespace assay::report {
namespace {

const char* level_of(Kind kind) {
  switch (kind) {
    case Kind::wrong:
    case Kind::slower:
    case Kind::contradiction: return "error";
    case Kind::undecided: return "warning";
    case Kind::unreached:
    case Kind::near: break;
  }
  return "note";
}

std::string message_of(const Attention& item) {
  std::string text = item.what;
  for (const std::string& one : item.details) text += "\n" + one;
  if (!item.repeat.empty()) text += fmt::format("\nrepeat: {}", item.repeat);
  return shortened(text);
}

// A path inside the repository; whatever else cannot be shown beside a change.
bool is_inside(const Place& place) {
  return place.line > 0 && std::filesystem::path(place.file).is_relative() &&
         !place.file.starts_with("..");
}

Json location_of(const Place& place) {
  return {{"physicalLocation",
           {{"artifactLocation", {{"uri", place.file}, {"uriBaseId", "%SRCROOT%"}}},
            {"region", {{"startLine", place.line}}}}}};
}

// What GitHub reads a command's text and properties as.
std::string for_command(const std::string& text, bool is_property) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '%': safe += "%25"; break;
      case '\n': safe += "%0A"; break;
      case '\r': safe += "%0D"; break;
      case ',': safe += is_property ? "%2C" : ","; break;
      case ':': safe += is_property ? "%3A" : ":"; break;
      default: safe += c;
    }
  }
  return safe;
}

}  // namespace

std::string sarif_of(const Report& report) {
  Json rules = Json::array(), results = Json::array();
  std::vector<std::string> known;
  for (const Attention& item : verdict_of(report).attention) {
    if (std::find(known.begin(), known.end(), item.rule) == known.end()) {
      known.push_back(item.rule);
      std::string sentence = item.rule;
      for (const ClaimName& claim : report.claims)
        if (claim.name == item.rule && !claim.sentence.empty()) sentence = claim.sentence;
      rules.push_back({{"id", item.rule}, {"shortDescription", {{"text", sentence}}}});
    }
    Json result = {{"ruleId", item.rule},
                   {"level", level_of(item.kind)},
                   {"message", {{"text", message_of(item)}}}};
    Json locations = Json::array();
    for (const Place& place : item.places)
      if (is_inside(place)) locations.push_back(location_of(place));
    if (!locations.empty()) result["locations"] = Json::array({locations.front()});
    if (locations.size() > 1) {
      locations.erase(0);
      result["relatedLocations"] = locations;
    }
    results.push_back(std::move(result));
  }
  return text_of(
      Json{{"version", "2.1.0"},
           {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
           {"runs", Json::array({{{"tool", {{"driver", {{"name", "assay"}, {"rules", rules}}}}},
                                  {"results", results}}})}});
}

std::string annotations_of(const Report& report) {
  std::string text;
  for (const Attention& item : verdict_of(report).attention) {
    if (item.places.empty() || !is_inside(item.places.front())) continue;
    const char* level = level_of(item.kind);
    const Place& place = item.places.front();
    text += fmt::format("::{} file={},line={},title={}::{}\n",
                        std::string_view(level) == "note" ? "notice" : level,
                        for_command(place.file, true), place.line,
                        for_command(fmt::format("{}: {}", item.variant, item.rule), true),
                        for_command(message_of(item), false));
  }
  return text;
}

}  // namespace assay::report
