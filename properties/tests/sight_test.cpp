// What the PTX machine sees in a trial of any claim is the fault of the claim that names it.
#include "properties/sight/sight_claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "properties/trials/trials.h"

namespace {

using namespace assay;
using testing::ElementsAre;

const Case drawn{.m = 5, .n = 6, .k = 7, .alpha = 1.5f, .seed = 3};

Entry on(Backend backend) {
  return {{.name = "made_up",
           .idea = "",
           .launch = [](const Gemm&, cudaStream_t) { return cudaSuccess; }},
          backend};
}
Verdict crash(Fault fault) {
  return {.status = TrialStatus::crashed, .finding = {fault}, .reason = "made up", .judged = 1};
}

std::vector<const Claim*> claims_named(const std::vector<const char*>& names) {
  std::vector<const Claim*> all;
  for (const char* name : names) all.push_back(&claim_named(name));
  return all;
}

// Trials whose verdicts are made up: what a claim's trial of a case with this k finds.
class MadeUp {
 public:
  void finds(const char* claim, Fault fault, std::int64_t k = 0) { faults_[{claim, k}] = fault; }

  std::vector<ClaimResult> run(const std::vector<const char*>& names,
                               const std::vector<Case>& cases, bool first_failure = false) {
    const std::vector<const Claim*> claims = claims_named(names);
    const Budget budget{.first_failure = first_failure};
    Trials trials(claims, on(Backend::ptx), static_cast<int>(cases.size()), budget, bench_,
                  no_tick_);
    for (const Case& c : cases) {
      if (trials.wants_more(static_cast<int>(cases.size()))) trials.run(c);
    }
    return std::move(trials).finish();
  }
  void hand_over(std::vector<ClaimResult>& results) {
    hand_over_interruptions(results, bench_, true);
  }
  int judged = 0;

 private:
  Verdict judge(const Claim& claim, const Case& c) {
    ++judged;
    for (const std::int64_t k : {c.k, std::int64_t{0}}) {
      const auto found = faults_.find({claim.name, k});
      if (found != faults_.end()) return crash(found->second);
    }
    return {.judged = 1};
  }

