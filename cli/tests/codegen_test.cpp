// What the compiler made of kernels, shown and compared with what was accepted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/codegen/codegen.h"
#include "cli/tests/baselines.h"
#include "cli/tests/program.h"
#include "cli/tests/read_json.h"

namespace assay::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const std::string data = ASSAY_REGRESS_DATA;
const std::string unrolled = data + "/small_90_unrolled.cubin";

TEST(Codegen, ShowsEveryKernelOfAFile) {
  const Answer answer = run({"codegen", "--in", small_90});
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_THAT(answer.lines().front(), StartsWith("kernel   sm  registers  stack"));
  const KernelCode staged = [] {
    for (const KernelCode& code : read_cubin(text_of(small_90)).kernels) {
      if (kernel_name(code.symbol) == "staged") return code;
    }
    return KernelCode{};
  }();
  EXPECT_THAT(answer.out, HasSubstr("\nstaged   90"));
  EXPECT_THAT(answer.out, HasSubstr(staged.code.substr(0, 12) + "\n"));
  EXPECT_THAT(answer.out, HasSubstr("BAR 1, FFMA "));
  EXPECT_THAT(answer.out, HasSubstr("\nspilled  90"));

  const auto json = ReadJson(run({"codegen", "--in", small_90, "--json", "-"}).out);
  EXPECT_EQ(json["schema"], 2);
  EXPECT_EQ(json["command"], "codegen");
  ASSERT_EQ(json["results"].size(), 2u);
  EXPECT_EQ(json["results"][1]["name"], "staged");
  EXPECT_EQ(json["results"][1]["code"], staged.code);
  EXPECT_EQ(json["results"][1]["registers"], staged.registers);
  EXPECT_EQ(json["results"][1]["instructions"]["BAR"], 1);
}

TEST(Codegen, TakesSeveralFilesAndNames) {
  const Answer both = run({"codegen", "--in", small_90, "--in", data + "/small_80.cubin"});
  EXPECT_EQ(both.lines().size(), 1u + 2 * 4) << both.out;
  const Answer twice = run({"codegen", "--in", small_90, "--in", small_90});
  EXPECT_EQ(twice.lines().size(), 1u + 2 * 2) << "the same code is shown once";
  EXPECT_EQ(run({"codegen", "staged", "--in", small_90}).lines().size(), 3u);
  const Answer misspelt = run({"codegen", "stagd", "--in", small_90});
  EXPECT_EQ(misspelt.code, 2);
  EXPECT_THAT(misspelt.err, HasSubstr("there is no kernel 'stagd' (did you mean staged?); "));
}

TEST(Codegen, SaysSoWhereThereIsNothing) {
  const Folder folder;
  write_text(folder / "text", "no machine code");
  const Answer none = run({"codegen", "--in", folder / "text"});
  EXPECT_EQ(none.code, 77);
  EXPECT_THAT(none.out, HasSubstr("NOTHING TO SHOW: " + (folder / "text")));
  EXPECT_EQ(run({"codegen", "--in", folder / "nothing"}).code, 2);
  EXPECT_EQ(run({"codegen", "--json", folder / "no/such"}).code, 2);
#ifndef ASSAY_CUDA
  const Answer own = run({"codegen"});
  EXPECT_EQ(own.code, 77);
  EXPECT_THAT(own.out, HasSubstr("configure with the preset cuda"));
#endif
#ifndef ASSAY_HAS_PTX
  write_text(folder / "mine.cu", "");
  expect_bad_input(run({"codegen", folder / "mine.cu"}),
                   "this assay was built without nvcc: build it with the preset ptx");
#endif
}

std::vector<CompiledKernel> kernels_of(const std::string& file) {
  std::vector<CompiledKernel> kernels;
  const Cubin cubin = read_cubin(text_of(file));
  for (const KernelCode& code : cubin.kernels) kernels.push_back({cubin.architecture, code});
  return kernels;
}

CodegenResult compared(const Baseline& baseline, const std::string& commit,
                       const std::vector<CompiledKernel>& kernels) {
  CodegenResult result;
  result.request.compare = "baselines";
  result.request.commit = commit;
  result.kernels = kernels;
  result.comparisons = compare_code(baseline, commit, kernels);
  return result;
}

