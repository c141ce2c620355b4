// The course of cells over commits, from results that are written as the gate writes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/gate/gate_report.h"
#include "cli/tests/gates.h"
#include "cli/tests/program.h"
#include "cli/tests/read_json.h"
#include "cli/tests/xml.h"
#include "regress/history.h"

namespace assay::tests {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

const std::string of_naive = "naive m=64 n=32 k=16";

class HistoryOf : public testing::Test {
 protected:
  // What the gate found at the n-th commit; the 4th is later, and of a commit whose parent has no
  // result.
  GateResult found(int n, double ratio, CellOutcome outcome = CellOutcome::same) {
    GateResult result = gate({cell("naive", outcome, ratio), cell("tiled_4", CellOutcome::same)});
    for (GateLine& line : result.report.lines) {
      line.verdict.anchor_ratio = line.verdict.ratio;
      line.anchor_commit = "a";
    }
    result.report.lines[0].cause = "registers 40 -> 48";
    result.origin = {.commit = fmt::format("c{}", n),
                     .parent = n == 4 ? "unknown" : fmt::format("c{}", n - 1),
                     .commit_date = fmt::format("2026-01-0{}T00:00:00Z", n),
                     .date = "2026-02-01T00:00:00Z",
                     .harness = "assay",
                     .compiler = "nvcc 13"};
    return result;
  }
  std::string write(const std::string& name, const GateResult& result) {
    write_text(folder_ / name, json_of(result, conclude(result)));
    return folder_ / name;
  }
  Answer history(std::vector<std::string> words = {}) {
    if (words.empty()) words = {folder_ / "."};
    words.insert(words.begin(), "history");
    return run(words);
  }
  Folder folder_;
};

TEST_F(HistoryOf, ShowsEachCellAndTheCommitsThatChangedIt) {
  write("z.json", found(1, 1.0));
  write("b.json", found(2, 1.004));
  write("a.json", found(3, 1.06, CellOutcome::slower));
  write("y.json", found(4, 1.09, CellOutcome::slower));
  const Answer answer = history();
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("assay history: 2 cells, 4 runs on h200\n"));
  EXPECT_THAT(answer.out, HasSubstr(of_naive + "    109.00 us                   1.000  1.090  "));
  EXPECT_THAT(answer.out, HasSubstr("▄▄██\n"));
  EXPECT_THAT(answer.out, HasSubstr("\nc3 of 2026-01-03: " + of_naive +
                                    ": 5.6 % slower: registers 40 -> 48\n"));
  EXPECT_THAT(answer.out, HasSubstr("\nup to c4 of 2026-01-04: " + of_naive + ": 2.8 % slower"));
  EXPECT_THAT(answer.out, HasSubstr("  which one: ci/bisect c3 c4 \"" + of_naive + "\"\n"));
  EXPECT_THAT(answer.out, Not(HasSubstr(": tiled_4")));
}

TEST_F(HistoryOf, ShowsOneCellRunByRun) {
  write("1.json", found(1, 1.0));
  GateResult again = found(1, 1.002, CellOutcome::undecided);
  again.origin.date = "2026-02-02T00:00:00Z";
  write("2.json", again);
  const Answer answer = history({folder_ / ".", "--cell", of_naive, "--svg", folder_ / "a.svg"});
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("c1      2026-01-01  nvcc 13   100.00 us"));
  EXPECT_THAT(answer.out, HasSubstr("undecided\n")) << "that it was rolled again shows";
  EXPECT_THAT(answer.out, EndsWith("nothing changed by 1 % or more\n"));
  EXPECT_EQ(fault_of_xml(text_of(folder_ / "a.svg")), "");
  EXPECT_THAT(text_of(folder_ / "a.svg"), HasSubstr("<title>c1 undecided: 1.0020</title>"));
  expect_bad_input(history({folder_ / ".", "--cell", "naive m=64 n=32 k=17"}),
                   "none of the results has it (did you mean naive m=64 n=32 k=16?)");
}

TEST_F(HistoryOf, KnowsWhatWasProvenUnchanged) {
  GateResult result = found(1, 1);
  GateLine& line = result.report.lines[0];
  line = {.cell = line.cell, .verdict = {.outcome = CellOutcome::same}};
  line.batches.unchanged = true;
  line.accepted_us = 12.5;
  line.accepted_to_anchor = 1.015;
  const History read = read_history({write("1.json", result)});
  const HistoryPoint point = read.cells.at(line.cell).front().value();
  EXPECT_EQ(point.time_us, 12.5);
  EXPECT_EQ(point.to_anchor, 1.015);
  EXPECT_EQ(point.processes, 0);
}

TEST_F(HistoryOf, SeesNoChangeInAnAnchorThatMoved) {
  write("1.json", found(1, 1.2));
  GateResult moved = found(2, 1.0);
  for (GateLine& line : moved.report.lines) line.anchor_commit = "b";
  write("2.json", moved);
  EXPECT_THAT(history().out, EndsWith("nothing changed by 1 % or more\n"));
}

TEST_F(HistoryOf, LeavesOutWhatMeasuredNothing) {
  GateResult unfit = found(1, 1);
  unfit.report.lines.clear();
  unfit.report.unfit = "throttled";
  write("1.json", unfit);
  EXPECT_EQ(history().code, 77);
  write("2.json", found(2, 1));
  const Answer answer = history();
  EXPECT_EQ(answer.code, 0);
  EXPECT_THAT(answer.out, HasSubstr("left out: " + (folder_ / "./1.json")));
}

TEST_F(HistoryOf, RefusesInOneLineWhatIsNoResultOfOneCard) {
  expect_bad_input(history({folder_ / "none"}), "none: cannot be read");
  expect_bad_input(run({"history"}), "history of what? name results");
  expect_bad_input(history(), "holds no result: there is no file .json in it");
  const std::string good = write("1.json", found(1, 1));
  const std::string text = text_of(good);
  const auto refused = [&](const std::string& content, const std::string& why) {
    write_text(folder_ / "2.json", content);
    expect_bad_input(history(), why);
  };
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    EXPECT_NE(changed.find(from), changed.npos) << from;
    return changed.replace(changed.find(from), from.size(), to);
  };
  refused(text.substr(0, text.size() / 2), "2.json: no JSON: parse error");
  refused("", "2.json: no JSON");
  refused("{}", "2.json: is no result of `assay gate time --json`");
  refused(replaced("\"gate time\"", "\"bench\""), "is no result of `assay gate time --json`");
  refused(replaced("\"schema\": 2", "\"schema\": 3"), "was written by another version of assay");
  refused(replaced("\"origin\"", "\"older\""), "was written by another version of assay");
  refused(replaced("\"status\"", "\"stat\""), "results[0]: the field 'status' is missing");
  refused(replaced("\"commit\": \"c1\"", "\"commit\": \"\""),
          "has no commit: run the gate in a clone");
  refused(replaced("\"key\": \"h200\"", "\"key\": \"b200\""),
          "2.json is of b200: give the results of one card");
}

TEST_F(HistoryOf, IsWrittenWhereItComesFrom) {
  const auto json = ReadJson(text_of(write("1.json", found(2, 1))));
  EXPECT_EQ(json["origin"]["commit"], "c2");
  EXPECT_EQ(json["origin"]["parent"], "c1");
  EXPECT_EQ(json["origin"]["compiler"], "nvcc 13");
}

}  // namespace
}  // namespace assay::tests
