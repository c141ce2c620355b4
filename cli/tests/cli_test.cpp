// What the command answers where every variant is right, and what it says to a wrong command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/tests/program.h"
#include "cli/tests/read_json.h"

namespace assay::tests {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST(Check, PassesWhatIsRight) {
  const Answer answer = run({"check", "naive", "eigen", "--cases", "3"});
  EXPECT_EQ(answer.code, 0) << answer.out << answer.err;
  EXPECT_THAT(answer.err, IsEmpty());
  EXPECT_THAT(answer.lines().front(), StartsWith("assay check: 2 variants, "));
  EXPECT_THAT(answer.lines().front(), EndsWith("3 cases each, seed 0"));
  EXPECT_THAT(answer.last_line(), StartsWith("PASS: 2 variants hold "));
  EXPECT_THAT(answer.out, HasSubstr("- bits: eigen: it does not declare"));
}

TEST(Calibrate, ShowsThatTheBoundSeparates) {
  const Answer answer = run(
      {"calibrate", "cpu_loop", "naive", "--backend", "host", "--backend", "simt", "--json", "-"});
  EXPECT_EQ(answer.code, 0) << answer.out << answer.err;
  EXPECT_THAT(answer.err, HasSubstr("SEPARATED: variants take at most "));
  const ReadJson json(answer.out);
  EXPECT_EQ(json["results"].size(), 6u);
  EXPECT_EQ(json["results"][0]["source"], "TF32");
  EXPECT_EQ(json["results"][5]["source"], "naive");
  EXPECT_EQ(json["results"][4]["gulps"].size(), 7u);
}

TEST(Calibrate, RefusesAFillThatTheBoundIsNotFor) {
  expect_bad_input(run({"calibrate", "--fill", "exact"}),
                   "--fill exact: the error bound is for zero-mean data");
}

TEST(Check, FitsTheScreenAndHasNoColourInAPipe) {
  const Answer answer =
      run({"check", "cpu_loop", "naive", "blocktile_1d_row", "--cases", "1", "--claim",
           "within_bound", "--claim", "exact_integers", "--claim", "refuses"});
  EXPECT_EQ(answer.code, 0) << answer.out << answer.err;
  EXPECT_THAT(answer.out, Not(HasSubstr("\033")));
  std::size_t heading_width = 0;
  for (const std::string& line : answer.lines()) {
    EXPECT_LE(line.size(), 120u) << line;
    if (line.starts_with("variant ")) {
      heading_width = line.size();
    } else if (line.empty()) {
      heading_width = 0;
    } else if (heading_width != 0) {
      EXPECT_EQ(line.size(), heading_width) << line;
    }
  }
}

TEST(Check, TakesFlagsInAnyOrder) {
  const Answer before = run({"check", "--cases", "2", "--backend", "simt", "--claim",
                             "within_bound", "--seed", "5", "naive", "--quiet"});
  const Answer after = run({"check", "naive", "--quiet", "--seed=5", "--claim", "within_bound",
                            "--backend", "simt", "--cases", "2"});
  EXPECT_EQ(before.code, 0) << before.err;
  EXPECT_EQ(after.code, 0) << after.err;
  const auto without_time = [](const Answer& answer) {
    return answer.out.substr(0, answer.out.rfind(" in "));
  };
  EXPECT_EQ(without_time(before), without_time(after));
}

TEST(Check, SaysOnlyTheVerdictWhenQuiet) {
  const Answer answer = run({"check", "naive", "--cases", "2", "--quiet"});
  EXPECT_EQ(answer.lines().size(), 1u) << answer.out;
  EXPECT_THAT(answer.out, StartsWith("PASS: "));
}

TEST(Check, JudgesAGivenCase) {
  const Answer answer =
      run({"check", "naive", "vectorized", "--backend", "simt", "--case", "m=5 n=6 k=7"});
  EXPECT_EQ(answer.code, 0) << answer.out << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("vectorized refused: lda = 7 is not a multiple of 4\n"));
  EXPECT_THAT(answer.out, HasSubstr(". exact: it takes fill=exact, not fill=uniform\n"));
  EXPECT_THAT(answer.last_line(), StartsWith("PASS: 1 of 2 variants holds "));
}

