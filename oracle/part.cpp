#include "oracle/part.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace assay {
namespace {

using Stretch = std::pair<std::int64_t, std::int64_t>;  // of columns: first, end

std::vector<Stretch> changed_columns(const float* before, const float* after, std::int64_t count) {
  std::vector<Stretch> all;
  if (std::memcmp(before, after, static_cast<std::size_t>(count) * sizeof(float)) == 0) return all;
  for (std::int64_t j = 0; j < count; ++j) {
    if (std::bit_cast<std::uint32_t>(before[j]) == std::bit_cast<std::uint32_t>(after[j])) continue;
    if (all.empty() || all.back().second != j) all.push_back({j, j});
    all.back().second = j + 1;
  }
  return all;
}

}  // namespace

std::vector<Part> changed_parts(const Image& before, const Image& after) {
  std::vector<Part> parts;
  std::vector<Stretch> last;
  for (std::int64_t i = 0; i < after.rows; ++i) {
    std::vector<Stretch> here = changed_columns(before.row(i), after.row(i), after.columns);
    if (here == last) {
      for (std::size_t n = 0; n < here.size(); ++n) ++parts[parts.size() - 1 - n].rows;
    } else {
      for (const auto& [first, end] : here) parts.push_back({i, 1, first, end - first});
    }
    last = std::move(here);
  }
  return parts;
}

Case case_of(const Case& c, const Part& part) {
  Case its = c;
  its.m = part.rows, its.n = part.columns;
  its.lda = its.ldb = its.ldc = {};
  its.offset = {};
  return its;
}

Image image_of(const Image& image, const Part& part) {
  Image its{.rows = part.rows, .columns = part.columns, .ld = part.columns, .stride = part.columns};
  its.floats.reserve(static_cast<std::size_t>(part.rows * part.columns));
  for (std::int64_t i = part.row; i < part.row + part.rows; ++i) {
    const float* const first = image.row(i) + part.column;
    its.floats.insert(its.floats.end(), first, first + part.columns);
  }
  return its;
}

Operands operands_of(const Operands& all, const Part& part) {
  const Image &a = all[Operand::a], &b = all[Operand::b];
  Operands its;
  its[Operand::a] = image_of(a, {part.row, part.rows, 0, a.columns});
  its[Operand::b] = image_of(b, {0, b.rows, part.column, part.columns});
  its[Operand::c] = image_of(all[Operand::c], part);
  return its;
}

}  // namespace assay
