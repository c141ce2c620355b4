// What results amount to, where no variant could be made to show it.
#include "cli/check/check_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/check/check_json.h"
#include "cli/check/check_junit.h"
#include "cli/check/check_text.h"
#include "cli/tests/xml.h"

namespace assay::tests {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr Budget ten_cases{.cases = 10};

Entry entry(const char* name, Backend backend = Backend::simt) {
  return {{.name = name, .idea = "", .launch = nullptr}, backend};
}

ClaimResult result(const Entry& entry, const char* claim, int cases, int empty = 0) {
  ClaimResult r;
  r.entry = entry;
  r.claim = &claim_named(claim);
  r.wanted = ten_cases.cases;
  r.cases = cases;
  r.empty = empty;
  r.elements = 1000 * cases;
  return r;
}

CheckReport report_of(const std::vector<ClaimResult>& results, bool given = false) {
  CheckReport report;
  report.budget = ten_cases;
  if (given) report.given = {Case{.m = 1, .n = 2, .k = 3}};
  report.backends = {{Backend::simt, 1, ""}, {Backend::cuda, 1, ""}, {Backend::host, 1, ""}};
  for (const ClaimResult& r : results) {
    auto& [entries, claims, left_out] = report.selection;
    const auto is_same = [&](const Entry& e) { return same_entry(e, r.entry); };
    if (std::none_of(entries.begin(), entries.end(), is_same)) entries.push_back(r.entry);
    if (std::find(claims.begin(), claims.end(), r.claim) == claims.end()) claims.push_back(r.claim);
    report.results.push_back(r);
    if (given) report.results.back().wanted = 1;
  }
  return report;
}

TEST(Conclusion, CountsAVariantOnceForAllItsBackends) {
  const auto report = report_of({result(entry("a"), "within_bound", 10),
                                 result(entry("a", Backend::cuda), "within_bound", 10)});
  const Conclusion conclusion = conclude(report);
  EXPECT_EQ(conclusion.code, ExitCode::passed);
  EXPECT_THAT(conclusion.text(), StartsWith("PASS: 1 variant holds 2 claims: 20 cases, 20.0 k "));
}

TEST(TableOfClaims, ShowsTheBackendsOfAVariantTogether) {
  const auto judged = [](const char* name, Backend backend, int cases) {
    return result(entry(name, backend), "within_bound", cases);
  };
  const auto text =
      table_text(report_of({judged("h", Backend::host, 10), judged("a", Backend::simt, 11),
                            judged("b", Backend::simt, 12), judged("a", Backend::cuda, 13),
                            judged("b", Backend::cuda, 14), judged("c", Backend::cuda, 15)}),
                 Screen(stdout));
  EXPECT_THAT(text, StartsWith("\nvariant  on    bound"));
  std::size_t at = 0;
  for (const char* row :
       {"\nh        host     10 ", "\na        simt     11 ", "\n         cuda     13 ",
        "\nb        simt     12 ", "\n         cuda     14 ", "\nc        cuda     15 "}) {
    ASSERT_NE(text.find(row, at), text.npos) << row << " in" << text;
    at = text.find(row, at);
  }
}

TEST(TableOfClaims, NamesAllClaimsInTwoWords) {
  ClaimResult bound = result(entry("new"), "within_bound", 0);
  ClaimResult beta = result(entry("new"), "beta_zero", 0);
  bound.exempt = beta.exempt = Skip{Skip::By::machine, "it needs sm_100"};
  const auto said = table_text(report_of({bound, beta}), Screen(stdout));
  EXPECT_THAT(said, HasSubstr("- all claims: new: it needs sm_100\n"));
}

TEST(JUnit, CountsWhatWasJudgedTooLittleAsAFailure) {
  const std::string xml = junit_of(
      report_of({result(entry("a"), "within_bound", 10), result(entry("a"), "no_product", 4)}));
  EXPECT_EQ(fault_of_xml(xml), "") << xml;
  for (const char* element : {"<testsuites name=\"assay check\"", "<testsuite name=\"a.simt\""}) {
    EXPECT_THAT(xml, HasSubstr(std::string(element) +
                               " tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\""));
  }
  EXPECT_THAT(xml, HasSubstr("<failure type=\"not_judged\" message=\"judged only 4 of 10 cases\""));
}

TEST(Conclusion, IsNoPassWhereAClaimWasNotJudgedAtAll) {
  const auto report =
      report_of({result(entry("a"), "within_bound", 10), result(entry("a"), "no_product", 0, 50)});
  const Conclusion conclusion = conclude(report);
  EXPECT_EQ(conclusion.code, ExitCode::wrong);
  EXPECT_EQ(conclusion.text(),
            "FAIL: the harness judged too little of 1 claim: a (no_product): judged nothing in 50 "
            "empty cases");
  EXPECT_THAT(table_text(report, Screen(stdout)), HasSubstr("none"));
  EXPECT_THAT(junit_of(report), HasSubstr("<failure type=\"not_judged\" message=\"judged nothing"));
  EXPECT_EQ(fault_of_xml(junit_of(report)), "");
}

TEST(Conclusion, IsNoPassWhereTooFewCasesWereJudged) {
  const auto report = report_of({result(entry("a"), "within_bound", 9, 1)});
  EXPECT_EQ(conclude(report).code, ExitCode::wrong);
  EXPECT_THAT(conclude(report).sentence, HasSubstr("judged only 9 of 10 cases"));
  EXPECT_THAT(table_text(report, Screen(stdout)), HasSubstr(" 9?"));
}

TEST(Conclusion, IsNothingJudgedWhereNoClaimWasJudged) {
  const auto report = report_of({result(entry("a"), "within_bound", 0, 50)});
  EXPECT_EQ(conclude(report).code, ExitCode::nothing_judged);
  EXPECT_EQ(conclude(report_of({})).code, ExitCode::nothing_judged);
}

TEST(Conclusion, IsThatTheMachineIsUnfitWhereTheHarnessFailed) {
  std::vector<ClaimResult> results;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    results.push_back(result(entry(name), "within_bound", 0));
    results.back().harness_error = std::string("no memory for ") + name;
  }
  const Conclusion conclusion = conclude(report_of(results));
  EXPECT_EQ(conclusion.code, ExitCode::unfit_environment);
  EXPECT_THAT(conclusion.text(),
              StartsWith("UNFIT: 6 claims could not be judged, which is no verdict on a variant: "
                         "within_bound (a): no memory for a; within_bound (b): "));
  EXPECT_THAT(conclusion.sentence, EndsWith("and 2 more reasons"));
  results.push_back(result(entry("g"), "within_bound", 9));  // too few of ten
  EXPECT_EQ(conclude(report_of(results)).code, ExitCode::unfit_environment);
}

