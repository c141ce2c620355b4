// Where an address that faulted lies, in words.
#include "oracle/diagnosis/whereabouts.h"

#include <gtest/gtest.h>

#include "oracle/host/ptx_verdict.h"

namespace {

using namespace assay;

constexpr std::uintptr_t base = std::uintptr_t{1} << 40, apart = std::uintptr_t{1} << 38;
constexpr std::int64_t wide = (std::int64_t{1} << 30) + 3;

ByOperand<Placed> placed(std::int64_t ldb = 3) {
  const auto at = [](int i) { return reinterpret_cast<const std::byte*>(base + i * apart); };
  return {{{.first = at(0), .rows = 5, .columns = 4, .ld = 6},
           {.first = at(1), .rows = 5, .columns = 3, .ld = ldb},
           {.first = at(2), .rows = 5, .columns = 3, .ld = 3},
           {.first = at(3), .rows = 1, .columns = 7, .ld = 7}}};
}
// The words for the float so far from the first of an operand.
Diagnosis at(Operand o, std::int64_t floats, const ByOperand<Placed>& operands = placed()) {
  const Placed& p = operands[static_cast<std::size_t>(o)];
  return whereabouts(p.first + 4 * floats, operands, {1 << 20, std::ptrdiff_t{1} << 38});
}

TEST(Whereabouts, names_the_place_beside_the_nearest_operand) {
  EXPECT_EQ(at(Operand::a, 28).words, "the 1st float past the last element of A");
  EXPECT_EQ(at(Operand::a, 30).words, "the 3rd float past the last element of A");
  EXPECT_EQ(at(Operand::b, -1).words, "the 1st float before the first element of B");
  EXPECT_EQ(at(Operand::c, -12).words, "the 12th float before the first element of C");
  EXPECT_EQ(at(Operand::a, 11).words, "between the rows of A, at row 1, column 5, but k = 4");
  EXPECT_EQ(at(Operand::workspace, 7).words,
            "the 1st float past the last element of the workspace");
  EXPECT_EQ(at(Operand::c, 1 << 30).words, "far from A, B and C");
  EXPECT_EQ(at(Operand::a, 28).finding, (Finding{Fault::bad_address, Operand::a}));
}

TEST(Whereabouts, names_an_operand_that_must_not_be_touched) {
  auto hidden = placed();
  hidden[0].unreadable = true;
  EXPECT_EQ(at(Operand::a, 1000, hidden).words, "A, which this problem must not touch");
}

TEST(Whereabouts, names_an_index_that_overflowed) {
  const auto operands = placed(wide);
  for (std::int64_t row = 2; row < 5; ++row) {
    const std::int64_t meant = row * wide + 1;
    const Diagnosis found = at(Operand::b, static_cast<std::int32_t>(meant), operands);
    EXPECT_EQ(found.finding, (Finding{Fault::index_overflow, Operand::b})) << found.words;
    EXPECT_EQ(found.words, "an index of B overflowed 32 bits: row " + std::to_string(row) +
                               ", column 1 was meant");
  }
  EXPECT_EQ(at(Operand::b, 7, operands).finding.fault, Fault::bad_address) << "a gap, and no more";
}

// Where the same elements are written again and again, more words were stored than C has.
TEST(PtxVerdict, is_none_on_what_still_wrote_c_when_its_time_was_over) {
  ByOperand<Placed> lent = {};
  lent[static_cast<std::size_t>(Operand::c)] = {.rows = 3, .columns = 4, .ld = 4};
  const auto status = [&](std::uint64_t stored_late) {
    const ptx::Finding found{
        .fault = ptx::Fault::never_ends, .text = "it runs", .stored_late = stored_late};
    return verdict_on(found, lent, {0, 0}).status;
  };
  EXPECT_EQ(status(0), TrialStatus::hung);
  EXPECT_EQ(status(1), TrialStatus::refused);
  EXPECT_EQ(status(12), TrialStatus::refused);
  EXPECT_EQ(status(13), TrialStatus::hung);
}

}  // namespace
