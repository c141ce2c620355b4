#include "cli/check/paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "base/printable.h"
#include "base/text.h"

namespace assay {
namespace {

// A line for each of the source: a compiler makes many comparisons of one division.
std::string lines_of(const Paths& paths) {
  constexpr std::size_t shown = 5;
  const auto& all = paths.exploration->one_way;
  std::string text;
  std::size_t lines = 0;
  for (auto way = all.begin(); way != all.end();) {
    if (lines++ == shown) {
      return text +
             fmt::format("paths: {}: and {} more\n", paths.entry.variant.name, all.end() - way);
    }
    const auto next = std::find_if(way, all.end(), [&](const OneWay& other) {
      return other.file != way->file || other.line != way->line;
    });
    text += fmt::format("paths: {}: {}:{}: `{}`: {}", paths.entry.variant.name, way->file,
                        way->line, printable(way->source), way->evidence);
    if (next - way > 1) text += fmt::format(", and {} more in this line", next - way - 1);
    text += "\n";
    way = next;
  }
  return text;
}

}  // namespace

std::string Paths::share() const {
  return is_known() ? fmt::format("{}/{}", exploration->went_both_ways, exploration->comparisons)
                    : "-";
}

std::vector<Paths> paths_of(const CheckReport& report) {
  std::vector<Paths> all;
  if (std::none_of(report.results.begin(), report.results.end(), [](const ClaimResult& r) {
        return r.entry.watched_launch != nullptr || r.entry.backend == Backend::ptx;
      }))
    return all;
  for (const ClaimResult& result : report.results) {
    if (result.exploration == nullptr) continue;
    const auto same = std::find_if(all.begin(), all.end(), [&](const Paths& paths) {
      return std::strcmp(paths.entry.variant.name, result.entry.variant.name) == 0;
    });
    if (same == all.end()) {
      all.push_back({result.entry, result.exploration});
    } else if (!same->is_known() && result.exploration->unknown.empty()) {
      same->exploration = result.exploration;
    }
  }
  return all;
}

std::string paths_text(const CheckReport& report) {
  std::string text;
  std::map<std::string, std::vector<std::string>> unknown;
  for (const Paths& paths : paths_of(report)) {
    text += lines_of(paths);
    if (!paths.is_known()) unknown[paths.exploration->unknown].push_back(paths.entry.variant.name);
  }
  for (const auto& [reason, names] : unknown)
    text += fmt::format("- paths: {}: {}\n", joined(names), printable(reason));
  return text;
}

std::optional<Conclusion> unmet_paths(const CheckReport& report) {
  if (!report.paths_required) return std::nullopt;
  std::size_t one_way = 0;
  std::vector<std::string> names, unknown;
  for (const Paths& paths : paths_of(report)) {
    if (!paths.exploration->one_way.empty()) names.emplace_back(paths.entry.variant.name);
    one_way += paths.exploration->one_way.size();
    if (!paths.is_known() && paths.entry.watched_launch != nullptr)
      unknown.push_back(
          fmt::format("{}: {}", paths.entry.variant.name, printable(paths.exploration->unknown)));
  }
  if (one_way > 0) {
    return Conclusion{
        ExitCode::wrong, "FAIL",
        fmt::format("{} of {} never went both ways, and --paths-required wants all",
                    plural(static_cast<std::int64_t>(one_way), "comparison"), joined(names)),
        ""};
  }
  if (unknown.empty()) return std::nullopt;
  return Conclusion{ExitCode::unfit_environment, "UNFIT",
                    "--paths-required cannot be decided: " + joined(unknown, "; "), ""};
}

}  // namespace assay
