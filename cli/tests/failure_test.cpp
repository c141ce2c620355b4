// What the command says of variants with faults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/tests/program.h"
#include "cli/tests/read_json.h"
#include "cli/tests/xml.h"

namespace assay::tests {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

Circumstances faulty(std::map<std::string, std::string> environment = {}) {
  return {.program = ASSAY_WITH_FAULTS, .environment = std::move(environment)};
}

TEST(Failure, IsToldFromTheVerdictToTheNextCommand) {
  const Answer answer =
      run({"check", "right", "without_beta", "--cases", "20", "--no-corpus"}, faulty());
  EXPECT_EQ(answer.code, 1);
  EXPECT_THAT(answer.err, IsEmpty());
  EXPECT_THAT(answer.out, HasSubstr("FAIL"));
  EXPECT_THAT(answer.out,
              HasSubstr("without_beta on host is wrong: every element: beta * C is missing\n"
                        "  replay:    assay check without_beta --backend host "));
  EXPECT_THAT(answer.out, HasSubstr("\n  claim:     'matches the reference within the bound' "
                                    "(within_bound) is not true\n"));
  EXPECT_THAT(answer.out, HasSubstr("\n  original:  m="));
  EXPECT_THAT(answer.out, HasSubstr("\n  shrunk:    m=1 n=1 k="));
  EXPECT_THAT(answer.out, HasSubstr("\n  wrong:     "));
  EXPECT_THAT(answer.out, HasSubstr("\n             #\n"));
  EXPECT_THAT(answer.out, HasSubstr("\n  also fails: "));
  EXPECT_THAT(answer.out, Not(HasSubstr("\033")));
  const auto lines = answer.lines();
  ASSERT_GE(lines.size(), 2u);
  EXPECT_THAT(lines[lines.size() - 2],
              MatchesRegex("FAIL: 1 of 2 variants breaks [0-9]+ claims: without_beta"));
  EXPECT_THAT(lines.back(), StartsWith("next: assay check without_beta --backend host --claim "));
  const std::string next = lines.back().substr(std::string("next: ").size());
  EXPECT_THAT(answer.out, HasSubstr("\n  replay:    " + next + "\n"));
}

TEST(Failure, IsReplayedByTheNextCommand) {
  const Answer found = run({"check", "without_beta", "--cases", "20", "--no-corpus"}, faulty());
  auto words = words_of(found.last_line());
  words.erase(words.begin(), words.begin() + 2);  // "next: assay"
  const Answer replayed = run(words, faulty());
  EXPECT_EQ(replayed.code, 1) << replayed.out << replayed.err;
  EXPECT_EQ(replayed.last_line(), found.last_line());
}

TEST(Failure, OfAProcessIsAVerdict) {
  const Answer answer = run(
      {"check", "crashing", "--claim", "within_bound", "--cases", "10", "--no-corpus"}, faulty());
  EXPECT_EQ(answer.code, 1);
  EXPECT_THAT(answer.out, HasSubstr("\ncrashing on host crashes: the process of the trial was "));
  EXPECT_THAT(answer.out, HasSubstr("\n  shrunk:    m=3 n="));
}

TEST(Failure, NamesTheBranchBehindWhichItLies) {
  const Folder folder;
  const Answer answer = run({"check", "behind_a_branch", "--claim", "within_bound", "--no-corpus",
                             "--json", folder / "a.json", "--junit", folder / "a.xml"},
                            faulty());
  EXPECT_EQ(answer.code, 1);
  const std::string words = "only where `g.k >= 2048` is true: cli/tests/one_way.cu:38\n";
  EXPECT_THAT(answer.out, HasSubstr("\n  branch:    " + words + "  replay:    "));
  EXPECT_THAT(answer.out, HasSubstr("\n  shrunk:    m=1 n=1 k=2048 "));
  const auto json = ReadJson(text_of(folder / "a.json"));
  const auto& branch = json["results"][0]["failure"]["branch"];
  EXPECT_EQ(branch["file"], "cli/tests/one_way.cu");
  EXPECT_EQ(branch["line"], 38);
  EXPECT_EQ(branch["condition"], "g.k >= 2048");
  EXPECT_FALSE(branch["is_true"].is_null());
  EXPECT_THAT(text_of(folder / "a.xml"), HasSubstr("branch: only where `g.k &gt;= 2048` is true"));
}

// Nothing can be said of a kernel where the references cannot be had, or differ.
TEST(Failure, OfTheReferencesIsNoVerdict) {
  const Answer answer =
      run({"check", "right", "--cases", "2", "--no-corpus"}, faulty({{"BROKEN_WORKERS", "1"}}));
  EXPECT_EQ(answer.code, 4) << answer.out;
  EXPECT_THAT(answer.err, StartsWith("assay: nothing was judged: "));
  EXPECT_THAT(answer.out, Not(HasSubstr("PASS")));
}

// Here that there is too little memory: whether a variant is to blame, nobody can know.
TEST(Failure, OfTheHarnessIsNoVerdictAndCostsNoOther) {
  const Folder folder;
  const auto check = [&](const char* variant) {
    return run({"check", "cramping", variant, "--claim", "within_bound", "--claim", "wide_strides",
                "--cases", "20", "--jobs", "1", "--no-corpus", "--json", folder / "a.json",
                "--junit", folder / "a.xml"},
               faulty());
  };
  const Answer beside_right = check("right");
  EXPECT_EQ(beside_right.code, 4) << beside_right.out << beside_right.err;
  EXPECT_THAT(beside_right.out, HasSubstr("\nerror: wide: cramping: std::bad_alloc\n"));
  EXPECT_THAT(beside_right.last_line(),
              StartsWith("UNFIT: 1 claim could not be judged, which is no verdict on a variant: "
                         "wide_strides (cramping): std::bad_alloc"));
  const auto json = ReadJson(text_of(folder / "a.json"));
  EXPECT_EQ(json["exit_code"], 4);
  std::vector<std::string> statuses;
  for (const ReadJson& result : json["results"].items())
    statuses.push_back(result["status"].text());
  EXPECT_THAT(statuses, ElementsAre("holds", "error", "holds", "holds"));
  EXPECT_EQ(json["results"][1]["reason"], "std::bad_alloc");
  const std::string xml = text_of(folder / "a.xml");
  EXPECT_EQ(fault_of_xml(xml), "") << xml;
  EXPECT_THAT(xml, HasSubstr("tests=\"4\" failures=\"0\" errors=\"1\" skipped=\"0\""));
  EXPECT_THAT(xml, HasSubstr("<error type=\"not_judged\" message=\"std::bad_alloc\"/>"));

  const Answer beside_wrong = check("without_beta");
  EXPECT_EQ(beside_wrong.code, 1) << beside_wrong.out << beside_wrong.err;
  EXPECT_THAT(beside_wrong.out,
              HasSubstr("FAIL: 1 of 2 variants breaks 2 claims: without_beta; and 1 claim could "
                        "not be judged\n"));
}

TEST(Failure, IsReplayedWithItsWatchdog) {
  const Answer answer =
      run({"check", "without_beta", "--cases", "20", "--no-corpus", "--watchdog", "8"}, faulty());
  EXPECT_EQ(answer.code, 1) << answer.out;
  EXPECT_THAT(answer.last_line(), EndsWith(" --watchdog 8"));
  auto words = words_of(answer.last_line());
  words.erase(words.begin(), words.begin() + 2);  // "next: assay"
  EXPECT_EQ(run(words, faulty()).last_line(), answer.last_line());
}

TEST(Failure, DoesNotHideThatAnotherVariantRefused) {
  const Answer answer =
      run({"check", "right", "without_beta", "--case", "m=2 n=2 k=3 beta=2"}, faulty());
  EXPECT_EQ(answer.code, 1);
  EXPECT_THAT(answer.out, HasSubstr("right refused: lda = 3 is not a multiple of 4\n"));
}

TEST(Failure, IsInTheFiles) {
  const Folder folder;
  const Answer answer = run({"check", "without_beta", "odd", "--cases", "10", "--no-corpus",
                             "--json", folder / "a.json", "--junit", folder / "a.xml"},
                            faulty());
  EXPECT_EQ(answer.code, 1);
  const auto json = ReadJson(text_of(folder / "a.json"));
  EXPECT_EQ(json["verdict"], "FAIL");
  EXPECT_EQ(json["exit_code"], 1);
  const auto& result = json["results"][0];
  EXPECT_EQ(result["status"], "fails");
  const auto& failure = result["failure"];
  EXPECT_EQ(failure["status"], "wrong");
  EXPECT_THAT(failure["shrunk"].text(), StartsWith("m=1 n=1 "));
  EXPECT_THAT(failure["original"].text(), StartsWith("m="));
  EXPECT_THAT(failure["diagnosis"].text(), HasSubstr("beta * C is missing"));
  EXPECT_THAT(failure["replay"].text(), StartsWith("assay check without_beta "));
  EXPECT_GE(failure["shrink_steps"].number(), 1);

  const std::string xml = text_of(folder / "a.xml");
  EXPECT_EQ(fault_of_xml(xml), "") << xml;
  EXPECT_THAT(xml,
              HasSubstr("message=\"crashed: launch threw: odd &quot;&lt;&amp;&gt;&#39;\\x01\\xff"));
  EXPECT_THAT(xml, HasSubstr("<failure type=\"wrong\" message=\"wrong: "));
  const auto results = json["results"].items();
  const auto failures = std::count_if(results.begin(), results.end(),
                                      [](const ReadJson& r) { return r["status"] == "fails"; });
  EXPECT_THAT(
      xml, HasSubstr("<testsuites name=\"assay check\" tests=\"" + std::to_string(results.size()) +
                     "\" failures=\"" + std::to_string(failures) + "\""));
}

TEST(Worker, PrintsBesideTheResult) {
  Circumstances closed = faulty();
  closed.stderr_file = "-";
  for (const Circumstances& circumstances : {faulty(), closed}) {
    const Answer answer =
        run({"check", "chatty", "--cases", "2", "--no-corpus", "--json", "-"}, circumstances);
    EXPECT_EQ(answer.code, 0) << answer.out << answer.err;
    EXPECT_EQ(ReadJson(answer.out)["verdict"], "PASS") << answer.out;
    if (circumstances.stderr_file.empty()) {
      EXPECT_THAT(answer.err, HasSubstr("printed by a variant\n"));
    }
  }
}

TEST(Corpus, KeepsFailingCasesOnce) {
  const Folder folder;
  const std::vector<std::string> check = {
      "check",   "without_beta", "--cases",  "20",
      "--claim", "within_bound", "--corpus", folder / "corpus.txt"};
  const Answer first = run(check, faulty());
  EXPECT_EQ(first.code, 1);
  EXPECT_THAT(first.out, HasSubstr("kept for the next run: 1 failing case in "));
  const std::string kept = text_of(folder / "corpus.txt");
  EXPECT_THAT(kept, StartsWith("within_bound: m=1 n=1 "));
  const Answer second = run(check, faulty());
  EXPECT_EQ(second.code, 1);
  EXPECT_EQ(text_of(folder / "corpus.txt"), kept);
  EXPECT_THAT(second.out, Not(HasSubstr("kept for the next run")));
  EXPECT_THAT(second.out, HasSubstr("(0 steps)")) << "past failures are not tried first";
}

TEST(Corpus, IsLeftAloneOnRequestAndForAGivenCase) {
  const Folder folder;
  const std::string corpus = folder / "corpus.txt";
  EXPECT_EQ(
      run({"check", "without_beta", "--cases", "20", "--no-corpus", "--corpus", corpus}, faulty())
          .code,
      1);
  EXPECT_EQ(
      run({"check", "without_beta", "--case", "m=1 n=1 k=1 beta=2", "--corpus", corpus}, faulty())
          .code,
      1);
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(Corpus, ThatCannotBeWrittenIsAWarning) {
  const Answer answer = run({"check", "without_beta", "--cases", "20"}, faulty());
  EXPECT_EQ(answer.code, 1);
  EXPECT_THAT(answer.err, StartsWith("assay: warning: failing cases are not kept: "));
  EXPECT_EQ(std::count(answer.err.begin(), answer.err.end(), '\n'), 1) << answer.err;
}

TEST(Failure, IsRedOnATerminal) {
  if (!has_terminal()) GTEST_SKIP() << no_terminal;
  Circumstances terminal = faulty();
  terminal.on_terminal = true;
  const Answer answer =
      run({"check", "without_beta", "--case", "m=1 n=1 k=1 beta=2", "--claim", "within_bound"},
          terminal);
  EXPECT_THAT(answer.out, HasSubstr("\033[1;31mFAIL\033[0m"));
}

}  // namespace
}  // namespace assay::tests
