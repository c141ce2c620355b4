// What a gate's cells amount to, and how it reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/errors.h"
#include "cli/gate/gate_report.h"
#include "cli/tests/gates.h"

namespace assay::tests {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

int exit_code(const GateResult& result) { return static_cast<int>(conclude(result).code); }

std::string text(const GateResult& result) {
  return gate_text(result, conclude(result), Screen(stdout));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

TEST(GateExit, PassesWhatIsTheSameOrFaster) {
  EXPECT_EQ(exit_code(gate({cell("a", CellOutcome::same)})), 0);
  EXPECT_EQ(
      exit_code(gate({cell("a", CellOutcome::faster, 0.9), cell("b", CellOutcome::faster, 0.8)})),
      0);
}

TEST(GateExit, FailsWhatIsSlowerOrWrong) {
  EXPECT_EQ(exit_code(gate({cell("a", CellOutcome::same), slower()})), 1);
  EXPECT_EQ(exit_code(gate({cell("a", CellOutcome::same), wrong()})), 1);
}

TEST(GateExit, FailsACreepWhateverItsLastStep) {
  GateLine crept = cell("a", CellOutcome::slower, 1.001);
  crept.verdict.crept = true;
  EXPECT_EQ(exit_code(gate({crept})), 1);
}

TEST(GateExit, IsNeverACount) {
  for (std::size_t cells : {2u, 77u, 255u, 256u, 512u})
    EXPECT_EQ(exit_code(gate(std::vector<GateLine>(cells, slower()))), 1) << cells;
  EXPECT_EQ(exit_code(gate(std::vector<GateLine>(256, cell("a", CellOutcome::undecided)))), 3);
  EXPECT_EQ(exit_code(gate(std::vector<GateLine>(256, cell("a", CellOutcome::invalid)))), 4);
}

TEST(GateExit, TellsTheWorst) {
  const GateLine undecided = cell("a", CellOutcome::undecided),
                 invalid = cell("b", CellOutcome::invalid);
  EXPECT_EQ(exit_code(gate({undecided, invalid, slower()})), 1);
  EXPECT_EQ(exit_code(gate({undecided, invalid, cell("c", CellOutcome::same)})), 3);
  EXPECT_EQ(exit_code(gate({invalid, cell("c", CellOutcome::same), without_baseline()})), 4);
  EXPECT_EQ(exit_code(gate({cell("c", CellOutcome::same), without_baseline()})), 5);
}

TEST(GateExit, IsUnfitWhereTheMeasurementIsVoid) {
  GateResult result = gate({slower()});
  result.report.unfit = "somebody else uses the GPU";
  EXPECT_EQ(exit_code(result), 4) << "what is void makes nothing slower";
  EXPECT_THAT(text(result), Not(HasSubstr("slower: ")));
  result.report.lines = {wrong()};
  EXPECT_EQ(exit_code(result), 1) << "but a wrong result stays wrong";
  EXPECT_THAT(conclude(result).sentence, HasSubstr("somebody else uses the GPU"));
  result.report.lines.clear();
  EXPECT_EQ(exit_code(result), 4);
}

TEST(GateExit, TellsNoBaselineFromNothingToJudge) {
  GateResult none = gate({});
  EXPECT_EQ(exit_code(none), 77);
  none.report.new_variants = {"mine"};
  EXPECT_EQ(exit_code(none), 5);
  EXPECT_THAT(conclude(none).sentence, HasSubstr("assay accept time mine --reason"));

  GateResult foreign;
  foreign.no_baseline = "baselines has no baseline for b200; it has h200";
  EXPECT_EQ(exit_code(foreign), 5);
  EXPECT_EQ(text(foreign),
            "NO BASELINE: baselines has no baseline for b200; it has h200; run "
            "`assay accept time --reason \"first baseline\"`\n");

  GateResult nowhere;
  nowhere.why_not = "no GPU";
  EXPECT_EQ(exit_code(nowhere), 77);
  EXPECT_EQ(text(nowhere), "NOTHING JUDGED: no GPU\n");
}

TEST(GateExit, LetsANewVariantPass) {
  GateResult result = gate({cell("a", CellOutcome::same)});
  result.report.new_variants = {"mine", "other"};
  EXPECT_EQ(exit_code(result), 0);
  EXPECT_THAT(text(result), HasSubstr("new, without a baseline: mine, other; "));
  EXPECT_THAT(text(result),
              HasSubstr("`assay accept time mine other --reason \"first baseline\"`"));
}

TEST(GateExit, LetsNothingThatWasWatchedGoWithoutAReason) {
  GateResult result = gate({cell("a", CellOutcome::same)});
  result.report.gone_variants = {"old", "older"};
  result.report.new_variants = {"mine"};
  for (bool quiet : {false, true}) {
    result.request.quiet = quiet;
    EXPECT_EQ(exit_code(result), 5);
    EXPECT_THAT(text(result),
                StartsWith("NO BASELINE: old, older are gone: nothing is compared with what was "
                           "accepted, though it may be there by another name\n"
                           "next: assay accept time --remove old --remove older --reason "
                           "\"WHY\"\n"));
  }
  result.report.lines.push_back(slower());
  EXPECT_EQ(exit_code(result), 1);
  result.report.lines.clear();
  EXPECT_EQ(exit_code(result), 5);
  result.report.lines = {cell("a", CellOutcome::same)};

  // Nothing that could be done about it would help: another commit has what it has.
  result.request.quiet = false;
  result.request.against = "main";
  EXPECT_EQ(exit_code(result), 0);
  EXPECT_THAT(text(result),
              HasSubstr("gone, with a baseline that nothing is compared with: old, older\n"));
}

TEST(GateExit, TellsCellsWithoutARecordOrAnAnchor) {
  GateResult result = gate({cell("a", CellOutcome::same)});
  result.report.unwatched.for_a_reason = {"naive m=9 n=9 k=9: one launch takes 9.0 ms"};
  EXPECT_EQ(exit_code(result), 0);
  EXPECT_THAT(text(result), HasSubstr("\nnot watched: naive m=9 n=9 k=9: one launch takes 9.0"));
  result.report.unwatched.without_anchor = {"b m=1 n=1 k=1"};
  EXPECT_EQ(exit_code(result), 5);
  EXPECT_THAT(text(result), EndsWith("NO BASELINE: 1 cell has no anchor, which git may still know\n"
                                     "next: assay accept time b --reason \"WHY\" --move-anchor "
                                     "\"WHY\"\n"));
  result.report.unwatched.without_record = {"c m=1 n=1 k=1", "c m=2 n=2 k=2"};
  EXPECT_THAT(text(result), HasSubstr("\nwithout a baseline: c m=2 n=2 k=2\n"));
  EXPECT_THAT(text(result), EndsWith("NO BASELINE: 2 cells have no baseline\n"
                                     "next: assay accept time c --reason \"WHY\" --only-new\n"));
  result.report.unwatched.without_record = {"c m=1 n=1 k=1", "c m=2 n=2 k=2", "d m=1 n=1 k=1",
                                            "d host m=1 n=1 k=1"};
  EXPECT_THAT(text(result), HasSubstr("\nwithout a baseline: 4 cells of c (2), d (2), such as "
                                      "c m=1 n=1 k=1; --json names all\n"))
      << "one line for many";
}

TEST(GateExit, FailsWhatAChangeAcceptsItself) {
  GateResult result = gate({cell("a", CellOutcome::same)});
  result.request.base = "abc";
  EXPECT_EQ(exit_code(result), 0);
  result.report.accepted_here = {
      "a m=1 n=1 k=1: 1.1600 (1.1500 to 1.1700) of the time of the "
      "baseline, 1.2600 (1.2500 to 1.2700) of the anchor's, because: x"};
  for (const CellOutcome outcome : {CellOutcome::same, CellOutcome::faster, CellOutcome::undecided,
                                    CellOutcome::invalid, CellOutcome::no_baseline}) {
    result.report.lines = {cell("a", outcome)};
    EXPECT_EQ(exit_code(result), 1) << to_string(outcome);
  }
  EXPECT_THAT(text(result),
              EndsWith("FAIL: this change accepts 1 thing itself: whoever reviewed the "
                       "ratios and reasons lets it pass with --accepted-by-review\n"
                       "next: ci/gate --accepted-by-review\n"));
  EXPECT_THAT(text(result), HasSubstr("\nthis change accepts: a m=1 n=1 k=1: 1.1600 (1.1500 to"));
  EXPECT_THAT(markdown_of(result, conclude(result)),
              HasSubstr("\nthis change accepts: a m=1 n=1 k=1: 1.1600 (1.1500 to 1.1700) of the "));
  result.report.lines.clear();
  EXPECT_EQ(exit_code(result), 1);
  result.report.lines = {slower()};
  EXPECT_THAT(conclude(result).sentence, StartsWith("1 of 1 cell is slower"));
  result.report.lines = {cell("a", CellOutcome::same)};
  result.request.accepted_by_review = true;
  EXPECT_EQ(exit_code(result), 0);
  EXPECT_THAT(text(result), HasSubstr("\nthis change accepts: a m=1 n=1 k=1")) << "still told";
  EXPECT_EQ(repeat_line(slower(), result.request),
            "assay gate time --base abc --accepted-by-review --cell \"warptiled m=64 n=32 k=16\"");
}

TEST(GateText, LeadsAndEndsWithTheVerdictWhereItFails) {
  const auto lines = lines_of(text(gate({cell("a", CellOutcome::same), slower(), wrong()})));
  EXPECT_EQ(lines.front(), "FAIL: 1 of 3 cells is wrong, 1 is slower: naive");
  EXPECT_EQ(lines.back(), lines.front());
}

TEST(GateText, SaysLittleOfWhatPasses) {
  const std::string said = text(gate({cell("a", CellOutcome::same), cell("b", CellOutcome::same)}));
  EXPECT_THAT(said, StartsWith("assay gate time: 2 cells on NVIDIA H200, seed 0\n"));
  EXPECT_THAT(said, Not(HasSubstr("made up as same")));
  EXPECT_THAT(said,
              EndsWith("PASS: 2 cells are not slower; a slowdown of 1.1 % would have been seen\n"));
}

TEST(GateText, TellsHowToAcceptWhatIsFaster) {
  GateResult result = gate({cell("a", CellOutcome::same), cell("b", CellOutcome::faster, 0.9),
                            cell("c", CellOutcome::faster, 0.9)});
  EXPECT_THAT(text(result),
              EndsWith("PASS: 3 cells are not slower, 2 are faster, which can be lost again unseen "
                       "until it is accepted; a slowdown of 1.1 % would have been seen\n"
                       "next: assay accept time b c --reason \"WHAT MADE IT FASTER\"\n"));
  result.request.against = "main";
  EXPECT_THAT(text(result), Not(HasSubstr("assay accept")));
}

TEST(GateText, TellsOfThePowerLimitAndOfAnotherCompiler) {
  GateResult result = gate({cell("a", CellOutcome::same)});
  result.report.device["power_limit"] = "72 W";
  result.report.at_power_limit = true;
  result.report.other_compiler = "every cell changed with the compiler, nvcc 13 -> nvcc 14";
  EXPECT_THAT(text(result),
              HasSubstr("\nthis card ran at its power limit of 72 W: what draws more"));
  EXPECT_THAT(text(result),
              HasSubstr("\nevery cell changed with the compiler, nvcc 13 -> nvcc 14"));
}

TEST(GateText, TellsOfAnAnchorThatMoved) {
  GateResult result = gate({cell("a", CellOutcome::same)});
  result.report.moved_anchors = {"a: 3 of 10 cells, up to 1.163 times the anchor before"};
  EXPECT_THAT(text(result), HasSubstr("\nover the budget of creep: a: 3 of 10 cells, up to "));
}

TEST(GateText, AlwaysSaysWhatItCouldHaveSeen) {
  const std::string could =
      "the smallest slowdown that this run could have seen is 1.1 %: 90 cells proven unchanged, 5 "
      "of them timed as controls; 28 timed in 12 processes; 85 s\n";
  for (bool quiet : {false, true}) {
    for (const auto& lines : std::vector<std::vector<GateLine>>{
             {cell("a", CellOutcome::same)}, {slower()}, {cell("a", CellOutcome::undecided)}, {}}) {
      GateResult result = gate(lines);
      result.request.quiet = quiet;
      EXPECT_THAT(text(result), HasSubstr(could));
    }
  }
  GateResult proven = gate({cell("a", CellOutcome::same)});
  proven.report.detectable = 0;
  EXPECT_THAT(text(proven), HasSubstr("no cell was timed well enough"));
  EXPECT_THAT(text(proven), Not(HasSubstr("would have been seen")));
}

TEST(GateText, TellsAllOfASlowerCell) {
  const std::string said = text(gate({slower()}));
  EXPECT_THAT(said,
              HasSubstr("\nslower: warptiled m=64 n=32 k=16: made up as slower\n"
                        "  ratio:     1.0312, 99 % interval 1.0292 to 1.0342, from 12 "
                        "processes\n"
                        "  time:      103.1 us, baseline 100.0 us, at 1980 MHz\n"
                        "  cause:     registers 128 -> 168\n"
                        "  repeat:    assay gate time --cell \"warptiled m=64 n=32 k=16\"\n"));
}

TEST(GateText, TellsWhatWouldSettleAnUndecidedCell) {
  GateLine line = cell("a", CellOutcome::undecided, 1.006);
  line.verdict.processes_needed = 40;
  EXPECT_THAT(
      text(gate({line})),
      HasSubstr("  needs:     about 40 processes to settle it\n"
                "  repeat:    assay gate time --processes 40 --cell \"a m=64 n=32 k=16\"\n"));
  line.verdict.processes_needed = 123456;
  EXPECT_THAT(text(gate({line})), HasSubstr("gate time --processes 1000 --cell "));
  EXPECT_THAT(text(gate({line})), StartsWith("UNDECIDED: 1 of 1 cell is undecided: a\n"));
}

TEST(GateText, NamesACreepAsSuch) {
  GateLine line = cell("a", CellOutcome::slower, 1.004);
  line.verdict.crept = true;
  line.verdict.anchor_ratio = 1.0231;
  EXPECT_THAT(text(gate({line})), HasSubstr("\nslower by creep: a m=64 n=32 k=16: "));
  EXPECT_THAT(text(gate({line})), HasSubstr("  anchor:    1.0231 of its time\n"));
}

// A launch that waits for the GPU: all 21 cells of its variant are invalid for that.
TEST(GateText, TellsOneOfManyThatAreAlike) {
  GateResult result = gate({cell("a", CellOutcome::invalid), cell("a", CellOutcome::invalid),
                            cell("a", CellOutcome::invalid), cell("b", CellOutcome::invalid)});
  for (GateLine& line : result.report.lines) line.verdict.reason = "its launch waits";
  result.report.lines[1].cell.problem = parse_case("m=2 n=2 k=2");
  result.report.lines[2].cell.problem = parse_case("m=3 n=3 k=3");
  const std::string told = text(result);
  EXPECT_THAT(told, HasSubstr("\n  also:      2 cells of a, for the same reason\n"));
  EXPECT_THAT(told, Not(HasSubstr("m=3 n=3 k=3")));
  EXPECT_THAT(told, HasSubstr("invalid: b m=64 n=32 k=16: its launch waits\n"));
}

TEST(GateText, SaysWhyACellIsInvalidOrWrong) {
  GateLine invalid{.cell = parse_cell("a m=1 n=2 k=3")};
  invalid.verdict.reason = "the control differs from itself";
  const std::string said = text(gate({invalid, wrong()}));
  EXPECT_THAT(said, HasSubstr("\ninvalid: a m=1 n=2 k=3: the control differs from itself\n"
                              "  repeat: "));
  EXPECT_THAT(said, HasSubstr("\nwrong: naive m=64 n=32 k=16: its result is wrong: 3 elements\n"));
  EXPECT_LT(said.find("\nwrong: "), said.find("\ninvalid: ")) << "the worst comes first";
}

TEST(GateText, KeepsToFailuresWhenQuiet) {
  GateResult result = gate({cell("a", CellOutcome::faster, 0.9), slower()});
  result.report.new_variants = {"mine"};
  result.report.gone_variants = {"old"};
  result.report.not_gated = {"cublas: its code is in a library"};
  EXPECT_THAT(text(result), HasSubstr("\nfaster: a "));
  EXPECT_THAT(text(result), HasSubstr("\nnot gated: cublas: its code is in a library\n"));
  EXPECT_THAT(text(result), HasSubstr("gone, with a baseline that nothing is compared with: old"));
  result.request.quiet = true;
  EXPECT_THAT(text(result), Not(HasSubstr("faster: ")));
  EXPECT_THAT(text(result), Not(HasSubstr("mine")));
  EXPECT_THAT(text(result), HasSubstr("\nslower: warptiled"));
}

TEST(GateText, RepeatsWithTheSameBaseline) {
  GateRequest request;
  request.baselines = "/elsewhere";
  EXPECT_EQ(repeat_line(slower(), request),
            "assay gate time --baselines \"/elsewhere\" --cell \"warptiled m=64 n=32 k=16\"");
  request.against = "main";
  EXPECT_EQ(repeat_line(slower(), request),
            "assay gate time --against main --cell \"warptiled m=64 n=32 k=16\"");
}

TEST(GateExplanation, HasEveryNumber) {
  GateLine line = slower();
  line.verdict.anchor_ratio = 1.05;
  line.batches.extra = {replicate(1.05)};
  line.batches.extra[0].fault = "the clocks differ";
  line.batches.extra[0].to_anchor = std::log(1.04);
  const std::string said = explanation_text(line, Screen(stdout));
  for (const char* part :
       {"slower: warptiled m=64 n=32 k=16", "1.0312, 99 % interval 1.0292 to 1.0342",
        "1e-06 that it is not slower by more than the margin", "0.040 % from process to process",
        "0.90 % slower, with 95 % probability", "1.0500 of its time", "registers 128 -> 168",
        "\nscreen ", "\nconfirm ", "\nextra ", "+3.120", "+4.000", "+0.000", "the clocks differ",
        "103.120", "1980", "0.010", "20"})
    EXPECT_THAT(said, HasSubstr(part));
  const auto lines = lines_of(said);
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                          [](const auto& l) { return l.find("+3.120") != l.npos; }),
            3)
      << "a line for each process\n"
      << said;
  GateResult result = gate({cell("a", CellOutcome::same), line});
  result.request.explain = to_string(line.cell);
  EXPECT_THAT(text(result), HasSubstr(said));
  EXPECT_THAT(text(result), Not(HasSubstr("repeat:")));
}

TEST(GateExplanation, SaysSoWhereNothingWasMeasured) {
  GateLine line{.cell = parse_cell("a m=1 n=2 k=3")};
  line.verdict = {.outcome = CellOutcome::same, .reason = "proven unchanged"};
  EXPECT_THAT(explanation_text(line, Screen(stdout)), HasSubstr("measured:  nothing"));
}

}  // namespace
}  // namespace assay::tests
