// The memory contract: every single float that a launch may not change, changed.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "oracle/contract.h"

namespace {

using namespace assay;

constexpr std::array placements = {Placement::guarded, Placement::ends_at_fence,
                                   Placement::begins_at_fence};

Operands make(const Case& c, Placement placement = Placement::guarded) {
  return make_operands(c, placement, {16, 8, 4});
}

// In bits, so that one NaN can become another.
void flip(float& value, std::uint32_t which = 1) {
  value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ which);
}

bool is_element(const Image& image, std::size_t index) {
  const std::int64_t at = static_cast<std::int64_t>(index) - image.first;
  return at >= 0 && at < image.extent() && at % image.ld < image.columns;
}

// Changes one float after the other, and counts those that nobody noticed.
int expect_every_change_is_seen(const Case& c, Placement placement, std::uint32_t which) {
  const Operands before = make(c, placement);
  Operands after = before;
  int elements_of_c = 0;
  for (Operand o : operands) {
    for (std::size_t i = 0; i < before[o].floats.size(); ++i) {
      flip(after[o].floats[i], which);
      const std::string breach = contract_breach(before, after).words;
      flip(after[o].floats[i], which);
      if (o == Operand::c && is_element(before[o], i)) {
        EXPECT_EQ(breach, "") << "an element of C is there to be written";
        ++elements_of_c;
      } else {
        EXPECT_NE(breach.find(to_string(o)), breach.npos)
            << "float " << i << " of " << to_string(o) << ": '" << breach << "'";
      }
    }
  }
  EXPECT_EQ(contract_breach(before, after).words, "") << "all is as it was";
  return elements_of_c;
}

TEST(Contract, sees_each_single_float_changed) {
  for (Placement placement : placements) {
    const Case c{.m = 3,
                 .n = 2,
                 .k = 4,
                 .beta = 1,
                 .lda = {1},
                 .ldb = {3},
                 .ldc = {2},
                 .offset = {{1, 2, 3}}};
    EXPECT_EQ(expect_every_change_is_seen(c, placement, 1), 6) << "the last bit alone";
    EXPECT_EQ(expect_every_change_is_seen(c, placement, 1u << 31), 6) << "the sign alone";
    EXPECT_EQ(expect_every_change_is_seen(c, placement, ~0u), 6);
  }
}

TEST(Contract, sees_each_single_float_changed_where_C_is_unwritten) {
  const Case c{.m = 2, .n = 3, .k = 1, .ldc = {1}, .fill = Fill::special};
  for (Placement placement : placements) {
    EXPECT_EQ(expect_every_change_is_seen(c, placement, 1), 6);
  }
}

TEST(Contract, sees_each_single_float_changed_around_empty_matrices) {
  for (const auto& [m, n, k] : {std::array{0, 2, 3}, {2, 0, 3}, {2, 3, 0}, {0, 0, 0}}) {
    const Case c{.m = m, .n = n, .k = k, .lda = {2}, .ldb = {1}, .ldc = {1}};
    for (Placement placement : placements)
      EXPECT_EQ(expect_every_change_is_seen(c, placement, 1), m * n);
  }
}

TEST(Contract, allows_all_of_C_to_be_written_at_once) {
  const Case c{.m = 5, .n = 4, .k = 3, .ldc = {3}};
  const Operands before = make(c);
  Operands after = before;
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 4; ++j) after[Operand::c].row(i)[j] = 1;
  }
  EXPECT_EQ(contract_breach(before, after).words, "");
}

// The words for one change, `at` floats from the first element.
std::string words_for(const Case& c, Operand o, std::int64_t at) {
  const Operands before = make(c);
  Operands after = before;
  flip(after[o].row(0)[at]);
  return contract_breach(before, after).words;
}

TEST(Contract, says_where) {
  const Case c{.m = 3, .n = 2, .k = 4, .lda = {1}, .ldc = {2}};
  EXPECT_EQ(words_for(c, Operand::a, 5 + 2),
            "wrote to A, which is only to be read, at row 1, column 2");
  EXPECT_EQ(words_for(c, Operand::b, 3 * 2 + 1),
            "wrote to B, which is only to be read, at row 3, column 1");
  EXPECT_EQ(words_for(c, Operand::a, -1),
            "wrote to the 1st float before the first element of A, which is only to be read");
  EXPECT_EQ(words_for(c, Operand::b, 8),
            "wrote to the 1st float past the last element of B, which is only to be read");
  EXPECT_EQ(words_for(c, Operand::c, -3), "wrote to the 3rd float before the first element of C");
  EXPECT_EQ(words_for(c, Operand::c, 2 * 4 + 2),
            "wrote to the 1st float past the last element of C");
  EXPECT_EQ(words_for(c, Operand::c, 2 * 4 + 2 + 9),
            "wrote to the 10th float past the last element of C");
  EXPECT_EQ(words_for(c, Operand::c, 4 + 3),
            "wrote between the rows of C: row 1, column 3, but n = 2");
}

}  // namespace