TEST(Check, SaysWhatWasRefusedWhereNothingWasJudged) {
  const Answer answer =
      run({"check", "vectorized", "--backend", "simt", "--case", "m=8 n=8 k=777"});
  EXPECT_EQ(answer.code, 77);
  EXPECT_EQ(answer.last_line(),
            "NOTHING JUDGED: vectorized refused: lda = 777 is not a multiple of 4");
}

TEST(Check, IsNoPassWhereEveryClaimIsExempt) {
  const Answer answer = run({"check", "eigen", "--claim", "thread_order"});
  EXPECT_EQ(answer.code, 77) << answer.out;
  EXPECT_THAT(answer.last_line(),
              HasSubstr("thread_order: a host function has no threads to order"));
}

TEST(Check, IsNoPassWhereCIsEmpty) {
  const Answer answer = run({"check", "naive", "--claim", "within_bound", "--case", "m=0 n=4 k=4"});
  EXPECT_EQ(answer.code, 77) << answer.out;
  EXPECT_THAT(answer.last_line(), HasSubstr("C is empty"));
}

TEST(Check, SuggestsTheNearestName) {
  expect_bad_input(run({"check", "tild_32"}),
                   "there is no variant 'tild_32' (did you mean tiled_32?); there are cpu_loop, ");
  expect_bad_input(run({"check", "--claim", "beta_zer"}),
                   "there is no claim 'beta_zer' (did you mean beta_zero?); there are ");
  expect_bad_input(run({"check", "--claim", "calibration"}), "there is no claim 'calibration'; ");
  expect_bad_input(
      run({"check", "--backend", "smit"}),
      "there is no backend 'smit' (did you mean simt?); there are simt, ptx, cuda, host");
  expect_bad_input(run({"chekc"}), "there is no command 'chekc' (did you mean check?)");
  expect_bad_input(run({"check", "--casse", "3"}),
                   "there is no flag '--casse' (did you mean --case?); see assay check --help");
  expect_bad_input(run({"--jsno", "list"}), "there is no flag '--jsno'");
}

TEST(Check, NamesTheTokenOfACaseAtFault) {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"m=5 n=6", "case: 'k' is missing"},
      {"m=5 n=6 k", "case: 'k' is not NAME=VALUE"},
      {"m=5 n=6 k=-1", "case: 'k=-1': k is a whole number from 0 to 2^40"},
      {"m=5 n=6 k=7 k=8", "case: 'k' is given twice"},
      {"m=5 n=6 k=7 alhpa=2", "there is no 'alhpa' (did you mean alpha?)"},
      {"m=5 n=6 k=7 alpha=nan", "case: 'alpha=nan': alpha is a finite number"},
      {"m=5 n=6 k=7 lda=3", "case: 'lda=3': lda is how far it exceeds the row, such as +3"},
      {"m=5 n=6 k=7 offset=1,2", "case: 'offset=1,2': offset is three of 0 to 63"},
      {"m=5 n=6 k=7 fill=zeros", "case: 'fill=zeros': fill is one of uniform, "},
      {"", "is missing"},
  };
  for (const auto& [text, message] : faults) {
    SCOPED_TRACE(text);
    expect_bad_input(run({"check", "naive", "--case", text}), message);
  }
}

TEST(Check, RefusesFlagsOfDrawnCasesBesideAGivenOne) {
  for (const char* flag : {"--cases", "--seed"}) {
    expect_bad_input(run({"check", "naive", "--case", "m=1 n=1 k=1", flag, "5"}),
                     std::string(flag) + " is about cases that are drawn");
  }
}

