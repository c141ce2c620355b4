// Findings: which of them show the same fault.
#include "oracle/finding.h"

#include <gtest/gtest.h>

#include <set>

namespace {

using namespace assay;

constexpr int faults = static_cast<int>(Fault::unnamed) + 1;

TEST(Finding, has_a_name_of_its_own_for_every_fault) {
  std::set<std::string_view> names;
  for (int i = 0; i < faults; ++i) names.insert(to_string(static_cast<Fault>(i)));
  EXPECT_EQ(names.size(), faults);
  EXPECT_EQ(names.count("unknown"), 0u);
}

TEST(Finding, is_shown_by_itself_and_by_one_that_says_more) {
  for (int i = 0; i < faults; ++i) {
    const Finding found{static_cast<Fault>(i)};
    EXPECT_TRUE(still_shows(found, found));
    EXPECT_TRUE(still_shows(found, {found.fault, Operand::a}));
    EXPECT_FALSE(still_shows({found.fault, Operand::a}, found)) << "it says less";
    EXPECT_FALSE(still_shows({found.fault, Operand::a}, {found.fault, Operand::b}));
  }
  EXPECT_TRUE(still_shows({Fault::wrong_values}, {Fault::beta}));
  EXPECT_TRUE(still_shows({Fault::wrong_values}, {Fault::read_shared}));
  EXPECT_TRUE(still_shows({Fault::nan}, {Fault::read_gap}));
  EXPECT_TRUE(still_shows({Fault::bad_address}, {Fault::index_overflow, Operand::b}));
  EXPECT_FALSE(still_shows({Fault::index_overflow}, {Fault::bad_address}));
}

TEST(Finding, is_named_better_by_the_cause_of_its_effect) {
  EXPECT_TRUE(names_better({Fault::wrong_values}, {Fault::k_missing}));
  EXPECT_TRUE(names_better({Fault::nan}, {Fault::read_shared}));
  EXPECT_TRUE(names_better({Fault::no_product}, {Fault::k_missing}));
  EXPECT_TRUE(names_better({Fault::read_gap}, {Fault::wrong_stride}));
  EXPECT_FALSE(names_better({Fault::no_product}, {Fault::beta}));
  EXPECT_FALSE(names_better({Fault::wrong_values}, {Fault::nan}));
  EXPECT_FALSE(names_better({Fault::wrong_values}, {Fault::bad_address}));
  EXPECT_FALSE(names_better({Fault::k_missing}, {Fault::wrong_stride}));
}

TEST(Finding, is_not_shown_by_another) {
  for (Fault named :
       {Fault::beta, Fault::read_shared, Fault::thread_order, Fault::misaligned_access,
        Fault::k_missing, Fault::wrote_beside, Fault::never_ends}) {
    for (int i = 0; i < faults; ++i) {
      const auto other = static_cast<Fault>(i);
      EXPECT_EQ(still_shows({named}, {other}), named == other) << to_string(other);
    }
  }
  EXPECT_FALSE(still_shows({Fault::nan}, {Fault::beta}));
  EXPECT_FALSE(still_shows({Fault::nan}, {Fault::wrong_values}));
  EXPECT_FALSE(still_shows({Fault::wrong_values}, {Fault::bad_address}));
  EXPECT_FALSE(still_shows({Fault::wrong_values}, {Fault::thread_order}));
}

}  // namespace
