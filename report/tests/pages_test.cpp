// The pages and files that are made of results, whoever wrote them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "base/errors.h"
#include "report/mask.h"
#include "report/page/page.h"
#include "report/tests/results.h"
#include "report/verdict.h"
#include "report/views.h"
#include "report/words.h"

namespace assay::report::tests {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Words, AreReadable) {
  EXPECT_EQ(grouped(412039), "412,039");
  EXPECT_EQ(grouped(-1000), "-1,000");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(magnitude(31'200), "31.2 k");
  EXPECT_EQ(change_of(0.99999), "+0.00 %");
  EXPECT_EQ(change_of(std::nan("")), "-");
  EXPECT_EQ(shortened("a\nb\nc\n", 2),
            "a\nb\n… 1 line and 2 bytes left out here: the result has all of it\n");
  EXPECT_EQ(shortened("äöü", 1, 3),
            "ä\n… 1 line and 4 bytes left out here: the result has all of it\n");
  EXPECT_EQ(shortened("a\nb", 2), "a\nb");
}

TEST(Page, ShowsAFailureWithItsPicture) {
  const Results results;
  results.add("a.json", check({failing("tiled_4", "the last of 65 columns")}));
  const std::string page = html_of(results.report());
  for (const char* part : {"the last of 65 columns", "m=33 n=65 k=17", "m=100 n=200 k=300",
                           "assay check tiled_4 --case &quot;m=33 n=65 k=17&quot;",
                           "Wrong elements of C: 33 rows, 65 columns",
                           "1 of 6 fields hold wrong elements", "32 of 2145 elements are wrong"})
    EXPECT_THAT(page, HasSubstr(part));
}

TEST(Mask, ShowsTilesAsBlocks) {
  const Failure failure = {.shrunk = "m=3 n=4 k=1", .picture = "...#\n....\n###.\n"};
  ASSERT_TRUE(is_mask(failure));
  const Mask mask = mask_of(failure, {.tile_m = 2, .tile_n = 2});
  EXPECT_EQ(mask.wrong(), 4u);
  EXPECT_EQ(blocks_of(mask),
            "C, 3 x 4, tiles of 2 x 2\n"
            "··│·█\n"
            "··│··\n"
            "──┼──\n"
            "██│█·\n");
  EXPECT_FALSE(is_mask({.picture = "wrote   mine.cu:2: y\n"}));
  EXPECT_FALSE(is_mask({}));
}

TEST(Page, TellsWhatWasNotTested) {
  const Results results;
  Json json = gate({cell("naive", "same", 1.0)});
  json["not_watched"] = {"naive m=2048 n=2048 k=2048: takes too long"};
  results.add("a.json", json);
  const std::string page = html_of(results.report());
  EXPECT_THAT(page, HasSubstr("not watched: naive m=2048 n=2048 k=2048: takes too long"));
  EXPECT_THAT(
      page, HasSubstr("not in any result of `assay check`, which tells right from wrong: of all"));
}

TEST(Page, ShowsKernelsAndPlantedFaults) {
  Json compiled = head("codegen");
  compiled["comparisons"] = Json::array();
  compiled["results"] = {{{"name", "tiled<32>"},
                          {"symbol", "_Z"},
                          {"file", "tiled.cu"},
                          {"architecture", 90},
                          {"code", "c1d20eea1234567"},
                          {"registers", 127},
                          {"stack_bytes", 0},
                          {"shared_bytes", 8192},
                          {"barriers", 2},
                          {"instructions", Json::object()}}};
  Json planted = head("defects");
  planted["results"] = {{{"name", "dropped_k_tail"},
                         {"backend", "simt"},
                         {"must_be_killed_by", "within_bound"},
                         {"claims",
                          {{{"claim", "within_bound"},
                            {"killed", true},
                            {"cases", 3},
                            {"seconds", 0.1},
                            {"shrunk", "m=1 n=1 k=33"},
                            {"says", "the contribution of k = 32 is missing"}}}}},
                        {{"name", "survivor"},
                         {"backend", "simt"},
                         {"must_be_killed_by", "beta_zero"},
                         {"claims", Json::array()}}};
  const Results results;
  results.add("a.json", compiled);
  results.add("b.json", planted);
  const std::string page = html_of(results.report());
  for (const char* part : {"tiled&lt;32&gt;", "<td>127</td>", "sm_90", "dropped_k_tail",
                           "✗</span> survived", "the contribution of k = 32 is missing"})
    EXPECT_THAT(page, HasSubstr(part));
}

// What a kernel names itself, throws or prints reaches the page as text alone.
TEST(Pages, CannotBeBrokenByWhatTheyShow) {
  const std::string hostile = "<script>alert(1)</script>&\"'\x01``` | ~";
  std::string lines;
  for (int i = 0; i < 10'000; ++i) lines += "line of a diagnosis " + std::to_string(i) + "\n";
  Json wrong = failing(hostile, hostile);
  wrong["failure"]["reason"] = wrong["reason"] = lines;
  wrong["failure"]["picture"] = lines;
  Json vague = claim("naive", "within_bound");
  vague["worst_gulps"] = Json();
  Json slow = cell("naive", "slower", 1.1);
  slow["ratio"] = slow["head_us"] = slow["interval_99"]["low"] = Json();
  const Results results;
  results.add("a.json", check({wrong, vague}));
  results.add("b.json", gate({slow}));
  const Report report = results.report();
  const std::string page = html_of(report), comment = markdown_of(report);
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;&#39;\\x01"));
  EXPECT_THAT(page, HasSubstr("left out here: the result has all of it"));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
  EXPECT_LT(page.size(), 200'000u);
  EXPECT_THAT(comment, Not(HasSubstr("<script>")));
  EXPECT_LT(comment.size(), 60'000u);
  EXPECT_THAT(junit_of(report), Not(HasSubstr("<script>")));
  EXPECT_NO_THROW(parse_json(sarif_of(report), "sarif"));
}

TEST(Page, TellsABranchWhoseWayIsUnknown) {
  Json wrong = failing("mine", "every element");
  wrong["failure"]["branch"] = {
      {"file", "kernels/mine.cu"}, {"line", 7}, {"condition", "k > 9"}, {"is_true", Json()}};
  const Results results;
  results.add("a.json", check({wrong}));
  EXPECT_THAT(html_of(results.report()),
              HasSubstr("only where `k &gt; 9` goes the other way than in cases that pass: "
                        "kernels/mine.cu:7"));
}

TEST(History, IsTheCourseOfAVariantsTimes) {
  const Results now, then;
  now.add("a.json", gate({cell("naive", "same", 1.0)}));
  Json second = gate({cell("naive", "slower", 1.04), cell("naive", "same", 1.0, "m=1 n=1 k=1"),
                      cell("naive", "same", 1.01, "m=2 n=1 k=1"), cell("gone", "same", 1.0)});
  second["origin"]["commit"] = "second5678";
  second["origin"]["commit_date"] = "2026-01-02T00:00:00Z";
  Json first = gate({cell("naive", "same", 0.99)});
  first["origin"]["commit"] = "first45678";
  first["origin"]["commit_date"] = "2026-01-01T00:00:00Z";
  Json unfit = second;
  unfit["unfit"] = "throttled";
  unfit["origin"]["commit"] = "unfit45678";
  Json& unchanged = second["results"][2];
  unchanged["unchanged"] = true;
  unchanged["anchor_ratio"] = 0;
  unchanged["accepted_to_anchor"] = 1.01;
  then.add("a.json", second);
  then.add("b.json", first);
  then.add("c.json", unfit);
  Report report = now.report();
  add_history(report, {then.folder()});
  EXPECT_EQ(verdict_of(report).word, "PASS") << "what was slower then is no matter now";
  EXPECT_EQ(report.variants.size(), 1u);
  EXPECT_THAT(html_of(report),
              HasSubstr("Time over commits on NVIDIA H200. second5: median +1.00 %, slowest +4.00 "
                        "% (m=64 n=32 k=16), first45: median -1.00 %, slowest -1.00 % "));
  then.add("d.json", bench("naive", "NVIDIA H200"));
  EXPECT_THROW(add_history(report, {then.folder()}), BadInput);
}

TEST(Ladder, StandsBesideWhatAnArticleMeasured) {
  const Results results;
  results.add("a.json", bench("tiled_32", "NVIDIA H200", "m=1024 n=512 k=1024"));
  results.add("b.json", bench("mine", "NVIDIA H200", "m=1024 n=512 k=1024"));
  results.add("c.json", bench("tiled_32", "NVIDIA H200", "m=1024 n=1024 k=512"));
  results.add("d.json", bench("tiled_32", "NVIDIA H200", "m=513 n=1001 k=777 beta=2 ldc=+1"));
  const std::string page = html_of(results.report());
  EXPECT_THAT(page, HasSubstr("Percent of cuBLAS at m=1024 n=512 k=1024. tiled_32 83.0, the "
                              "article 23.2; mine 83.0</title>"));
  EXPECT_THAT(page, HasSubstr("Time at m=513 n=1001 k=777 beta=2 ldc=+1. tiled_32 83.0, the "
                              "article 160</title>"));
  EXPECT_THAT(page, Not(HasSubstr("at m=1024 n=1024 k=512."))) << "the sizes in their order stand";
}

TEST(Ladder, NeedsItsProblems) {
  const Results results;
  results.add("a.json", bench("tiled_32", "NVIDIA H200", "m=1024 n=512 k=1023"));
  Json refused = bench("naive", "NVIDIA H200", "m=1024 n=512 k=1024");
  refused["results"][0]["status"] = "not_timed";
  results.add("b.json", refused);
  EXPECT_THAT(html_of(results.report()), Not(HasSubstr("id=\"ladder\"")));
}

TEST(Roofline, IsOfMemoryOrOfArithmetic) {
  const Results results;
  Json fast = bench("fast", "NVIDIA H200", "m=1024 n=1024 k=1024");
  fast["peak_tflops"] = 60;
  fast["memory_gb_s"] = 4000;
  fast["results"][0]["tflops"] = 30;
  fast["results"].push_back(fast["results"][0]);
  fast["results"][1]["problem"] = "m=2048 n=2048 k=16 beta=2";  // 3.969 FLOP a byte: 15.9
  fast["results"][1]["tflops"] = 8;
  Json slow = fast;
  for (Json& line : slow["results"]) {
    line["variant"] = "slow";
    line["tflops"] = 0.5;
  }
  results.add("a.json", slow);
  results.add("b.json", fast);
  const std::string page = html_of(results.report());
  EXPECT_THAT(page, HasSubstr("each problem on NVIDIA H200. m=1024 n=1024 k=1024: fast 30.0 "
                              "TFLOP/s, 50 % of the roof"));
  EXPECT_THAT(page, HasSubstr("m=2048 n=2048 k=16 beta=2: fast 8.00 TFLOP/s, 50 % of the roof"));
  EXPECT_THAT(page, HasSubstr("m=1024 n=1024 k=1024: slow 0.50 TFLOP/s, 1 % of the roof"));
}

TEST(Speed, OfAnotherArithmeticIsInAClassOfItsOwn) {
  const Results results;
  Json fast = bench("in_parts", "NVIDIA H200", "m=1024 n=512 k=1024");
  fast["results"][0]["arithmetic"] = "tf32x3";
  for (const char* of_ffma : {"percent_of_peak", "percent_of_roofline"})
    fast["results"][0][of_ffma] = 0.0;
  fast["results"][0]["tflops"] = 90;
  Json slow = bench("plain", "NVIDIA H200", "m=1024 n=512 k=1024");
  slow["results"][0]["arithmetic"] = "fp32";
  for (Json* one : {&fast, &slow}) (*one)["peak_tflops"] = 60, (*one)["memory_gb_s"] = 4000;
  results.add("a.json", fast);
  results.add("b.json", slow);
  const std::string page = html_of(results.report());
  EXPECT_THAT(page, HasSubstr("m=1024 n=512 k=1024: plain 2.50 TFLOP/s, 4 % of the roof"))
      << "the roof is that of FFMA";
  EXPECT_THAT(page, HasSubstr(">in_parts (tf32x3)</a>"));
  EXPECT_THAT(page, HasSubstr("in_parts (tf32x3) 83.0"));
  EXPECT_THAT(page, Not(HasSubstr("plain (")));
}

TEST(Markdown, LeadsWithTheVerdictAndStaysShort) {
  const Results results;
  std::vector<Json> claims;
  for (int i = 0; i < 2000; ++i)
    claims.push_back(failing("kernel_" + std::to_string(i), "every element"));
  results.add("a.json", check(claims));
  const std::string text = markdown_of(results.report());
  EXPECT_THAT(text, StartsWith("### assay: FAIL\n\n2,000 of 2,000 variants are wrong: kernel\\_0"));
  EXPECT_LT(text.size(), 60'000u);
  EXPECT_THAT(text, HasSubstr("The rest is left out here"));
}

TEST(Sarif, StandsAtTheLinesThatAreAtFault) {
  Json wrong = failing("mine", "data race");
  wrong["failure"]["picture"] = "reads   kernels/mine.cu:31: x\nwrote   kernels/mine.cu:29: y\n";
  wrong["failure"]["claim"] = "no_data_race";
  Json outside = failing("other", "reads outside");
  outside["failure"]["picture"] = "reads   /elsewhere/other.cu:7: x\n";
  const Results results;
  results.add("a.json", check({wrong, outside}));
  const Report report = results.report();
  const Json sarif = parse_json(sarif_of(report), "sarif");
  const Json& result = sarif["runs"][0]["results"][0];
  EXPECT_EQ(result["ruleId"], "no_data_race");
  EXPECT_EQ(result["level"], "error");
  const Json& place = result["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "kernels/mine.cu");
  EXPECT_EQ(place["region"]["startLine"], 31);
  EXPECT_EQ(result["relatedLocations"].size(), 1u);
  EXPECT_FALSE(sarif["runs"][0]["results"][1].contains("locations"));
  EXPECT_THAT(annotations_of(report),
              StartsWith("::error file=kernels/mine.cu,line=31,title=mine%3A no_data_race::mine is "
                         "wrong: data race%0A"));
}

TEST(JUnit, HasATestForEachClaimAndCell) {
  const Results results;
  results.add("a.json",
              check({failing("mine", "every element"), claim("mine", "graph", "exempt")}));
  results.add("b.json",
              gate({cell("mine", "slower", 1.03), cell("mine", "same", 1, "m=1 n=1 k=1")}));
  const std::string xml = junit_of(results.report());
  EXPECT_THAT(xml, HasSubstr("tests=\"4\" failures=\"2\" errors=\"0\" skipped=\"1\""));
  EXPECT_THAT(xml, HasSubstr("<failure type=\"fails\" message=\"every element\">every element\n"));
  EXPECT_THAT(xml,
              HasSubstr("<testcase classname=\"mine.time.NVIDIA H200\" name=\"m=64 n=32 k=16\">"));
}

TEST(Page, IsSmallAndSoonWritten) {
  const Results results;
  std::vector<Json> claims, cells;
  for (int v = 0; v < 20; ++v) {
    const std::string name = "variant_" + std::to_string(v);
    for (const char* backend : {"simt", "ptx", "cuda", "host"})
      for (int c = 0; c < 25; ++c)
        claims.push_back(
            claim(name, "claim_" + std::to_string(c), c == v ? "exempt" : "holds", backend));
    for (int p = 1; p <= 30; ++p)
      cells.push_back(
          cell(name, "same", 1.001, "m=" + std::to_string(p) + " n=513 k=777 alpha=1.5 beta=-0.5"));
  }
  results.add("check.json", check(claims));
  for (const char* name : {"1.json", "2.json", "3.json"}) results.add(name, gate(cells));
  const auto start = std::chrono::steady_clock::now();
  Report report = results.report();
  for (VariantReport& variant : report.variants)
    for (int i = 0; i < 200; ++i)
      variant.history.push_back({"1234567890ab", "NVIDIA H200", 30, 1, 1.01, "m=1 n=513 k=777"});
  const std::string page = html_of(report);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  EXPECT_LT(page.size(), 3u << 20);
  EXPECT_LT(time.count(), 20)
      << "unoptimised, on a machine that others share: 0.5 s when it is idle";
}

}  // namespace
}  // namespace assay::report::tests
