// `assay report`, from what the program itself wrote to files that other programs read.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/bench/bench.h"
#include "cli/gate/gate_report.h"
#include "cli/tests/gates.h"
#include "cli/tests/program.h"
#include "cli/tests/read_json.h"
#include "cli/tests/xml.h"

namespace assay::tests {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// A failing check, a calibration, a gate with something slower, and a bench.
std::string written_results(const Folder& folder) {
  run({"check", "--cases", "20", "--no-corpus", "--quiet", "--json", folder / "check.json"},
      {.program = ASSAY_WITH_FAULTS});
  run({"calibrate", "naive", "--json", folder / "calibrate.json"});
  GateResult gated = gate({cell("naive", CellOutcome::same), slower(), without_baseline()});
  gated.origin.commit = "1234567890abcdef";
  write_text(folder / "gate.json", json_of(gated, conclude(gated)));
  BenchResult benched;
  benched.report.peak_tflops = 64;
  benched.report.memory_gb_s = 4400;
  for (const char* variant : {"naive", "cublas", "a_name_much_longer_than_there_is_room_for"}) {
    for (const char* problem : {"m=64 n=32 k=16", "m=1024 n=512 k=1024", "m=513 n=1001 k=777"})
      benched.report.lines.push_back({.cell = parse_cell(fmt::format("{} {}", variant, problem)),
                                      .time_us = {12.3, 12.1, 12.6, 3},
                                      .tflops = 3.5,
                                      .percent_of_cublas = {83, 82, 84, 3}});
  }
  write_text(folder / "bench.json", json_of(benched, conclude(benched)));
  return folder / ".";
}

TEST(ReportCommand, WritesWhatOthersCanRead) {
  const Folder folder;
  const std::string results = written_results(folder);
  const Answer answer =
      run({"report", results, "--html", folder / "a.html", "--md", folder / "a.md", "--junit",
           folder / "a.xml", "--sarif", folder / "a.sarif"});
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_THAT(answer.out, StartsWith("FAIL: 4 of 9 variants are wrong: behind_a_branch, "));
  EXPECT_THAT(answer.out, HasSubstr("1 of 3 cells is slower: warptiled"));
  EXPECT_THAT(answer.out, HasSubstr("\nthe report: " + folder / "a.html" + "\n"));
  EXPECT_EQ(fault_of_xml(text_of(folder / "a.xml")), "");
  EXPECT_EQ(ReadJson(text_of(folder / "a.sarif"))["version"], "2.1.0");
  EXPECT_THAT(text_of(folder / "a.md"), StartsWith("### assay: FAIL\n"));

  const std::string page = text_of(folder / "a.html");
  const std::string doctype = "<!DOCTYPE html>\n";
  EXPECT_THAT(page, StartsWith(doctype));
  EXPECT_THAT(page, HasSubstr("odd &quot;&lt;&amp;&gt;&#39;\\x01"));
}

TEST(ReportCommand, AnnotatesAChangeOnGitHub) {
  const Folder folder;
  run({"check", "behind_a_branch", "--cases", "20", "--no-corpus", "--json", folder / "a.json"},
      {.program = ASSAY_WITH_FAULTS});
  const Answer answer =
      run({"report", folder / "a.json"}, {.environment = {{"GITHUB_ACTIONS", "true"}}});
  EXPECT_THAT(answer.out, HasSubstr("\n::error file=cli/tests/one_way.cu,line=38,"));
  EXPECT_EQ(run({"report", folder / "a.json"}).out.find("::error"), std::string::npos);
}

TEST(ReportCommand, RefusesWhatItCannotRead) {
  const Folder folder;
  expect_bad_input(run({"report"}), "report on what? name files");
  expect_bad_input(run({"report", folder / "."}), "holds no result");
  expect_bad_input(run({"report", folder / "none.json"}), "none.json: cannot be read");
  write_text(folder / "a.json", "{\"schema\": 9, \"command\": \"check\"}");
  expect_bad_input(run({"report", folder / "a.json", "--html", folder / "a.html"}),
                   "a.json: is of schema 9");
  EXPECT_FALSE(std::filesystem::exists(folder / "a.html"));
}

TEST(ShowCommand, DrawsWhatIsWrong) {
  const Folder folder;
  const Answer wrong = run({"show", "without_beta", "--case", "m=3 n=5 k=2 beta=1", "--claim",
                            "within_bound", "--html", folder / "a.html"},
                           {.program = ASSAY_WITH_FAULTS});
  EXPECT_EQ(wrong.code, 1) << wrong.err;
  EXPECT_THAT(wrong.out, StartsWith("without_beta on host: every element: beta * C is missing\n"
                                    "    C, 3 x 5\n"));
  EXPECT_THAT(wrong.out, HasSubstr("█"));
  EXPECT_THAT(wrong.out, HasSubstr("\n  repeat:    assay check without_beta --backend host "));
  EXPECT_THAT(text_of(folder / "a.html"), HasSubstr("Wrong elements of C: 3 rows, 5 columns"));
  const Answer right = run({"show", "naive", "--case", "m=3 n=5 k=2", "--backend", "simt"});
  EXPECT_EQ(right.code, 0);
  EXPECT_THAT(right.out, StartsWith("naive on simt: right\n  holds:     within_bound, "));
  expect_bad_input(run({"show", "naive"}), "show what? name one variant, and --case");
}

TEST(CompareCommand, FailsWhereSomethingBecameWorse) {
  const Folder folder;
  const auto check = [&](const std::string& name, const char* program) {
    run({"check", name, "--cases", "5", "--no-corpus", "--json", folder / name},
        {.program = program});
  };
  check("right", ASSAY_WITH_FAULTS);
  check("without_beta", ASSAY_WITH_FAULTS);
  std::string renamed = text_of(folder / "without_beta");
  for (std::size_t at; (at = renamed.find("\"without_beta\"")) != renamed.npos;)
    renamed.replace(at, 14, "\"right\"");
  write_text(folder / "wrong", renamed);
  const Answer worse = run({"compare", folder / "right", folder / "wrong"});
  EXPECT_EQ(worse.code, 1) << worse.err;
  EXPECT_THAT(worse.out, StartsWith("- worse: right on host, within_bound turned wrong: "));
  EXPECT_THAT(worse.last_line(), StartsWith("WORSE: "));
  EXPECT_EQ(run({"compare", folder / "wrong", folder / "right"}).code, 0);
  EXPECT_EQ(run({"compare", folder / "right", folder / "right"}).code, 0);
  EXPECT_EQ(run({"compare", folder / "right", folder / "without_beta"}).code, 77);
  expect_bad_input(run({"compare", folder / "right"}), "compare what with what?");
}

Answer look_at(const std::string& page) {
  return run({page}, {.program = ASSAY_BROWSER_TEST,
                      .environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}}});
}

