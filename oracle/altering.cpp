#include "oracle/altering.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "base/scramble.h"

namespace assay {
namespace {

using Ends = std::pair<std::int64_t, std::int64_t>;

// Two places beside each other, or a power of 2 apart, as far as there are any.
Ends places_in(std::int64_t size, std::uint64_t seed, std::uint64_t random, bool are_far) {
  const auto any =
      static_cast<std::int64_t>(scramble(random) % 1000003 % static_cast<std::uint64_t>(size));
  const std::int64_t place = seed / 16 % 4 == 0 ? size / 2 : any;  // bits of no other choice
  if (!are_far) return {place, (place + 1) % size};
  const auto apart =
      static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(size - 1)));
  return {place % (size - apart), place % (size - apart) + apart};
}

void swap_rows(Image& image, const Ends& rows) {
  if (rows.first == rows.second) return;
  float* const first = image.row(rows.first);
  std::swap_ranges(first, first + image.columns, image.row(rows.second));
}
void swap_columns(Image& image, const Ends& columns) {
  for (std::int64_t i = 0; i < image.rows; ++i)
    std::swap(image.row(i)[columns.first], image.row(i)[columns.second]);
}
void transpose(Image& image) {
  if (image.rows != image.columns) return;
  for (std::int64_t i = 0; i < image.rows; ++i)
    for (std::int64_t j = 0; j < i; ++j) std::swap(image.row(i)[j], image.row(j)[i]);
}

}  // namespace

void alter(Operands& all, Altered altered, const Case& c) {
  if (altered == Altered::nothing) return;
  const auto is_one_of = [&](auto... kinds) { return ((altered == kinds) || ...); };
  using enum Altered;
  const bool of_a = is_one_of(element_of_a, row_of_a, column_of_a, rows_of_a, columns_of_a,
                              far_rows_of_a, far_columns_of_a, transposed_a);
  Image& image = all[of_a ? Operand::a : Operand::b];
  if (image.rows == 0 || image.columns == 0) return;
  const bool are_far = is_one_of(far_rows_of_a, far_columns_of_a, far_rows_of_b, far_columns_of_b);
  const Ends rows = places_in(image.rows, c.seed, c.seed, are_far),
             columns = places_in(image.columns, c.seed, c.seed + 1, are_far);
  float& element = image.row(rows.first)[columns.first];
  // Beside the largest float a sum has one large product, and must not come to have two.
  const bool is_other_sum = is_one_of(column_of_a, row_of_b, columns_of_a, rows_of_b,
                                      far_columns_of_a, far_rows_of_b, transposed_a, transposed_b);
  if (is_one_of(element_of_a, element_of_b) || (is_other_sum && c.fill == Fill::largest))
    element = element == 0 ? 1 : -element;
  else if (is_one_of(row_of_a, row_of_b))
    std::swap(element, image.row(rows.first)[columns.second]);
  else if (is_one_of(column_of_a, column_of_b))
    std::swap(element, image.row(rows.second)[columns.first]);
  else if (is_one_of(rows_of_a, rows_of_b, far_rows_of_a, far_rows_of_b))
    swap_rows(image, rows);
  else if (is_one_of(transposed_a, transposed_b))
    transpose(image);
  else
    swap_columns(image, columns);
}

}  // namespace assay