TEST(Check, RefusesNumbersOutOfRange) {
  expect_bad_input(run({"check", "--cases", "0"}), "--cases is a whole number from 1 to ");
  expect_bad_input(run({"check", "--cases", "many"}), "not 'many'");
  expect_bad_input(run({"check", "--cases", "99999999999999999999"}), "--cases is");
  expect_bad_input(run({"check", "--cases", "10x"}), "not '10x'");
  expect_bad_input(run({"check", "--cases", "10 "}), "not '10 '");
  expect_bad_input(run({"check", "--seed", "-1"}), "--seed is a whole number from 0 to ");
  expect_bad_input(run({"check", "--jobs", "-2"}), "--jobs is a whole number from 0 to ");
  expect_bad_input(run({"check", "--watchdog", "0"}), "--watchdog is a whole number from 1 to ");
  expect_bad_input(run({"check", "--cases"}), "--cases");
  expect_bad_input(run({"check", "--json", "--quiet"}), "--json takes the name of a file");
  expect_bad_input(run({"check", "--json", "-", "--junit", "-"}), "--json and --junit both name -");
}

TEST(Check, IsBadInputWhereTheSelectionMatchesNothing) {
  expect_bad_input(run({"check", "--backend", "simt", "eigen"}),
                   "nothing to check: eigen exists for host, not for simt");
  expect_bad_input(run({"check", "--backend", "simt", "naive", "eigen"}), "eigen exists for host");
}

TEST(Check, JudgesNothingOnABackendThatIsMissing) {
  const Answer answer = run({"check", "naive", "--backend", "cuda"});
  EXPECT_EQ(answer.code, 77);
  EXPECT_THAT(answer.last_line(), StartsWith("NOTHING JUDGED: cuda: "));
  const Answer half = run({"check", "naive", "--backend", "cuda", "--backend", "simt"});
  EXPECT_EQ(half.code, 77) << "half of what was asked for is not a pass\n" << half.out;
}

TEST(Check, IsUnfitWhereAGpuIsRequired) {
  const Circumstances required{.environment = {{"ASSAY_REQUIRE_GPU", "1"}}};
  const Answer answer = run({"check", "naive", "--cases", "1"}, required);
  EXPECT_EQ(answer.code, 4);
  EXPECT_THAT(answer.out, IsEmpty());
  EXPECT_THAT(answer.err, StartsWith("assay: ASSAY_REQUIRE_GPU=1, but "));
  const Answer doctor = run({"doctor"}, required);
  EXPECT_EQ(doctor.code, 4);
  EXPECT_THAT(doctor.lines().front(), StartsWith("UNFIT: ASSAY_REQUIRE_GPU=1, but "));
  EXPECT_EQ(run({"list"}, required).code, 0);
  EXPECT_EQ(
      run({"check", "naive", "--cases", "1"}, {.environment = {{"ASSAY_REQUIRE_GPU", "0"}}}).code,
      0);
}

TEST(Check, PaintsAndShowsProgressOnATerminalOnly) {
  if (!has_terminal()) GTEST_SKIP() << no_terminal;
  const Answer answer =
      run({"check", "naive", "--backend", "simt", "--cases", "150"}, {.on_terminal = true});
  EXPECT_EQ(answer.code, 0);
  EXPECT_THAT(answer.out, HasSubstr("\033[32mPASS\033[0m: "));
  EXPECT_THAT(answer.out, HasSubstr(" %, "));
  const auto shown = answer.out.rfind(" left"), erased = answer.out.rfind("\r\033[K");
  ASSERT_NE(shown, std::string::npos);
  EXPECT_GT(erased, shown) << "the progress line stays";

  const Answer plain = run({"check", "naive", "--cases", "2"},
                           {.environment = {{"NO_COLOR", "1"}}, .on_terminal = true});
  EXPECT_THAT(plain.out, Not(HasSubstr("\033[32m")));
}

#ifndef ASSAY_CUDA
TEST(Variant, ThatTakesAGpuIsSaidNotToBeInThisBuild) {
  expect_bad_input(run({"check", "cublas"}),
                   "cublas is not in this build: kernels/cublas.cu takes a GPU, so configure with "
                   "the preset cuda");
#ifndef ASSAY_HAS_PTX
  expect_bad_input(run({"check", "split_k"}), "kernels/split_k.cu takes nvcc, so configure with");
#endif
}
#endif

