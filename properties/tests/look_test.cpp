// That the claims look at every access, each for what it is about.
#include <gtest/gtest.h>

#include <algorithm>

#include "properties/check.h"
#include "properties/tests/planted.h"

namespace {

using namespace assay;
using namespace assay_test;

const std::vector<std::string> looking = {"beta_zero", "writes_only_c", "reads_only_operands"};

// Cases that pass but for a look.
const char* text_for(const std::string& claim) {
  return claim == "beta_zero" ? "m=3 n=3 k=3 lda=+1 ldb=+1 ldc=+1"
                              : "m=3 n=3 k=3 beta=0.5 lda=+1 ldb=+1 ldc=+1";
}

Verdict judge(const Entry& entry, const std::string& claim) {
  return claim_named(claim).judge(entry, parse_case(text_for(claim)), {});
}
Entry planted_entry(const std::string& name) {
  return entry_named("planted_" + name, Backend::simt);
}

TEST(ALook, is_part_of_the_claim_that_it_is_about) {
  struct Plant {
    const char *name, *claim;
    Fault fault;
  };
  for (const auto& [name, claim, fault] :
       {Plant{"reads_gap", "reads_only_operands", Fault::read_gap},
        {"reads_gap_by_quads", "reads_only_operands", Fault::read_gap},
        {"reads_gap_of_c", "reads_only_operands", Fault::read_gap},
        {"writes_gap", "writes_only_c", Fault::wrote_beside},
        {"writes_gap_by_memcpy", "writes_only_c", Fault::wrote_beside},
        {"writes_a", "writes_only_c", Fault::wrote_input},
        {"reads_c", "beta_zero", Fault::read_old_c},
        {"reads_c_by_copies", "beta_zero", Fault::read_old_c}}) {
    const Verdict verdict = judge(planted_entry(name), claim);
    EXPECT_EQ(to_string(verdict.status), to_string(TrialStatus::wrong)) << name;
    EXPECT_EQ(to_string(verdict.finding.fault), to_string(fault)) << name;
    EXPECT_TRUE(verdict.looked_at);
    EXPECT_NE(verdict.reason.find("seen in the build that is watched"), std::string::npos)
        << verdict.reason;
    EXPECT_EQ(to_string(judge(planted_entry(name), "within_bound").status),
              to_string(TrialStatus::right))
        << name << ": its results are right";
  }
}

TEST(ALook, names_the_line) {
  const std::string reason =
      judge(planted_entry("reads_gap_by_copies"), "reads_only_operands").reason;
  EXPECT_NE(reason.find("block (0,0,0) (oracle/tests/touching.cu:"), std::string::npos)
      << reason << ", with objdump";
}

TEST(ALook, finds_nothing_in_right_kernels_and_counts_what_it_saw) {
  for (const std::string& claim : looking) {
    const Verdict verdict = judge(planted_entry("nothing"), claim);
    EXPECT_EQ(to_string(verdict.status), to_string(TrialStatus::right)) << verdict.reason;
    EXPECT_TRUE(verdict.looked_at) << claim;
    const auto results =
        check_case({planted_entry("nothing")}, {&claim_named(claim)},
                   {parse_case(text_for(claim)), parse_case("m=300 n=200 k=100")}, {.jobs = 1});
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(results.front().cases, 2);
    EXPECT_EQ(results.front().looked_at, 1) << claim << ": the other takes too many accesses";
  }
}

TEST(ALook, needs_a_watched_build) {
  Entry unwatched = planted_entry("reads_gap");
  unwatched.watched_launch = nullptr;
  const Entry on_host = host_entry(multiply);
  for (const Entry& entry : {unwatched, on_host}) {
    const Verdict verdict = judge(entry, "reads_only_operands");
    EXPECT_FALSE(verdict.looked_at);
    EXPECT_EQ(to_string(verdict.status), to_string(TrialStatus::right)) << verdict.reason;
  }
}

TEST(ALook, is_repeated_by_the_replayed_case) {
  const Entry entry = planted_entry("reads_gap");
  const auto results =
      check({entry}, {&claim_named("reads_only_operands")}, {.cases = 20, .jobs = 1}, {});
  ASSERT_EQ(results.size(), 1u);
  ASSERT_TRUE(results.front().failure);
  const Failure& failure = *results.front().failure;
  EXPECT_EQ(to_string(failure.shrunk), "m=1 n=1 k=1 fill=small_ints");
  const auto again =
      check_case({entry}, {&claim_named("reads_only_operands")}, {failure.shrunk}, {.jobs = 1});
  ASSERT_TRUE(again.front().failure);
  EXPECT_EQ(again.front().failure->headline(), failure.headline());
}

}  // namespace
