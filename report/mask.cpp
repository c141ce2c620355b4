#include "report/mask.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/words.h"

namespace assay::report {
namespace {

constexpr std::int64_t most_tiles = 24;

std::vector<double> borders(std::int64_t tile, std::int64_t side, std::size_t fields) {
  std::vector<double> all;
  if (tile <= 0 || side <= 0 || side / tile > most_tiles) return all;
  const std::int64_t elements = (side + static_cast<std::int64_t>(fields) - 1) /
                                static_cast<std::int64_t>(fields);  // of C in a field
  for (std::int64_t at = tile; at < side; at += tile)
    all.push_back(static_cast<double>(at) / static_cast<double>(elements));
  return all;
}

bool has(const std::vector<double>& all, std::size_t at) {
  return std::ranges::find(all, static_cast<double>(at)) != all.end();
}

}  // namespace

std::size_t Mask::wrong() const {
  std::size_t count = 0;
  for (const std::string& row : rows)
    count += static_cast<std::size_t>(std::ranges::count(row, '#'));
  return count;
}
std::vector<double> Mask::borders_down() const { return borders(tile_m, m, rows.size()); }
std::vector<double> Mask::borders_across() const { return borders(tile_n, n, rows.front().size()); }

bool is_mask(const Failure& failure) {
  return failure.picture.find_first_of("#.") == 0 &&
         failure.picture.find_first_not_of("#.\n") == failure.picture.npos;
}

Mask mask_of(const Failure& failure, const About& about) {
  Mask mask = {.m = size_in(failure.shrunk, "m"),
               .n = size_in(failure.shrunk, "n"),
               .tile_m = about.tile_m,
               .tile_n = about.tile_n};
  for (std::string_view rest = failure.picture; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (end > 0) mask.rows.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return mask;
}

std::string blocks_of(const Mask& mask) {
  const auto down = mask.borders_down(), across = mask.borders_across();
  const std::size_t width = mask.rows.front().size();
  const auto line = [&](const std::string& row, const char* wrong, const char* right,
                        const char* border) {
    std::string text;
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (j > 0 && has(across, j)) text += border;
      text += row[j] == '#' ? wrong : right;
    }
    return text + "\n";
  };
  std::string text;
  if (mask.m > 0) {
    text += fmt::format("C, {} x {}", mask.m, mask.n);
    if (mask.tile_m * mask.tile_n > 1)
      text += fmt::format(", tiles of {} x {}", mask.tile_m, mask.tile_n);
    text += "\n";
  }
  for (std::size_t i = 0; i < mask.rows.size(); ++i) {
    if (i > 0 && has(down, i)) text += line(std::string(width, '.'), "─", "─", "┼");
    text += line(mask.rows[i], "█", "·", "│");
  }
  return text;
}

}  // namespace assay::report
