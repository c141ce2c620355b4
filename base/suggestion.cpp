#include "base/suggestion.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace assay {
namespace {

std::size_t levenshtein_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string suggestion(std::string_view unknown, const std::vector<std::string>& known) {
  std::string_view nearest;
  std::size_t least = std::max<std::size_t>(2, unknown.size() / 3) + 1;
  for (const auto& name : known) {
    if (unknown.empty()) break;
    // A prefix counts as near however much is missing; a name that shares no letter never does.
    const std::size_t d = name.starts_with(unknown) ? 1 : levenshtein_distance(unknown, name);
    if (d < least && d < std::max(unknown.size(), name.size())) least = d, nearest = name;
  }
  return nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest);
}

}  // namespace assay