TEST(List, HasARowForEachVariant) {
  const Answer answer = run({"list"});
  EXPECT_EQ(answer.code, 0);
  EXPECT_THAT(answer.out, HasSubstr("\nvectorized "));
  EXPECT_THAT(answer.out, HasSubstr("needs lda a multiple of 4"));

  const Answer json = run({"list", "--json", "-"});
  const auto list = ReadJson(json.out);
  EXPECT_EQ(list["schema"], 2);
  EXPECT_EQ(list["command"], "list");
  ASSERT_GT(list["results"].size(), 10u);
  EXPECT_EQ(list["results"][0]["name"], "cpu_loop");
  EXPECT_EQ(list["results"][0]["backends"][0]["backend"], "host");
  EXPECT_EQ(list["results"][0]["order"], "one fma chain");
  for (const ReadJson& variant : list["results"].items()) {
    EXPECT_THAT(answer.out, HasSubstr(variant["name"].text() + " "));
    EXPECT_THAT(answer.out, HasSubstr(variant["idea"].text()));
  }
}

TEST(Doctor, LeadsWithTheVerdict) {
  const Folder folder;
  const Answer answer = run({"doctor", "--json", folder / "doctor.json"});
  EXPECT_EQ(answer.code, 0);
  EXPECT_THAT(answer.lines().front(), StartsWith("FIT: variants can be checked on simt"));
  const auto doctor = ReadJson(text_of(folder / "doctor.json"));
  EXPECT_EQ(doctor["verdict"], "FIT");
  EXPECT_EQ(doctor["summary"], answer.lines().front());
  EXPECT_EQ(doctor["exit_code"], 0);
  for (const char* topic : {"backend simt", "backend cuda", "cores", "memory", "fma", "nvcc",
                            "compute-sanitizer", "nvidia-smi", "GPU devices", "corpus"}) {
    const auto findings = doctor["results"].items();
    EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [&](const ReadJson& finding) {
      return finding["topic"] == topic;
    })) << topic;
  }
}

TEST(Doctor, LooksAtTheCorpusAndThePath) {
  const Folder folder;
  write_text(folder / "corpus.txt", "within_bound: m=1 n=2 k=3\n");
  EXPECT_THAT(run({"doctor", "--corpus", folder / "corpus.txt"}).out,
              HasSubstr("1 past failure in"));
  write_text(folder / "corpus.txt", "nonsense\n");
  EXPECT_THAT(run({"doctor", "--corpus", folder / "corpus.txt"}).out,
              HasSubstr("`assay check` stops with: "));
  const Answer bare =
      run({"doctor"}, {.environment = {{"PATH", ""}, {"CUDACXX", "/nowhere/nvcc"}}});
  EXPECT_THAT(bare.out, testing::ContainsRegex("no +nvcc +"));
  EXPECT_THAT(bare.out, HasSubstr("not on PATH: NVIDIA's memory and race checks are skipped"));
}

TEST(Usage, IsShownOnRequestAndOnNothing) {
  EXPECT_EQ(run({"--help"}).code, 0);
  EXPECT_THAT(run({"--help"}).out, HasSubstr("doctor"));
  EXPECT_EQ(run({"check", "--help"}).code, 0);
  EXPECT_THAT(run({"check", "--help"}).out, HasSubstr("--no-corpus"));
  EXPECT_EQ(run({"--version"}).code, 0);
  EXPECT_THAT(run({"--version"}).out, StartsWith("assay "));
  const Answer nothing = run({});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_THAT(nothing.out, IsEmpty());
  EXPECT_THAT(nothing.err, HasSubstr("doctor"));
}

TEST(Usage, TakesOneCommandAtATime) {
  expect_bad_input(run({"check", "list"}), "there is no variant 'list'");
  expect_bad_input(run({"list", "naive"}), "assay list takes no 'naive'");
}

}  // namespace
}  // namespace assay::tests
