// How many gulps the share of C is allowed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "oracle/judge.h"
#include "oracle/reference.h"

namespace {

using namespace assay;

TEST(Bound, has_room_for_a_sum_that_begins_at_c) {
  for (const char* text :
       {"k=10 beta=1", "k=216 alpha=1e-06 beta=1", "k=2000 alpha=-1e-07 beta=1",
        "k=2000 alpha=0.01 beta=1", "k=20000 alpha=1e-06 beta=1", "k=2000 beta=65504",
        "k=1775 alpha=256 beta=1e10 fill=patterned seed=27907"}) {
    Case c = parse_case(fmt::format("m=20 n=20 {}", text));
    const Operands all = make_operands(c, Placement::guarded, {4, 4, 4});
    Image result = all[Operand::c];
    for (std::int64_t i = 0; i < c.m; ++i) {
      for (std::int64_t j = 0; j < c.n; ++j) {
        float sum = c.beta * all[Operand::c].row(i)[j];
        for (std::int64_t p = 0; p < c.k; ++p)
          sum = std::fmaf(c.alpha * all[Operand::a].row(i)[p], all[Operand::b].row(p)[j], sum);
        result.row(i)[j] = sum;
      }
    }
    const double allowed = allowed_gulps(Arithmetic::fp32, c);
    EXPECT_EQ(judge_bound(result, make_reference(c, all), allowed).wrong, 0) << text;
  }
}

// A product of ordinary numbers may be lost among 4097 of TF32; among whole numbers it shows.
TEST(Bound, of_tf32_is_that_of_fp32_where_nothing_is_lost) {
  const auto allowed = [](const char* text) {
    return allowed_gulps(Arithmetic::tf32, parse_case(text));
  };
  EXPECT_EQ(allowed("m=1 n=1 k=4097 fill=small_ints"), 16);
  EXPECT_EQ(allowed("m=1 n=1 k=5 alpha=-0.5 beta=3 fill=small_ints"), 7);
  for (const char* text : {"m=1 n=1 k=4097", "m=1 n=1 k=4097 alpha=1.5 fill=small_ints",
                           "m=1 n=1 k=262144 fill=small_ints", "m=1 n=1 k=8 fill=identity"})
    EXPECT_GT(allowed(text), 30'000) << text;
}

TEST(Bound, counts_c_once_where_no_sum_is_long) {
  for (const char* text : {"k=14", "k=0", "k=5000 alpha=0", "k=14 fill=patterned seed=27907"})
    EXPECT_EQ(weight_of_c(parse_case(fmt::format("m=1 n=1 {}", text))), 1) << text;
  EXPECT_EQ(weight_of_c(parse_case("m=1 n=1 k=10000")), 402.0 / 16);
  const Case patterned = parse_case("m=4 n=6 k=1000 fill=patterned seed=27907");
  EXPECT_DOUBLE_EQ(weight_of_c(patterned) * allowed_gulps(Arithmetic::fp32, patterned), 1002);
}

}  // namespace