  std::map<std::pair<std::string, std::int64_t>, Fault> faults_;
  const Bench bench_{
      .judge = [this](const Claim& claim, const Case& c, double) { return judge(claim, c); },
      .start_afresh = {}};
  const std::function<void()> no_tick_ = [] {};
};

std::vector<std::string> statuses(const std::vector<ClaimResult>& results) {
  std::vector<std::string> all;
  for (const ClaimResult& r : results) {
    const ClaimStatus status = r.status();
    all.emplace_back(status == ClaimStatus::holds         ? "holds"
                     : status == ClaimStatus::fails       ? "fails"
                     : status == ClaimStatus::interrupted ? "interrupted"
                                                          : "else");
  }
  return all;
}

TEST(SightClaims, name_what_the_machine_finds) {
  const auto name = [](Fault fault) {
    const Claim* const claim = claim_that_names(on(Backend::ptx), crash(fault));
    return std::string(claim == nullptr ? "" : claim->name);
  };
  EXPECT_EQ(name(Fault::data_race), "no_data_race");
  EXPECT_EQ(name(Fault::read_unwritten), "no_unset_value");
  EXPECT_EQ(name(Fault::bad_address), "accesses_inside");
  EXPECT_EQ(name(Fault::index_overflow), "accesses_inside");
  EXPECT_EQ(name(Fault::barrier_not_reached), "barriers_reached");
  EXPECT_EQ(name(Fault::warp_not_reached), "barriers_reached");
  EXPECT_EQ(name(Fault::read_old_c), "beta_zero");
  EXPECT_EQ(name(Fault::wrote_input), "writes_only_c");
  EXPECT_EQ(name(Fault::bad_instruction), "") << "any claim may tell it";
  EXPECT_EQ(claim_that_names(on(Backend::simt), crash(Fault::data_race)), nullptr);
  Verdict wrong = crash(Fault::index_overflow);
  wrong.status = TrialStatus::wrong;  // by its values
  EXPECT_EQ(claim_that_names(on(Backend::ptx), wrong), nullptr);
}

TEST(SightClaims, say_nothing_on_other_backends) {
  for (const Claim& claim : sight_claims()) {
    EXPECT_FALSE(exemption(claim, on(Backend::ptx))) << claim.name;
    for (const Backend other : {Backend::simt, Backend::cuda, Backend::host})
      EXPECT_TRUE(exemption(claim, on(other))) << claim.name;
  }
}

TEST(SightClaims, are_judged_by_one_run_of_each_case) {
  MadeUp trials;
  const auto results =
      trials.run({"no_data_race", "no_unset_value", "accesses_inside", "barriers_reached"},
                 {drawn, drawn, drawn});
  EXPECT_EQ(trials.judged, 3);
  for (const ClaimResult& result : results) {
    EXPECT_EQ(result.status(), ClaimStatus::holds) << result.claim->name;
    EXPECT_EQ(result.cases, 3);
  }
}

TEST(SightClaims, take_half_as_many_cases_where_every_trial_sees_what_they_are_about) {
  for (const char* name : {"beta_zero", "writes_only_c", "reads_only_operands", "no_data_race"}) {
    const Claim& claim = claim_named(name);
    EXPECT_EQ(share_of_cases(claim, {.backend = Backend::ptx}), 0.5) << name;
    EXPECT_EQ(share_of_cases(claim, {.backend = Backend::simt}), 1) << name;
    EXPECT_EQ(share_of_cases(claim, {.backend = Backend::cuda}), 1) << name;
  }
  for (const char* name : {"within_bound", "no_product", "thread_order", "same_bits_twice"})
    EXPECT_EQ(share_of_cases(claim_named(name), {.backend = Backend::ptx}), 1) << name;
}

// What goes wrong there may take a beta, or a long sum, that some claims never have.
TEST(Multiprocessors, are_other_ones_for_claims_that_take_any_scalars_and_long_sums) {
  std::set<int> all, with_any;
  for (const Claim& claim : claims()) {
    all.insert(claim.multiprocessors);
    for (std::uint64_t seed = 0; seed < 32; ++seed) {
      const Case any{.m = 5, .n = 6, .k = 70, .alpha = 1.5f, .beta = 0.5f, .seed = seed};
      const Case its = claim.move_case(any, on(Backend::ptx));
      const bool takes_it = its.alpha == any.alpha && its.beta == any.beta && its.k >= 64;
      if (takes_it) with_any.insert(claim.multiprocessors);
    }
  }
  EXPECT_EQ(all, with_any);
  EXPECT_EQ(all.size(), 9u);
}

TEST(SightClaims, go_on_where_another_one_fails) {
  MadeUp trials;
  trials.finds("no_data_race", Fault::data_race, 7);  // the family's trials are the first one's
  Case other = drawn;
  other.k = 9;
  auto results = trials.run({"no_data_race", "no_unset_value"}, {drawn, other, other});
  EXPECT_THAT(statuses(results), ElementsAre("fails", "interrupted"));
  EXPECT_EQ(results[0].cases, 1);
  EXPECT_EQ(results[1].cases, 2) << "of those whose trials came to their end";
  trials.hand_over(results);
  EXPECT_THAT(statuses(results), ElementsAre("fails", "interrupted"));
}

TEST(Interruption, is_no_fault_of_the_claim_that_it_ends) {
  MadeUp trials;
  trials.finds("within_bound", Fault::data_race);
  trials.finds("no_data_race", Fault::data_race);
  auto results = trials.run({"within_bound"}, {drawn, drawn});
  EXPECT_THAT(statuses(results), ElementsAre("interrupted"));
  EXPECT_EQ(results[0].cases, 0);
  EXPECT_THAT(results[0].reason(), testing::HasSubstr("no_data_race"));
  // The claim itself has found nothing in its own cases.
  MadeUp of_race;
  results.push_back(of_race.run({"no_data_race"}, {drawn}).front());
  EXPECT_THAT(statuses(results), ElementsAre("interrupted", "holds"));
  trials.hand_over(results);
  EXPECT_THAT(statuses(results), ElementsAre("interrupted", "fails"));
  EXPECT_EQ(results[1].failure->original, drawn);
  EXPECT_LT(results[1].failure->shrunk.multiply_adds(), drawn.multiply_adds());
  EXPECT_THAT(replay_line(results[1], {drawn}), testing::HasSubstr("--claim no_data_race"));
}

TEST(Interruption, is_told_where_the_claim_that_names_it_is_not_judged) {
  MadeUp trials;
  trials.finds("within_bound", Fault::data_race);
  trials.finds("same_bits_twice", Fault::data_race);
  trials.finds("no_data_race", Fault::data_race);
  std::vector<ClaimResult> results = trials.run({"within_bound"}, {drawn}, true);
  results.push_back(trials.run({"same_bits_twice"}, {drawn}, true).front());
  trials.hand_over(results);
  EXPECT_THAT(statuses(results), ElementsAre("fails", "interrupted")) << "once";
  EXPECT_STREQ(results[0].broken().name, "no_data_race");
  EXPECT_THAT(replay_line(results[0], {drawn}), testing::HasSubstr("--claim no_data_race"));
}

TEST(Interruption, is_a_failure_where_only_that_claims_own_trial_shows_it) {
  MadeUp trials;
  trials.finds("no_product", Fault::bad_address);  // it hides A and B
  Case without_product = drawn;
  without_product.k = 0;
  const auto results = trials.run({"no_product"}, {without_product});
  EXPECT_THAT(statuses(results), ElementsAre("fails"));
  EXPECT_STREQ(results[0].broken().name, "no_product");
}

}  // namespace
