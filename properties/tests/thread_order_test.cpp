// What threads in several orders amount to, and the remarks of trials.
#include <fmt/format.h>
#include <gtest/gtest.h>

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
  const auto check_order = [](Launch launch, bool deterministic) {
    launches = 0;
    Entry entry = host_entry(launch);
    entry.backend = Backend::simt;
    entry.variant.deterministic = deterministic;
    return check_case({entry}, {&claim_named("thread_order")}, parse_case("m=3 n=3 k=30"),
                      {.jobs = 1})
        .front();
  };
  EXPECT_EQ(check_order(by_turns, false).status(), ClaimStatus::holds);
  EXPECT_EQ(check_order(by_turns, true).status(), ClaimStatus::fails);
  const auto wrong = check_order(once_wrong, false);
  ASSERT_EQ(wrong.status(), ClaimStatus::fails);
  EXPECT_NE(wrong.failure->original_verdict.reason.find("in random order"), std::string::npos);
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