TEST(Conclusion, TakesOneGivenCaseForEnough) {
  EXPECT_EQ(conclude(report_of({result(entry("a"), "within_bound", 1)}, true)).code,
            ExitCode::passed);
}

TEST(Conclusion, NamesTheBackendWhereAVariantRunsOnSeveral) {
  ClaimResult wrong = result(entry("a", Backend::cuda), "within_bound", 3);
  wrong.failure.emplace();
  wrong.failure->verdict = {.status = TrialStatus::hung, .reason = "it never ends"};
  wrong.failure->shrunk_fully = false;
  wrong.failure->shrink_steps = 4;
  const auto report = report_of({result(entry("a"), "within_bound", 10), wrong});
  const Conclusion conclusion = conclude(report);
  EXPECT_EQ(conclusion.code, ExitCode::wrong);
  EXPECT_EQ(conclusion.text(), "FAIL: 1 of 1 variant breaks 1 claim: a on cuda");
  EXPECT_THAT(conclusion.next, StartsWith("assay check a --backend cuda --claim within_bound "));
  const std::string text = failures_text(report, Screen(stdout));
  EXPECT_THAT(text, HasSubstr("a on cuda never ends: it never ends\n"));
  EXPECT_THAT(text, HasSubstr("(4 steps, cut short: a smaller case may fail too)"));
}