TEST(ReportPage, WorksInABrowser) {
  const Folder folder;
  run({"report", written_results(folder), "--html", folder / "a.html", "--history",
       folder / "gate.json"});
  const Answer answer = look_at(folder / "a.html");
  if (answer.code == 77) GTEST_SKIP() << answer.out;
  EXPECT_EQ(answer.code, 0) << answer.out << answer.err;
}

TEST(Pictures, AreOfWhatIsRecorded) {
  const Answer answer = run({"--check"}, {.program = ASSAY_SCRIPTS "/pictures",
                                          .environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                                                          {"ASSAY_PROGRAM", ASSAY_PROGRAM}}});
  EXPECT_EQ(answer.code, 0) << answer.out << answer.err;
}

TEST(BrowserTest, SeesWhatIsWrongWithAPage) {
  const Folder folder;
  write_text(
      folder / "a.html",
      "<!DOCTYPE html><html lang=en><title>a</title><h1>a</h1>"
      "<a href='#nowhere'>a</a><a href='https://example.com/'>b</a>"
      "<p id=x>a</p><p id=x>b</p><p style='color:#999;background:#fff'>pale</p>"
      "<div style='width:2000px'>wide</div><img src='https://example.com/a.png'>"
      "<svg role=img viewBox='0 0 9 9'><text>much too wide</text></svg><table><tr><td>1</table>"
      "<script>console.error('no'); throw new Error('never')</script>");
  const Answer answer = look_at(folder / "a.html");
  if (answer.code == 77) GTEST_SKIP() << answer.out;
  EXPECT_EQ(answer.code, 1);
  for (const char* fault :
       {"a link leads nowhere: #nowhere", "a link leaves the page", "the id stands twice: x",
        "contrast 2.8", "px wide in a window of 360", "a request: https://example.com/a.png",
        "a plot without text alternative", "a plot without title", "a plot cuts its text: much",
        "a table without headings", "on the console", "an exception"})
    EXPECT_THAT(answer.out, HasSubstr(fault));
}

}  // namespace
}  // namespace assay::tests
