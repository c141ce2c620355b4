// What the commands about speed say to a command line, with and without a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/accept/accept.h"
#include "cli/bench/bench.h"
#include "cli/gate/gate.h"
#include "cli/tests/baselines.h"
#include "cli/tests/program.h"
#include "cli/tests/read_json.h"
#include "cli/tests/xml.h"

namespace assay::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

template <class Request>
Request parsed(std::vector<std::string> words) {
  words.insert(words.begin(), "assay");
  Request request;
  Flags flags("assay " + words[1], "");
  add_flags(flags, request);
  EXPECT_TRUE(flags.read(words));
  return request;
}

TEST(BenchFlags, AreRead) {
  const auto usual = parsed<BenchRequest>({"bench"});
  EXPECT_THAT(usual.variants, IsEmpty());
  EXPECT_EQ(usual.processes, 3);
  EXPECT_FALSE(usual.warm);
  const auto given = parsed<BenchRequest>({"bench", "--problem", "m=1 n=2 k=3", "naive", "--warm",
                                           "--processes", "12", "--problem=m=4 n=5 k=6", "eigen",
                                           "--seed", "7", "--quiet", "--json", "-"});
  EXPECT_THAT(given.variants, ElementsAre("naive", "eigen"));
  EXPECT_THAT(given.problems, ElementsAre("m=1 n=2 k=3", "m=4 n=5 k=6"));
  EXPECT_EQ(given.processes, 12);
  EXPECT_EQ(given.seed, 7u);
  EXPECT_TRUE(given.warm);
  EXPECT_TRUE(given.quiet);
  EXPECT_EQ(given.json, "-");
  EXPECT_EQ(given.arguments.front(), "assay");
}

TEST(GateFlags, AreReadInAnyOrder) {
  const auto usual = parsed<GateRequest>({"gate", "time"});
  EXPECT_THAT(usual.baselines, testing::EndsWith("/baselines"));
  EXPECT_FALSE(usual.cell || usual.explain || usual.against || usual.all);
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"gate", "time", "naive", "--all", "--against", "main", "--markdown", "a.md"},
           {"gate", "--markdown", "a.md", "--against=main", "time", "--all", "naive"}}) {
    const auto given = parsed<GateRequest>(words);
    EXPECT_THAT(given.variants, ElementsAre("naive"));
    EXPECT_TRUE(given.all);
    EXPECT_EQ(given.against, "main");
    EXPECT_EQ(given.markdown, "a.md");
  }
}

TEST(GateFlags, AskForMoreProcessesNeverForFewer) {
  EXPECT_EQ(parsed<GateRequest>({"gate", "time"}).processes, 12);
  EXPECT_EQ(parsed<GateRequest>({"gate", "time", "--processes", "40"}).processes, 40);
  expect_bad_input(run({"gate", "time", "--processes", "11"}),
                   "--processes is a whole number from 12 to 1000");
}

TEST(GateFlags, ThatContradictEachOtherAreRefused) {
  const std::string cell = "naive m=1 n=2 k=3";
  expect_bad_input(run({"gate", "time", "--cell", cell, "--explain", cell}), "give one of them");
  expect_bad_input(run({"gate", "time", "naive", "--cell", cell}), "a cell names its variant");
  expect_bad_input(run({"gate", "time", "--against", "HEAD", "--baselines", "/x"}),
                   "--against takes the place of --baselines");
  expect_bad_input(run({"gate", "time", "--json", "-", "--markdown", "-"}),
                   "--json and --markdown both name -");
  expect_bad_input(run({"gate", "time", "--markdown", "a", "--junit", "a"}),
                   "--markdown and --junit both name a");
  expect_bad_input(run({"gate", "time", "--json", "--quiet"}), "--json takes the name of a file");
}

TEST(GateFlags, ThatAreMisspeltSuggestTheNearOnes) {
  expect_bad_input(run({"gate"}), "assay gate what? there is time, as in `assay gate time`");
  expect_bad_input(run({"gate", "tme"}), "there is no 'assay gate tme' (did you mean time?)");
  expect_bad_input(run({"accept"}), "assay accept what? there is time");
  expect_bad_input(run({"gate", "time", "nave"}), "no variant 'nave' (did you mean naive?)");
  expect_bad_input(run({"bench", "nave"}), "no variant 'nave' (did you mean naive?)");
  expect_bad_input(run({"gate", "time", "--al"}), "there is no flag '--al' (did you mean --all?)");
  expect_bad_input(run({"bnch"}), "there is no command 'bnch' (did you mean bench?)");
}

TEST(GateFlags, NameWhatIsWrongWithACell) {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"naive", "--cell \"naive\": a cell is a variant and a case, such as "},
      {"", "--cell \"\": a cell is a variant and a case"},
      {"nave m=1 n=2 k=3", "there is no variant 'nave' (did you mean naive?)"},
      {"naive m=1 n=2", "--cell \"naive m=1 n=2\": 'k' is missing"},
      {"naive m=1 n=2 k=x", "--cell \"naive m=1 n=2 k=x\": 'k=x': k is a whole number"},
  };
  for (const auto& [text, message] : faults)
    expect_bad_input(run({"gate", "time", "--cell", text}), message);
  expect_bad_input(run({"gate", "time", "--explain", "naive"}), "--explain \"naive\": a cell is");
  expect_bad_input(run({"bench", "--problem", "m=1 n=2"}), "--problem \"m=1 n=2\": 'k' is missing");
  expect_bad_input(run({"bench", "--processes", "0"}), "--processes is a whole number from 1 to ");
}

TEST(GateFlags, NameACommitThatGitDoesNotKnow) {
  for (const char* ref : {"no-such-branch", "--help", "$(touch x)", "a'b"})
    expect_bad_input(run({"gate", "time", std::string("--against=") + ref}),
                     std::string("--against ") + ref + ": git knows no commit of that name");
}

