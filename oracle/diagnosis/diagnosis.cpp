#include "oracle/diagnosis/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>

#include "oracle/diagnosis/evidence.h"

namespace assay {
namespace {

// Which rows or columns have a wrong element.
std::vector<std::int64_t> indices_of(const std::vector<bool>& flags) {
  std::vector<std::int64_t> indices;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (flags[i]) indices.push_back(static_cast<std::int64_t>(i));
  }
  return indices;
}

bool is_run(const std::vector<std::int64_t>& v) {
  return v.back() - v.front() + 1 == static_cast<std::int64_t>(v.size());
}

// One side of the place: "row 3", "rows 4 to 7", "the last 2 of 9 rows"; empty where all rows have
// wrong elements.
std::string describe_side(const std::vector<std::int64_t>& indices, std::int64_t count,
                          const char* name, int tile) {
  const auto size = static_cast<std::int64_t>(indices.size());
  if (size == count) return "";
  if (is_run(indices) && indices.back() == count - 1)
    return fmt::format("the last {} of {} {}s", size, count, name);
  if (size == 1) return fmt::format("{} {}", name, indices.front());
  if (is_run(indices)) return fmt::format("{}s {} to {}", name, indices.front(), indices.back());
  if (tile > 1 && count > tile) {
    const auto first = indices.front() % tile;
    const std::int64_t in_all_tiles = (count - first + tile - 1) / tile;
    if (size == in_all_tiles &&
        std::all_of(indices.begin(), indices.end(), [&](auto i) { return i % tile == first; })) {
      return fmt::format("{} {} of every tile of {}", name, first, tile);
    }
  }
  return fmt::format("{} of {} {}s", size, count, name);
}

// The mistake; without words if none is known that explains all wrong elements.
Diagnosis mistake_in(const Evidence& evidence) {
  for (auto attempt : {overflowed_index, mistaken_values, mistaken_scalars, mistaken_rounding,
                       mistaken_sum, mistaken_address, mistaken_element, mistaken_precision}) {
    if (Diagnosis mistake = attempt(evidence); !mistake.words.empty()) return mistake;
  }
  return {{Fault::wrong_values}, ""};
}

}  // namespace

std::string describe_place(const Judgement& judgement, std::int64_t m, std::int64_t n,
                           const Tile& tile) {
  std::vector<bool> rows(static_cast<std::size_t>(m)), columns(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      if (!judgement.wrong_mask[static_cast<std::size_t>(i * n + j)]) continue;
      rows[static_cast<std::size_t>(i)] = columns[static_cast<std::size_t>(j)] = true;
    }
  }
  const auto wrong_rows = indices_of(rows), wrong_columns = indices_of(columns);
  const std::string down = describe_side(wrong_rows, m, "row", tile.m);
  const std::string across = describe_side(wrong_columns, n, "column", tile.n);
  const bool filled =
      judgement.wrong == static_cast<std::int64_t>(wrong_rows.size() * wrong_columns.size());
  const std::string which = filled ? "every element" : fmt::format("{} elements", judgement.wrong);
  if (down.empty() && across.empty()) return filled ? which : which + " all over C";
  if (down.empty()) return fmt::format("{} of {}", which, across);
  if (across.empty()) return fmt::format("{} of {}", which, down);
  return fmt::format("{} of {} in {}", which, down, across);
}

Diagnosis diagnose(const WrongResult& f) {
  const std::string place = describe_place(f.judgement, f.c.m, f.c.n, f.variant.tile);
  const auto [finding, cause] = mistake_in(Evidence(f));
  return {finding, cause.empty() ? place : fmt::format("{}: {}", place, cause)};
}

std::string picture(const Judgement& judgement, std::int64_t m, std::int64_t n) {
  const std::int64_t down = (m + 15) / 16, across = (n + 47) / 48;  // elements for one character
  std::string text;
  for (std::int64_t i = 0; i < m; i += down) {
    for (std::int64_t j = 0; j < n; j += across) {
      bool wrong = false;
      for (std::int64_t y = i; y < std::min(i + down, m); ++y) {
        for (std::int64_t x = j; x < std::min(j + across, n); ++x)
          wrong |= judgement.wrong_mask[static_cast<std::size_t>(y * n + x)] != 0;
      }
      text += wrong ? '#' : '.';
    }
    text += '\n';
  }
  return text;
}

}  // namespace assay