TEST(Comparison, FindsTheSameMachineCode) {
  const auto result = compared(baseline_of("staged", "abc"), "abc", kernels_of(small_90));
  const Conclusion conclusion = conclude(result);
  EXPECT_EQ(conclusion.code, ExitCode::passed);
  EXPECT_EQ(codegen_text(result, conclusion, Screen(stdout)),
            "naive on h200, of abc: the same machine code\n"
            "naive on h200, the anchor, of abc: the same machine code\n"
            "THE SAME: 2 records have the machine code that was accepted\n");
}

TEST(Comparison, SaysWhatDiffers) {
  const auto result = compared(baseline_of("staged", "abc"), "", kernels_of(unrolled));
  const Conclusion conclusion = conclude(result);
  EXPECT_EQ(conclusion.code, ExitCode::wrong);
  const std::string text = codegen_text(result, conclusion, Screen(stdout));
  EXPECT_THAT(text, HasSubstr("naive on h200, of abc: differs\n  staged: "));
  EXPECT_THAT(text, HasSubstr("FFMA "));
  EXPECT_THAT(text, HasSubstr("DIFFERENT: the machine code of naive is not what was accepted\n"));
}

TEST(Comparison, MissesAKernelThatIsNotThere) {
  auto kernels = kernels_of(small_90);
  std::erase_if(kernels,
                [](const CompiledKernel& k) { return kernel_name(k.code.symbol) == "staged"; });
  const auto gone = compared(baseline_of("staged", "abc"), "", kernels);
  EXPECT_EQ(conclude(gone).code, ExitCode::wrong);
  EXPECT_THAT(gone.comparisons[0].differences, ElementsAre("staged: there is no such kernel"));
  const auto other =
      compared(baseline_of("staged", "abc"), "", kernels_of(data + "/small_80.cubin"));
  EXPECT_THAT(other.comparisons[0].differences,
              ElementsAre("staged: there is no machine code for sm_90"));
}

TEST(Comparison, IsNoPassWhereNothingWasCompared) {
  EXPECT_EQ(conclude(compared(baseline_of("staged", "abc"), "def", kernels_of(small_90))).code,
            ExitCode::nothing_judged);
  EXPECT_EQ(conclude(compared(baseline_of("no kernel", "abc"), "", kernels_of(small_90))).code,
            ExitCode::nothing_judged);
}

TEST(Comparison, VerifiesALaunchLikeCode) {
  const Folder folder;
  Baseline stored = baseline_of("staged", "abc");
  write_baseline(folder / "rebuilt", stored);
  const auto launches = [&](const std::string& commit) {
    return run({"codegen", "--launches", folder / "rebuilt", "--compare", folder / "stored",
                "--commit", commit});
  };
  // Twice the blocks is right, slower, and reads like any other number.
  std::get<KernelNode>(stored.accepted["naive"].cells[0].recipe.nodes[0]).grid = {2, 1, 1};
  write_baseline(folder / "stored", stored);
  const Answer edited = launches("abc");
  EXPECT_EQ(edited.code, 1) << edited.out << edited.err;
  EXPECT_THAT(edited.out, HasSubstr("  m=1 n=2 k=3: grid 2 -> 1"));
  EXPECT_THAT(edited.last_line(), StartsWith("DIFFERENT: the launch of naive is not what was"));
  EXPECT_EQ(launches("def").code, 77);
  std::filesystem::remove_all(folder / "stored");
  write_baseline(folder / "stored", baseline_of("staged", "abc"));
  const Answer same = launches("abc");
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  EXPECT_EQ(same.last_line(), "THE SAME: 2 records have the launch that was accepted");
  expect_bad_input(run({"codegen", "--launches", "x", "--compare", "y"}),
                   "--launches are those of one --commit, in place of --in: say which");
}

TEST(Comparison, ReadsAStoredBaseline) {
  const Folder folder;
  write_baseline(folder / "baselines", baseline_of("staged", "abc"));
  const Answer same =
      run({"codegen", "--in", small_90, "--compare", folder / "baselines", "--commit", "abc"});
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  EXPECT_THAT(same.last_line(), StartsWith("THE SAME: "));
  const Answer differs = run({"codegen", "--in", unrolled, "--compare", folder / "baselines"});
  EXPECT_EQ(differs.code, 1) << differs.out << differs.err;
  const Answer none = run({"codegen", "--in", small_90, "--compare", folder / "nothing"});
  EXPECT_EQ(none.code, 5);
  EXPECT_THAT(none.err, HasSubstr("nothing has no baseline"));
  const Answer half = run({"codegen", "--in", small_90, "--commit", "abc"});
  EXPECT_EQ(half.code, 2);
}

}  // namespace
}  // namespace assay::tests