TEST(GateFlags, NameTheCommitWhoseBaselinesCount) {
  expect_bad_input(run({"gate", "time", "--base", "no-such"}),
                   "--base no-such: git knows no commit of that name");
  expect_bad_input(run({"gate", "time", "--base", "HEAD", "--against", "HEAD"}),
                   "--base and --against each name a commit: give one of them");
  expect_bad_input(run({"gate", "time", "--base", "HEAD", "--baselines", "/x"}),
                   "--base takes the baselines of a commit and of this tree: give no others");
  expect_bad_input(run({"gate", "time", "--accepted-by-review"}),
                   "--accepted-by-review is about what was accepted since --base: give that too");
}

TEST(AcceptFlags, NeedAReason) {
  expect_bad_input(run({"accept", "time"}), "accept needs a reason");
  expect_bad_input(run({"accept", "time", "--reason", ""}), "accept needs a reason");
  expect_bad_input(run({"accept", "time", "--reason", " \t"}), "accept needs a reason");
  expect_bad_input(run({"accept", "time", "--reason", "x", "--move-anchor", " "}),
                   "--move-anchor needs a reason of its own");
  expect_bad_input(run({"accept", "time", "naive", "--reason", "x", "--upgrade"}),
                   "--upgrade stores what all variants are compared by: accept all of them");
  const auto given =
      parsed<AcceptRequest>({"accept", "time", "naive", "--reason", "faster", "--move-anchor",
                             "right now", "--unmeasured", "abc", "--dirty"});
  EXPECT_EQ(given.reason, "faster");
  EXPECT_EQ(given.moves_anchor, "right now");
  EXPECT_TRUE(given.dirty);
  EXPECT_EQ(given.unmeasured, "abc");
  EXPECT_EQ(given.processes, 12);
}

TEST(AcceptRemove, NeedsNoGpuButAReason) {
  const Folder folder;
  const std::string place = folder / "baselines";
  write_baseline(place, baseline_of("staged", "abc"));
  const auto remove = [&](const std::string& name) {
    return run(
        {"accept", "time", "--remove", name, "--reason", "too much alike", "--baselines", place});
  };
  expect_bad_input(run({"accept", "time", "--remove", "naive", "--baselines", place}),
                   "accept needs a reason");
  expect_bad_input(run({"accept", "time", "naive", "--remove", "naive", "--reason", "x"}),
                   "--remove names what is given up: give no variants beside it");
  expect_bad_input(remove("nave"),
                   "--remove nave: no GPU has a baseline of it (did you mean naive");
  expect_bad_input(remove("naive m=1 n=2 k=4"),
                   "no GPU has a baseline of it (did you mean naive m");
  EXPECT_EQ(read_baseline(place, "h200").accepted.size(), 1u) << "nothing was changed";
  const Answer answer = remove("naive");
  EXPECT_EQ(answer.code, 0) << answer.out << answer.err;
  EXPECT_THAT(answer.out, StartsWith("removed: h200: naive\nbecause: too much alike\n"));
  EXPECT_THAT(answer.last_line(), StartsWith("REMOVED: "));
  const Baseline left = read_baseline(place, "h200");
  EXPECT_TRUE(left.accepted.empty() && left.anchor.empty());
  EXPECT_EQ(left.removed.at("naive").provenance.reason, "too much alike");
}

TEST(TimingFiles, AreTriedBeforeAnythingRuns) {
  const Folder folder;
  const std::string nowhere = folder / "no/such/file";
  for (const auto& command :
       std::vector<std::vector<std::string>>{{"bench", "--json"},
                                             {"gate", "time", "--json"},
                                             {"gate", "time", "--markdown"},
                                             {"gate", "time", "--junit"},
                                             {"accept", "time", "--reason", "x", "--json"}}) {
    auto words = command;
    words.push_back(nowhere);
    expect_bad_input(run(words), nowhere + ": cannot be written: ");
  }
}

const std::vector<std::vector<std::string>> timing_commands = {
    {"bench", "naive"}, {"gate", "time"}, {"accept", "time", "--reason", "x"}};

TEST(WithoutAGpu, NothingIsTimed) {
  for (const auto& words : timing_commands) {
    const Answer answer = run(words);
    EXPECT_EQ(answer.code, 77) << words[0] << answer.out << answer.err;
    EXPECT_THAT(answer.out, StartsWith("NOTHING "));
#ifndef ASSAY_CUDA
    EXPECT_THAT(answer.out, HasSubstr("this build has no kernels for a GPU: configure with the "
                                      "preset cuda"));
#endif
    const Answer required = run(words, {.environment = {{"ASSAY_REQUIRE_GPU", "1"}}});
    EXPECT_EQ(required.code, 4);
    EXPECT_THAT(required.err, StartsWith("assay: ASSAY_REQUIRE_GPU=1, but "));
  }
}

TEST(WithoutAGpu, FilesSayThatNothingWasJudged) {
  const Folder folder;
  EXPECT_EQ(run({"gate", "time", "--json", folder / "a.json", "--markdown", folder / "a.md",
                 "--junit", folder / "a.xml"})
                .code,
            77);
  EXPECT_EQ(ReadJson(text_of(folder / "a.json"))["exit_code"], 77);
  EXPECT_THAT(text_of(folder / "a.md"), StartsWith("### Timing gate: NOTHING JUDGED\n"));
  EXPECT_EQ(fault_of_xml(text_of(folder / "a.xml")), "");
  EXPECT_THAT(text_of(folder / "a.xml"), HasSubstr("<skipped message="));
}

}  // namespace
}  // namespace assay::tests
