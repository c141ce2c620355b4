// What a failure says of the branch behind which its fault lies.
#include <gtest/gtest.h>

#include "properties/aims/condition.h"
#include "properties/check.h"
#include "properties/tests/planted.h"

namespace assay {
namespace {

std::string branch_of(const char* variant, const WorkerCommand& worker = {}) {
  const auto results = check({entry_named(variant, Backend::simt)}, {&claim_named("within_bound")},
                             {.cases = 40, .jobs = 1, .worker = worker});
  const auto& failure = results.front().failure;
  if (!failure) return "it passed";
  return failure->branch ? to_string(*failure->branch) : "";
}

// The line that a kernel of hidden.cu stands in is not what is tested.
std::string without_line(const std::string& words) { return words.substr(0, words.rfind(':')); }

TEST(Branch, behind_which_a_kernel_is_wrong_is_named) {
  const auto expect = [](const char* variant, const std::string& words) {
    EXPECT_EQ(without_line(branch_of(variant)), words + ": properties/tests/hidden.cu");
  };
  expect("planted_hidden_deep", "only where `g.k >= 2048` is true");
  expect("planted_hidden_whole", "only where `g.m % 32 == 0` is true");
  expect("planted_hidden_ragged", "only where `g.m % 32` is true");
  expect("planted_hidden_beta", "only where `g.beta == -1.0f` is true");
  expect("planted_hidden_pitch",
         "only where `g.lda > g.k` goes the other way than in cases that pass");
  expect("planted_hidden_narrow", "only where `g.ldb < 48` is true");
}

TEST(Branch, is_not_named_where_none_decides) {
  for (const char* variant : {"planted_hidden_always", "planted_hidden_odd", "planted_wrong"}) {
    const Backend backend =
        std::string_view(variant) == "planted_wrong" ? Backend::host : Backend::simt;
    const auto results = check({entry_named(variant, backend)}, {&claim_named("within_bound")},
                               {.cases = 40, .jobs = 1});
    ASSERT_TRUE(results.front().failure) << variant;
    const auto& branch = results.front().failure->branch;
    EXPECT_FALSE(branch) << variant << ": " << to_string(*branch);
  }
}

TEST(Branch, is_named_by_its_place_alone_where_the_source_cannot_be_read) {
  EXPECT_EQ(to_string(Branch{.file = "gone.cu", .line = 7}),
            "only where a comparison goes the other way than in cases that pass: gone.cu:7");
}

TEST(Branch, is_named_by_a_worker_too) {
  EXPECT_EQ(branch_of("planted_hidden_deep", {{"--worker"}}), branch_of("planted_hidden_deep"));
}

TEST(Branch, is_named_for_a_given_case) {
  const auto results =
      check_case({entry_named("planted_hidden_deep", Backend::simt)},
                 {&claim_named("within_bound")}, {{.m = 1, .n = 1, .k = 2048}}, {.jobs = 1});
  ASSERT_TRUE(results.front().failure && results.front().failure->branch);
  EXPECT_EQ(results.front().failure->branch->condition, "g.k >= 2048");
}

TEST(Branch, is_left_alone_where_a_check_stops_at_its_first_failure) {
  const auto results = check({entry_named("planted_hidden_deep", Backend::simt)},
                             {&claim_named("within_bound")}, {.jobs = 1, .first_failure = true});
  ASSERT_TRUE(results.front().failure);
  EXPECT_FALSE(results.front().failure->branch);
}

Comparison with_constant(double constant) {
  Comparison c;
  c.with_constant = true;
  c.constant = constant;
  return c;
}
std::string read(std::string_view line, const Comparison& c, Relations here, Relations elsewhere) {
  const auto [text, is_true] = condition_in(line, c, here, elsewhere);
  return text + (!is_true ? "" : *is_true ? " is true" : " is false");
}
constexpr auto at_least = static_cast<Relations>(equal | greater);
constexpr auto at_most = static_cast<Relations>(less | equal);
constexpr auto other = static_cast<Relations>(less | greater);

TEST(Condition, is_read_as_the_source_has_it) {
  const auto below = [](const char* line) { return read(line, with_constant(8), less, at_least); };
  EXPECT_EQ(below("if (g.k < 8) {"), "g.k < 8 is true");
  EXPECT_EQ(below("} else if (g.k >= 8) return f(g);"), "g.k >= 8 is false");
  EXPECT_EQ(below("while (8 > x) ++x;"), "8 > x is true");
  EXPECT_EQ(below("for (int i = 0; i < 8; ++i) {"), "i < 8 is true");
  EXPECT_EQ(below("return n(g) < 8u ? 1 : 2;"), "n(g) < 8u is true");
  EXPECT_EQ(below("const int x = p->n < 8 ? 1 : 2;"), "p->n < 8 is true");
  EXPECT_EQ(below("return f(a, dim3(n(g), g.k < 8 ? 1 : 2), s);"), "g.k < 8 is true");
  EXPECT_EQ(below("if (g.m == 1 && g.n < 8) return;"), "g.n < 8 is true");
}
TEST(Condition, stays_whole_where_its_outcome_is_not_clear) {
  const auto below = [](const char* line) { return read(line, with_constant(8), less, at_least); };
  EXPECT_EQ(below("if (g.k < least) {"), "g.k < least");
  EXPECT_EQ(below("if (g.k < 8 && g.n < 8) {"), "g.k < 8 && g.n < 8");
  EXPECT_EQ(below("if (a << 3 > b"), "if (a << 3 > b");
  EXPECT_EQ(read("if (x < 8) {", with_constant(8), less, at_most), "x < 8");
}
TEST(Condition, allows_for_what_the_compiler_makes_of_it) {
  EXPECT_EQ(read("if (k >= 8)", with_constant(7), greater, at_most), "k >= 8 is true");
  EXPECT_EQ(read("if (k % 4)", with_constant(0), other, equal), "k % 4 is true");
  EXPECT_EQ(read("if (!ragged)", with_constant(0), equal, greater), "!ragged is true");
  EXPECT_EQ(read("if (k % 4 != 0)", with_constant(0), equal, greater), "k % 4 != 0 is false");
}
TEST(Condition, of_floats_finds_its_constant) {
  Comparison c;
  c.kind = Comparison::Kind::floats;
  c.least = c.greatest = 1e-6f;
  c.least_other = 0, c.greatest_other = 3;
  EXPECT_EQ(read("if (fabsf(g.beta) < 1e-6f) {", c, greater, at_most),
            "fabsf(g.beta) < 1e-6f is true");
}

}  // namespace
}  // namespace assay
