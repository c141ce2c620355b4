// Every defect of the catalogue must be caught by the claim it belongs to, within the default
// budget, be named for what it is, and be shrunk to a case that a person can work through.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <ostream>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "oracle/tests/run_tests.h"
#include "properties/check.h"
#include "properties/defects/catalogue.h"

namespace assay {
static void PrintTo(const Defect& defect, std::ostream* out) { *out << defect.name; }
}  // namespace assay

namespace {

using namespace assay;

// Each on its backends, but for claims that say nothing about that one.
std::vector<Defect> planted() {
  std::vector<Defect> chosen;
  for (const Defect& defect : catalogue()) {
    const bool takes_gpu = std::any_of(claims().begin(), claims().end(), [&](const Claim& claim) {
      return claim.takes_gpu && std::string_view(claim.name) == defect.claim;
    });
    if (!takes_gpu || defect.backend == Backend::cuda) chosen.push_back(defect);
  }
  return chosen;
}

// The row of a fault in docs/kill-matrix.md, as `assay defects --md` wrote it; empty if it has
// none.
std::string documented(const Defect& defect) {
  const std::string start = fmt::format("| {} | {} |", defect.name, to_string(defect.backend));
  std::ifstream document(ASSAY_KILL_MATRIX);
  for (std::string row; std::getline(document, row);) {
    if (row.starts_with(start)) return row;
  }
  return {};
}

// Whether that file is of this compiler: another one's kernels may be wrong in other cases.
bool documents_this_build() {
  std::ifstream document(ASSAY_KILL_MATRIX);
  std::string text((std::istreambuf_iterator<char>(document)), {});
  return text.find(fmt::format("g++ {}:", __GNUC__)) != text.npos;
}

// Without the folder of the build that planted it: the document comes from one, the test from any.
std::string without_folder(const std::string& words) {
  return std::regex_replace(words, std::regex("[^ (]*/planted/"), "planted/");
}

// The other claims' columns are not compared: it would take minutes. Nor is a case that follows
// many calls, or its number: how many cases come before it, the time decides that the search has.
void expect_documented(const Defect& defect, const ClaimResult& result) {
  if (defect.backend != Backend::simt || !documents_this_build()) return;
  std::string row = without_folder(documented(defect));
  std::erase(row, '\\');  // in front of a bar
  const bool follows_many_calls =
      defect.is_large && result.failure->verdict.finding.fault == Fault::keeps_state;
  std::vector<std::string> parts = {without_folder(result.failure->headline())};
  if (!follows_many_calls) {
    parts.push_back(fmt::format(" **{}** |", result.cases));
    parts.push_back(fmt::format("| `{}` |", to_string(result.failure->shrunk)));
  }
  for (const std::string& part : parts) {
    EXPECT_NE(row.find(part), row.npos)
        << "docs/kill-matrix.md is stale: run assay defects --md docs/kill-matrix.md\n"
        << "it has:   " << row << "\nit lacks: " << part;
  }
}

class Catalogue : public testing::TestWithParam<Defect> {};

TEST_P(Catalogue, is_caught_by) {
  const Defect& defect = GetParam();
  ASSERT_STREQ(defect.not_planted, "");
  const Entry entry = entry_named(defect.name, defect.backend);
  const Claim& claim = claim_named(defect.claim);
  ASSERT_FALSE(exemption(claim, entry));
  ClaimResult result;
  try {
    result = check({entry}, {&claim}, {.jobs = 1, .watchdog_seconds = 2, .worker = {{"--worker"}}})
                 .front();
  } catch (const Unavailable& error) {
    assay_test::skip_without_gpu(error.what());
    return;
  }
  if (result.exempt) GTEST_SKIP() << result.exempt->reason;  // the GPU has too little memory
  ASSERT_TRUE(result.failure) << result.cases << " cases, and nobody noticed "
                              << result.harness_error;

  const Failure& failure = *result.failure;
  const std::string verdict = fmt::format("{}: {}\n{}", to_string(failure.verdict.status),
                                          failure.verdict.reason, failure.verdict.diagnosis);
  fmt::print("caught by case {}, {} steps to {}\n{}: {}\n", result.cases, failure.shrink_steps,
             to_string(failure.shrunk), to_string(failure.verdict.finding.fault), verdict);
  EXPECT_NE(verdict.find(defect.says), verdict.npos) << verdict << "\nlacks: " << defect.says;
  EXPECT_EQ(failure.verdict.context_lost, defect.loses_context)
      << "the catalogue must say LOSES_CONTEXT where it does, and nowhere else";
  expect_documented(defect, result);
  const bool keeps_state = failure.verdict.finding.fault == Fault::keeps_state;  // found out later
  EXPECT_TRUE(keeps_state ||
              still_shows(failure.original_verdict.finding, failure.verdict.finding) ||
              names_better(failure.original_verdict.finding, failure.verdict.finding))
      << failure.original_verdict.reason << "\n"
      << failure.original_verdict.diagnosis;
  if (claim.most_cases < 100 || defect.is_large) return;  // about large cases
  EXPECT_TRUE(failure.shrunk_fully || failure.verdict.status == TrialStatus::hung);
  EXPECT_LE(failure.shrunk.multiply_adds(), 1e5) << "a case this large is not small";
}

INSTANTIATE_TEST_SUITE_P(Defect, Catalogue, testing::ValuesIn(planted()), [](const auto& info) {
  return fmt::format("{}_{}_by_{}", to_string(info.param.backend), info.param.name,
                     info.param.claim);
});

TEST(KillMatrix, has_a_row_for_each_fault_and_no_other) {
  std::set<std::string> expected, documented;
  for (const Defect& defect : planted()) {
    if (defect.backend == Backend::simt) expected.insert(defect.name);
  }
  std::ifstream document(ASSAY_KILL_MATRIX);
  for (std::string row; std::getline(document, row);) {
    if (row.starts_with("| ") && !row.starts_with("| defect |"))
      documented.insert(row.substr(2, row.find(" |", 2) - 2));
  }
  EXPECT_EQ(documented, expected)
      << "docs/kill-matrix.md is stale: run assay defects --md docs/kill-matrix.md";
  EXPECT_GE(expected.size(), 100u);
}

class AfterAFault : public testing::TestWithParam<Defect> {};

TEST_P(AfterAFault, the_rest_of_the_run_goes_on) {
  const Claim& bound = claim_named("within_bound");
  const Entry faulting = entry_named(GetParam().name, GetParam().backend);
  const Entry holding_it = entry_named("descending_order", GetParam().backend);
  const CorpusLine first{&bound, parse_case("m=1 n=1 k=1 fill=small_ints")};  // leaves no shrinking
  const Budget budget{.cases = 20, .jobs = 1, .worker = {{"--worker"}}};
  try {
    const auto results = check({faulting, holding_it}, {&bound}, budget, {first});
    ASSERT_TRUE(results[0].failure);
    EXPECT_EQ(results[0].cases, 1) << "one fault, one verdict";
    EXPECT_EQ(to_string(results[0].failure->verdict.status), "crashed");
    EXPECT_FALSE(results[1].failure) << results[1].failure->verdict.reason;
    EXPECT_GE(results[1].cases, 1 + budget.cases) << results[1].harness_error;  // aimed ones too
  } catch (const Unavailable& error) {
    assay_test::skip_without_gpu(error.what());
  }
}

// On each of its backends.
std::vector<Defect> defect_named(std::string_view name) {
  std::vector<Defect> chosen;
  for (const Defect& defect : catalogue()) {
    if (defect.name == name) chosen.push_back(defect);
  }
  return chosen;
}
INSTANTIATE_TEST_SUITE_P(Defect, AfterAFault, testing::ValuesIn(defect_named("reads_far_outside")),
                         [](const auto& info) {
                           return fmt::format("{}_{}", to_string(info.param.backend),
                                              info.param.name);
                         });

}  // namespace
