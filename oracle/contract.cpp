#include "oracle/contract.h"

#include <fmt/format.h>

#include <cstring>

#include "base/text.h"

namespace assay {
namespace {

bool same_bits(const float* a, const float* b, std::int64_t count) {
  return count <= 0 || std::memcmp(a, b, static_cast<std::size_t>(count) * sizeof(float)) == 0;
}

// Where the first of `count` floats differs, or -1.
std::int64_t first_change(const float* before, const float* after, std::int64_t count) {
  if (same_bits(before, after, count)) return -1;
  std::int64_t i = 0;
  while (same_bits(before + i, after + i, 1)) ++i;
  return i;
}

// The element that was meant, where an index lost the bits beyond 32; empty if it did not.
std::string overflow(const Image& image, std::int64_t index) {
  const std::int64_t meant = index + (std::int64_t{1} << 32);
  const std::int64_t row = meant / image.ld, column = meant % image.ld;
  if (row >= image.rows || column >= image.columns) return "";
  return fmt::format(": an index overflowed 32 bits, row {}, column {} was meant", row, column);
}

// The first float outside a matrix that changed; empty if there is none.
std::string written_beside(const char* name, const Image& before, const Image& after) {
  if (const auto i = first_change(before.floats.data(), after.floats.data(), before.first);
      i >= 0) {
    return fmt::format("wrote to the {} float before the first element of {}",
                       ordinal(before.first - i), name);
  }
  const std::int64_t end = before.first + before.extent();
  if (const auto i = first_change(before.floats.data() + end, after.floats.data() + end,
                                  static_cast<std::int64_t>(before.floats.size()) - end);
      i >= 0) {
    return fmt::format("wrote to the {} float past the last element of {}", ordinal(i + 1), name);
  }
  const std::int64_t gap = before.stride - before.columns;
  for (std::int64_t row = 0; row + 1 < before.rows && before.extent() > 0; ++row) {
    const auto i =
        first_change(before.row(row) + before.columns, after.row(row) + before.columns, gap);
    if (i >= 0) {
      const std::int64_t column = before.columns + i;
      return fmt::format("wrote between the rows of {}: row {}, column {}, but {} = {}{}", name,
                         row, column, *name == 'A' ? "k" : "n", before.columns,
                         overflow(before, row * before.ld + column));
    }
  }
  return "";
}

std::string written_to_input(const char* name, const Image& before, const Image& after) {
  for (std::int64_t row = 0; row < before.rows; ++row) {
    const auto i = first_change(before.row(row), after.row(row), before.columns);
    if (i >= 0) {
      return fmt::format("wrote to {}, which is only to be read, at row {}, column {}", name, row,
                         i);
    }
  }
  return "";
}

}  // namespace

bool same_bits(const Image& a, const Image& b) {
  return &a == &b ||
         same_bits(a.floats.data(), b.floats.data(), static_cast<std::int64_t>(a.floats.size()));
}

Breach contract_breach(const Operands& before, const After& after) {
  for (Operand o : {Operand::a, Operand::b}) {
    if (same_bits(before[o], after[o])) continue;
    std::string words = written_to_input(to_string(o), before[o], after[o]);
    if (words.empty())
      words = written_beside(to_string(o), before[o], after[o]) + ", which is only to be read";
    return {{Fault::wrote_input, o}, std::move(words)};
  }
  for (Operand o : {Operand::c, Operand::workspace}) {
    if (std::string words = written_beside(to_string(o), before[o], after[o]); !words.empty())
      return {{Fault::wrote_beside, o}, std::move(words)};
  }
  return {};
}

}  // namespace assay
