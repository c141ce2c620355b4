// What threads in several orders amount to, and the remarks of trials.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "properties/check.h"
#include "properties/tests/planted.h"

namespace {

using namespace assay;
using namespace assay_test;

// Its bits differ between orders, as they may; so the order in which it goes wrong decides.
TEST(ThreadOrder, judges_a_variant_that_is_not_deterministic_by_its_bound_in_every_order) {
  static int launches;
  const Launch by_turns = [](const Gemm& g, cudaStream_t stream) {
    multiply(g, stream);
    if (g.m > 0 && g.n > 0) g.c[0] *= ++launches % 2 == 0 ? 1 : 1 + 0x1p-23f;
    return cudaSuccess;
  };
  const Launch once_wrong = [](const Gemm& g, cudaStream_t stream) {
    multiply(g, stream);
    if (g.m > 0 && g.n > 0 && ++launches % 3 == 0) g.c[0] += 1;
    return cudaSuccess;
  };
  const auto judge = [](Launch launch, bool deterministic) {  // on the host, which has no order
    launches = 0;
    Entry entry = host_entry(launch);
    entry.variant.deterministic = deterministic;
    return claim_named("thread_order").judge(entry, parse_case("m=3 n=3 k=30"), {});
  };
  EXPECT_EQ(judge(by_turns, false).status, TrialStatus::right);
  EXPECT_EQ(judge(by_turns, true).status, TrialStatus::wrong);
  const Verdict wrong = judge(once_wrong, false);
  EXPECT_EQ(wrong.status, TrialStatus::wrong);
  EXPECT_NE(wrong.reason.find("in random order"), std::string::npos);
  EXPECT_EQ(wrong.finding.fault, Fault::keeps_state) << "right when it is repeated";
}

// Where bits may differ, what is kept is still looked for.
TEST(Repetition, of_a_variant_that_is_not_deterministic_is_judged_by_its_bound) {
  static int launches;
  static std::vector<float> b_of_first;
  const Launch with_noise = [](const Gemm& g, cudaStream_t stream) {
    multiply(g, stream);
    if (g.m > 0 && g.n > 0) g.c[0] *= ++launches % 2 == 0 ? 1 : 1 + 0x1p-23f;
    return cudaSuccess;
  };
  const Launch with_old_b = [](const Gemm& g, cudaStream_t stream) {  // of one shape
    if (g.k != 30 || g.n != 3) return multiply(g, stream);
    if (b_of_first.empty()) b_of_first.assign(g.b, g.b + g.k * g.ldb);
    Gemm other = g;
    other.b = b_of_first.data();
    return multiply(other, stream);
  };
  const auto judge = [](Launch launch, bool deterministic) {
    launches = 0, b_of_first.clear();
    Entry entry = host_entry(launch);
    entry.variant.deterministic = deterministic;
    return claim_named("same_bits_twice")
        .judge(entry, parse_case("m=3 n=3 k=30 seed=5"), {})
        .status;
  };
  EXPECT_EQ(judge(with_noise, true), TrialStatus::wrong);
  EXPECT_EQ(judge(with_noise, false), TrialStatus::right);
  EXPECT_EQ(judge(with_old_b, false), TrialStatus::wrong);
}

// The same words whether its bits or only its values are compared.
TEST(ThreadOrder, is_what_a_variant_depends_on_that_is_wrong_in_some_orders_only) {
  for (const bool deterministic : {true, false}) {
    Entry entry = entry_named("planted_racing", Backend::simt);
    entry.variant.deterministic = deterministic;
    const Verdict verdict =
        claim_named("thread_order").judge(entry, parse_case("m=3 n=3 k=30"), {});
    EXPECT_EQ(verdict.status, TrialStatus::wrong);
    EXPECT_EQ(verdict.finding.fault, Fault::thread_order) << verdict.diagnosis;
    EXPECT_NE(verdict.diagnosis.find("depends on the order of threads"), std::string::npos);
    EXPECT_NE(verdict.reason.find("in descending order"), std::string::npos) << verdict.reason;
  }
}

TEST(ThreadOrder, is_not_what_a_variant_depends_on_that_is_wrong_in_every_order) {
  Entry entry = entry_named("planted_hidden_always", Backend::simt);
  entry.variant.deterministic = false;
  const Verdict verdict = claim_named("thread_order").judge(entry, parse_case("m=3 n=3 k=30"), {});
  EXPECT_EQ(verdict.status, TrialStatus::wrong);
  EXPECT_EQ(verdict.finding.fault, Fault::no_product) << verdict.diagnosis;
}

// A lost update, which only an interrupt between a load and a store shows.
TEST(ThreadOrder, interrupts_the_watched_build) {
  static bool wrong_next;
  Entry entry = host_entry(multiply);
  entry.watched_launch = [](const Gemm& g, cudaStream_t stream) {
    multiply(g, stream);
    if (g.m > 0 && g.n > 0 && std::exchange(wrong_next, false)) g.c[0] += 1;
    return cudaSuccess;
  };
  const auto judge = [&](const char* text) {
    wrong_next = true;  // the first watched launch only
    return claim_named("thread_order").judge(entry, parse_case(text), {});
  };
  const Verdict verdict = judge("m=3 n=3 k=30");
  EXPECT_EQ(verdict.status, TrialStatus::wrong);
  EXPECT_NE(verdict.reason.find("interrupted at random places"), std::string::npos);
  EXPECT_EQ(verdict.finding.fault, Fault::thread_order);
  EXPECT_NE(verdict.diagnosis.find("depends on the order of threads"), std::string::npos);
  EXPECT_EQ(judge("m=3 n=3 k=30 seed=1").status, TrialStatus::right) << "a third of the cases";
  EXPECT_EQ(judge("m=300 n=300 k=30").status, TrialStatus::right) << "not so large ones";
  entry.watched_launch = multiply_wrongly;
  EXPECT_EQ(judge("m=3 n=9 k=30").status, TrialStatus::right) << "wrong in every order";
}

TEST(Check, keeps_the_first_remark) {
  int cases = 0;
  const Claim remarking = claim_that([&](const Entry&, const Case&, const Resources&) {
    return Verdict{.remark = ++cases == 1 ? "" : fmt::format("remark {}", cases), .judged = 1};
  });
  const auto results = check({host_entry(multiply)}, {&remarking}, {.cases = 5, .jobs = 1});
  EXPECT_EQ(results.front().remark, "remark 2");
}

}  // namespace
