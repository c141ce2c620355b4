// Results of several machines and shards, put together; and files that are none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/errors.h"
#include "report/compare.h"
#include "report/tests/results.h"
#include "report/verdict.h"

namespace assay::report::tests {
namespace {

using testing::HasSubstr;

TEST(Merging, AddsTheCasesOfShardsAndCountsNoneTwice) {
  const Results results;
  results.add("a.json", check({claim("naive", "within_bound")}));
  Json near = claim("naive", "within_bound");
  near["worst_gulps"] = 12;
  results.add("b.json", check({near}, 1));
  results.add("c.json", check({claim("naive", "within_bound")}, 1));
  results.add("d.json", check({claim("naive", "within_bound", "holds", "ptx")}));
  const Report report = results.report();
  ASSERT_EQ(report.variants.size(), 1u);
  const auto& claims = report.variants[0].claims;
  ASSERT_EQ(claims.size(), 2u);
  EXPECT_EQ(claims[0].cases, 200);
  EXPECT_EQ(claims[0].worst_gulps, 12);
  EXPECT_EQ(claims[0].sources.size(), 3u);
  EXPECT_EQ(claims[1].backend, "ptx");
  EXPECT_EQ(verdict_of(report).sentence, "1 variant right in 300 cases");
}

TEST(Merging, ShowsWhereResultsContradictEachOther) {
  const Results results;
  results.add("a.json", check({claim("naive", "beta_zero")}));
  results.add("b.json", check({claim("naive", "beta_zero", "fails")}, 0, "fedcba9876543210-dirty"));
  results.add("c.json", gate({cell("naive", "slower", 1.03)}));
  results.add("d.json", gate({cell("naive", "same", 1.001)}));
  const Verdict verdict = verdict_of(results.report());
  EXPECT_EQ(verdict.word, "FAIL");
  std::vector<std::string> contradictions;
  for (const Attention& item : verdict.attention)
    if (item.kind == Kind::contradiction) contradictions.push_back(item.what);
  ASSERT_EQ(contradictions.size(), 2u);
  EXPECT_THAT(contradictions[0], HasSubstr("a.json (commit 1234567890ab), fails in "));
  EXPECT_THAT(contradictions[0], HasSubstr("b.json (commit fedcba987654 and changes)"));
  EXPECT_THAT(contradictions[1], HasSubstr("naive is slower in "));
}

TEST(Merging, ShowsAContradictionInWhateverOrderTheResultsCome) {
  const Results results;
  results.add("a.json", check({claim("naive", "beta_zero", "fails")}));
  results.add("b.json", check({claim("naive", "beta_zero")}));
  const auto attention = verdict_of(results.report()).attention;
  EXPECT_TRUE(std::ranges::any_of(
      attention, [](const Attention& item) { return item.kind == Kind::contradiction; }));
}

TEST(Merging, SaysThatNothingWasJudged) {
  const Results results;
  results.add("a.json", check({claim("naive", "graph", "exempt")}));
  EXPECT_THAT(verdict_of(results.report()).sentence, HasSubstr("no variant was judged"));
}

TEST(Merging, KeepsCardsApart) {
  const Results results;
  results.add("a.json", gate({cell("naive", "slower", 1.03)}));
  results.add("b.json", gate({cell("naive", "same", 1.001)}, "NVIDIA H100"));
  const Report report = results.report();
  EXPECT_EQ(report.variants[0].cells.size(), 2u);
  EXPECT_EQ(verdict_of(report).sentence,
            "1 of 2 cells is slower: naive, 1 not slower, 1.0 % would have been seen");
  results.add("c.json", bench("naive", "NVIDIA H200"));
  results.add("d.json", bench("naive", "NVIDIA H100"));
  results.add("e.json", bench("naive", "NVIDIA H100"));
  EXPECT_EQ(results.report().variants[0].timings.size(), 2u);
}

TEST(Merging, LeavesOutWhatAVoidMeasurementSays) {
  const Results results;
  Json json = gate({cell("naive", "slower", 1.3)});
  json["unfit"] = json["summary"] = "UNFIT: throttled";
  json["exit_code"] = 4;
  results.add("a.json", json);
  const Verdict verdict = verdict_of(results.report());
  EXPECT_EQ(verdict.word, "UNDECIDED");
  ASSERT_EQ(verdict.attention.size(), 1u);
  EXPECT_EQ(verdict.attention[0].what, "assay gate time: UNFIT: throttled");
}

TEST(Verdict, TellsItsPower) {
  const Results results;
  Json json = check({claim("naive", "within_bound"), claim("tiled_4", "within_bound"),
                     claim("tiled_4", "no_data_race", "exempt")});
  json["cases"] = 100'000;
  json["paths"] = {{{"variant", "naive"},
                    {"comparisons", 7},
                    {"went_both_ways", 6},
                    {"one_way",
                     {{{"file", "kernels/naive.cu"},
                       {"line", 31},
                       {"source", "if (k >= 2048) {"},
                       {"evidence", "compared with 2048, only 1 to 1024 came"}}}},
                    {"unknown", ""}}};
  json["results"][0]["cases"] = 412'000;
  results.add("a.json", json);
  results.add("b.json", gate({cell("naive", "same", 0), cell("tiled_4", "same", 1.001)}));
  const Verdict verdict = verdict_of(results.report());
  EXPECT_EQ(verdict.word, "PASS");
  EXPECT_EQ(verdict.sentence,
            "2 variants right in 412,100 cases; 2 cells not slower, 1.0 % would have been seen; "
            "1 comparison never went both ways");
}

TEST(Verdict, NamesTheLeadingFailureAndItsReplayLine) {
  const Results results;
  results.add("a.json", check({claim("tiled_4", "beta_zero", "fails"),
                               failing("tiled_4", "the last of 65 columns"),
                               claim("naive", "within_bound")}));
  const Verdict verdict = verdict_of(results.report());
  EXPECT_EQ(verdict.sentence, "1 of 2 variants is wrong: tiled_4; 1 right in 300 cases");
  const Attention& item = verdict.attention.at(0);
  EXPECT_EQ(item.what, "tiled_4 is wrong: the last of 65 columns");
  EXPECT_EQ(item.repeat, "assay check tiled_4 --case \"m=33 n=65 k=17\"");
  EXPECT_THAT(item.details, testing::Contains("also fails: beta_zero"));
}

TEST(Verdict, IsNoPassWhereNothingWasJudged) {
  const Results results;
  results.add("a.json", check({}));
  Json none = check({claim("naive", "graph", "exempt")});
  none["exit_code"] = 77;
  results.add("a.json", none);
  EXPECT_EQ(verdict_of(results.report()).word, "NOTHING JUDGED");
  results.add("b.json", check({claim("naive", "graph", "error")}, 1));
  EXPECT_EQ(verdict_of(results.report()).word, "UNDECIDED");
}

std::vector<std::string> differences(const Results& before, const Results& after) {
  std::vector<std::string> lines;
  for (const Difference& one : compared(before.report(), after.report()).differences)
    lines.push_back(std::string(to_string(one.change)) + ": " + one.what);
  return lines;
}

TEST(Comparing, TellsWhatBecameDifferent) {
  const Results before, after;
  Json near = claim("mine", "any_data");
  near["worst_gulps"] = 9;
  before.add("a.json", check({claim("mine", "within_bound"), claim("mine", "any_data"),
                              claim("mine", "graph", "fails"), claim("mine", "refuses"),
                              claim("gone", "refuses"), claim("mine", "beta_zero")}));
  after.add("a.json", check({failing("mine", "every element"), near, claim("mine", "graph"),
                             claim("mine", "refuses", "error"), claim("mine", "beta_zero")}));
  before.add("b.json", gate({cell("mine", "same", 1.0), cell("mine", "same", 1.03, "m=1 n=1 k=1"),
                             cell("mine", "same", 1.0, "m=2 n=2 k=2")}));
  after.add("b.json", gate({cell("mine", "slower", 1.04), cell("mine", "same", 1.0, "m=1 n=1 k=1"),
                            cell("mine", "same", 1.005, "m=2 n=2 k=2")}));
  before.add("c.json", bench("mine", "NVIDIA H200"));
  Json slow = bench("mine", "NVIDIA H200");
  slow["results"][0]["percent_of_cublas"] = {{"value", 70.0}, {"low", 69.0}, {"high", 71.0}};
  after.add("c.json", slow);
  EXPECT_THAT(
      differences(before, after),
      testing::ElementsAre(
          "worse: mine on simt, within_bound turned wrong: every element",
          "worse: mine on simt, any_data came closer to the bound: 9.00 of 16.0 gulps, before 2.00 "
          "of 16.0",
          "worse: mine m=64 n=32 k=16: +4.00 % of its time over the anchor's",
          "worse: mine m=64 n=32 k=16: 70.0 % of cuBLAS's speed, before 83.0 %",
          "lost: mine on simt, refuses is no longer judged: made up as error",
          "lost: gone is in the first result alone", "better: mine on simt, graph turned right",
          "better: mine m=1 n=1 k=1: -2.91 % of its time over the anchor's"));
  EXPECT_THAT(differences(before, before), testing::IsEmpty());
  EXPECT_EQ(compared(before.report(), before.report()).in_common, 10);
}

TEST(Reading, TakesWhatOlderCommandsWrote) {
  Json old = check({claim("naive", "within_bound")});
  for (const char* key : {"origin", "machine", "device", "next"}) old.erase(key);
  old["schema"] = 1;
  const Results results;
  results.add("a.json", old);
  const Report report = results.report();
  EXPECT_EQ(report.sources[0].code(), "an unknown commit");
  EXPECT_EQ(verdict_of(report).word, "PASS");
}

TEST(Reading, RefusesByNameWhatIsNoResult) {
  const Results results;
  const auto refused = [&](const std::string& text, const std::string& why) {
    const std::string file = results.add("a.json", text);
    try {
      read_report({file});
      ADD_FAILURE() << "read: " << text.substr(0, 60);
    } catch (const BadInput& error) {
      EXPECT_THAT(error.what(), HasSubstr("a.json"));
      EXPECT_THAT(error.what(), HasSubstr(why));
    }
  };
  const Json good = check({claim("naive", "within_bound")});
  const std::string text = text_of(good);
  refused("", "no JSON");
  refused(text.substr(0, text.size() / 2), "no JSON");
  refused("{}", "is no result of an assay command");
  refused("[1, 2]", "is no result of an assay command");
  Json json = good;
  json["schema"] = 3;
  refused(text_of(json), "is of schema 3, and this assay reads schemas 1 and 2");
  json = good;
  json["command"] = "calibrate";
  json["schema"] = 1;
  refused(text_of(json), "`assay calibrate` can no longer be read: run it again");
  json = good;
  json["command"] = "bake";
  refused(text_of(json), "command: expected one of");
  json = good;
  json["results"][0].erase("cases");
  refused(text_of(json), "results[0]: the field \"cases\" is missing");
  json = good;
  json["results"][0]["status"] = "fine";
  refused(text_of(json), "results[0].status: expected one of");
  json = good;
  json.erase("origin");
  refused(text_of(json), "the field \"origin\" is missing");
  EXPECT_THROW(read_report({results.folder() + "/none.json"}), BadInput);
  std::filesystem::remove(results.folder() + "/a.json");
  EXPECT_THROW(results.report(), BadInput) << "an empty folder";
}

}  // namespace
}  // namespace assay::report::tests
