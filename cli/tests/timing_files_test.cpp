// What was timed and decided, as files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/accept/accept.h"
#include "cli/gate/gate_report.h"
#include "cli/tests/gates.h"
#include "cli/tests/read_json.h"
#include "cli/tests/xml.h"

namespace assay::tests {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

ReadJson parsed(const GateResult& result) { return ReadJson(json_of(result, conclude(result))); }

TEST(GateJson, HasWhatWasPrintedAndEveryNumber) {
  GateResult result = gate({cell("a", CellOutcome::same), slower()});
  result.request.arguments = {"assay", "gate", "time"};
  const auto json = parsed(result);
  EXPECT_EQ(json["schema"], 2);
  EXPECT_EQ(json["command"], "gate time");
  EXPECT_EQ(json["argv"][2], "time");
  EXPECT_EQ(json["verdict"], "FAIL");
  EXPECT_EQ(json["exit_code"], 1);
  EXPECT_EQ(json["device"]["name"], "NVIDIA H200");
  EXPECT_EQ(json["detectable"], 0.011);
  EXPECT_EQ(json["proven_unchanged"], 90);
  EXPECT_EQ(json["processes"], 12);
  const auto& line = json["results"][1];
  EXPECT_EQ(line["status"], "slower");
  EXPECT_EQ(line["cause"], "registers 128 -> 168");
  EXPECT_EQ(line["interval_99"]["low"], 1.0312 - 0.002);
  ASSERT_EQ(line["confirm"].size(), 2u);
  EXPECT_EQ(line["confirm"][0]["log_to_baseline"], std::log(1.0312));
  EXPECT_TRUE(line["confirm"][0]["log_to_anchor"].is_null());
  EXPECT_EQ(line["confirm"][0]["dropped"], 2);
  EXPECT_EQ(line["rounds"][0][0]["head"]["time_us"], 100 * 1.0312);
  EXPECT_FALSE(line["rounds"][0][0].contains("twin")) << "an arm that was not run";
  EXPECT_EQ(line["repeat"], "assay gate time --cell \"warptiled m=64 n=32 k=16\"");
}

TEST(GateJson, KeepsTheRoundsOfWhatIsOfInterest) {
  GateResult result = gate({cell("a", CellOutcome::same)});
  EXPECT_FALSE(parsed(result)["results"][0].contains("rounds"));
  result.request.explain = to_string(result.report.lines[0].cell);
  EXPECT_TRUE(parsed(result)["results"][0].contains("rounds"));
}

TEST(GateMarkdown, LeadsWithTheVerdict) {
  GateLine odd = slower();
  odd.cause = "a|b <i>\nnext line";
  GateResult result = gate({cell("a", CellOutcome::same), odd});
  result.report.new_variants = {"mine"};
  const std::string text = markdown_of(result, conclude(result));
  EXPECT_THAT(text, StartsWith("### Timing gate: FAIL\n\n1 of 2 cells is slower: warptiled\n"));
  EXPECT_THAT(text, HasSubstr("| slower | `warptiled m=64 n=32 k=16` | +3.12 % | +2.92 % to +3.42 "
                              "% | 103.12 us | 100.00 us | 1980 MHz | made up as slower; a\\|b "
                              "&lt;i> next line |\n"));
  EXPECT_THAT(text, HasSubstr("- `assay gate time --cell \"warptiled m=64 n=32 k=16\"`\n"));
  EXPECT_THAT(text, HasSubstr("`assay accept time mine --reason"));
  EXPECT_THAT(text, HasSubstr("the smallest slowdown that this run could have seen is 1.1 %"));
  EXPECT_THAT(text, HasSubstr("<details><summary>All 2 cells</summary>"));
  EXPECT_LT(text.find("<details>"), text.find("| same | `a m=64")) << "what is the same is folded";
}

TEST(GateMarkdown, IsShortWhereNothingWasJudged) {
  GateResult result;
  result.why_not = "no GPU";
  EXPECT_EQ(markdown_of(result, conclude(result)), "### Timing gate: NOTHING JUDGED\n\nno GPU\n\n");
}

TEST(GateJUnit, HasATestForEachCell) {
  GateLine odd = slower("naive");
  odd.cell.problem = parse_case("m=1 n=2 k=3");
  odd.cause = "a < b & \"c\"";
  const std::string xml =
      junit_of(gate({cell("naive", CellOutcome::same), odd, cell("b", CellOutcome::undecided),
                     cell("c", CellOutcome::invalid), wrong("d"), without_baseline("e"),
                     cell("f", CellOutcome::faster, 0.9)}));
  EXPECT_EQ(fault_of_xml(xml), "") << xml;
  EXPECT_THAT(xml, HasSubstr("<testsuites name=\"assay gate time\" tests=\"7\" failures=\"2\" "
                             "errors=\"2\" skipped=\"1\" time=\"85.000\">"));
  EXPECT_THAT(xml, HasSubstr("<testsuite name=\"naive\" tests=\"2\" failures=\"1\" errors=\"0\""));
  EXPECT_THAT(xml, HasSubstr("<testcase classname=\"naive\" name=\"m=64 n=32 k=16\"/>"));
  EXPECT_THAT(xml, HasSubstr("<failure type=\"slower\" message=\"made up as slower\">"));
  EXPECT_THAT(xml, HasSubstr("cause: a &lt; b &amp; &quot;c&quot;"));
  EXPECT_THAT(xml, HasSubstr("<failure type=\"wrong\" message=\"its result is wrong"));
  EXPECT_THAT(xml, HasSubstr("<error type=\"undecided\" "));
  EXPECT_THAT(xml, HasSubstr("<error type=\"invalid\" "));
  EXPECT_THAT(xml, HasSubstr("<skipped message=\"no baseline\"/>"));
}

TEST(GateJUnit, IsNeverGreenWithoutACell) {
  GateResult nowhere;
  nowhere.why_not = "no GPU";
  EXPECT_EQ(fault_of_xml(junit_of(nowhere)), "");
  EXPECT_THAT(junit_of(nowhere), HasSubstr("<skipped message=\"no GPU\"/>"));
  GateResult unfit;
  unfit.report.unfit = "throttled";
  EXPECT_EQ(fault_of_xml(junit_of(unfit)), "");
  EXPECT_THAT(junit_of(unfit), HasSubstr("errors=\"1\""));
  EXPECT_THAT(junit_of(unfit), HasSubstr("<error type=\"unfit\" message=\"throttled\"/>"));
  GateResult none;
  none.no_baseline = "nothing for this card";
  EXPECT_THAT(junit_of(none), HasSubstr("<error type=\"no baseline\" message=\"nothing for this"));
}

TEST(AcceptJson, HasWhatWasAccepted) {
  AcceptResult result;
  result.request.reason = "first";
  result.report = {.folder = "baselines/h200",
                   .accepted = {"naive"},
                   .not_gated = {"cublas: a library"},
                   .lines = {{parse_cell("naive m=1 n=2 k=3"), {}, {1.01, 1, 1.02, 12}, ""}}};
  const auto json = ReadJson(json_of(result, conclude(result)));
  EXPECT_EQ(json["schema"], 2);
  EXPECT_EQ(json["command"], "accept time");
  EXPECT_EQ(json["reason"], "first");
  EXPECT_EQ(json["accepted"][0], "naive");
  EXPECT_EQ(json["not_gated"][0], "cublas: a library");
  EXPECT_EQ(json["cells"], 1);
  EXPECT_EQ(json["results"][0]["to_anchor"]["ratio"], 1.01);
  EXPECT_TRUE(json["results"][0]["to_baseline"].is_null());
  EXPECT_EQ(json["exit_code"], 0);
}

}  // namespace
}  // namespace assay::tests