TEST(Conclusion, TellsAFaultOnceByTheClaimThatNamesIt) {
  const Claim& race = claim_named("no_data_race");
  ClaimResult ended = result(entry("a", Backend::ptx), "within_bound", 3);
  ended.interruption = Interruption{.names = &race, .c = {}, .verdict = {}};
  ClaimResult wrong = result(entry("a", Backend::ptx), "no_data_race", 4);
  wrong.failure.emplace();
  wrong.failure->verdict = {.status = TrialStatus::crashed,
                            .finding = {Fault::data_race},
                            .reason = "data race: made up",
                            .picture = "reads   mine.cu:3: x\nwrote   mine.cu:2: y\n"};
  const auto report = report_of({ended, wrong});
  EXPECT_EQ(conclude(report).text(), "FAIL: 1 of 1 variant breaks 1 claim: a");
  const std::string table = table_text(report, Screen(stdout)),
                    failures = failures_text(report, Screen(stdout));
  EXPECT_THAT(table, HasSubstr(" ends  FAIL"));
  EXPECT_THAT(table,
              HasSubstr("ends: bound: a: a trial ended at a fault that no_data_race names\n"));
  EXPECT_THAT(failures, HasSubstr("a on ptx crashes: data race: made up\n"));
  EXPECT_THAT(failures, HasSubstr("             wrote   mine.cu:2: y\n"));
  EXPECT_THAT(failures, testing::Not(HasSubstr("also fails")));
  EXPECT_THAT(json_of(report, conclude(report)), HasSubstr("interrupted"));
}

TEST(Conclusion, NamesTheClaimThatIsNotTrueWhereAnotherOneTellsIt) {
  ClaimResult wrong = result(entry("a", Backend::ptx), "within_bound", 0);
  wrong.failure.emplace();
  wrong.failure->names = &claim_named("no_data_race");
  const auto report = report_of({wrong});
  EXPECT_THAT(conclude(report).next,
              StartsWith("assay check a --backend ptx --claim no_data_race "));
  EXPECT_THAT(failures_text(report, Screen(stdout)),
              HasSubstr("'has no data race' (no_data_race) is not true"));
}

TEST(Table, TellsManyVariantsByTheirBackend) {
  std::vector<ClaimResult> results;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    results.push_back(result(entry(name), "within_bound", 10));
    results.push_back(result(entry(name, Backend::cuda), "within_bound", 10));
    results.back().exempt = Skip{Skip::By::claim, "so it is"};
  }
  EXPECT_THAT(table_text(report_of(results), Screen(stdout)),
              HasSubstr("- bound: all on cuda: so it is\n"));
}

TEST(Table, IsNeverWiderThanTheScreen) {
  std::vector<ClaimResult> results;
  for (const Claim& claim : claims())
    results.push_back(result(entry("blocktile_2d_8x8", Backend::cuda), claim.name, 10));
  const std::string text = table_text(report_of(results), Screen(stdout));
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    EXPECT_LE(end - begin, 120u) << text.substr(begin, end - begin);
    begin = end + 1;
  }
  for (const Claim& claim : claims()) EXPECT_THAT(text, HasSubstr(claim.heading));
}

TEST(Table, WritesNumbersInUnitsThatFit) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(9999), "9999");
  EXPECT_EQ(count_text(10000), "10.0 k");
  EXPECT_EQ(count_text(999499), "999 k");
  EXPECT_EQ(count_text(999500), "1.00 M");
  EXPECT_EQ(count_text(31200000), "31.2 M");
  EXPECT_EQ(duration_text(0.04), "0.0 s");
  EXPECT_EQ(duration_text(48.2), "48 s");
  EXPECT_EQ(duration_text(125), "2 min 5 s");
  EXPECT_EQ(duration_text(7260), "2 h 1 min");
}

}  // namespace
}  // namespace assay::tests
