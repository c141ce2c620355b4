// `assay codegen mine.cu`, `counts`, `bench`, `gate` and `accept`: files that lie anywhere, as they
// are measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/tests/kernel_file.h"

namespace assay::tests {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// What nvcc makes of it for a GPU, which need not be here.
TEST_F(KernelFile, HasMachineCode) {
  NEEDS_NVCC;
  const Answer answer = run({"codegen", file(), "--cache", folder_ / "cache"},
                            {.environment = {{"TMPDIR", folder_ / "tmp"}}});
  EXPECT_EQ(answer.code, 0) << answer.out << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("one_each"));
  EXPECT_THAT(answer.out, Not(HasSubstr("tiled")));
}

// For that of one GPU: what others lack is no error.
TEST_F(KernelFile, HasMachineCodeOfAllThatTheGpuKnows) {
  NEEDS_NVCC;
  write_text(file(), replaced(a_kernel, "  float sum = 0;\n",
                              "  float sum = 0;\n  asm volatile(\"cp.async.commit_group;\");\n"
                              "  asm volatile(\"setmaxnreg.dec.sync.aligned.u32 40;\");\n"));
  const auto codegen = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> words = {"codegen", file(), "--cache", folder_ / "cache"};
    words.insert(words.end(), flags.begin(), flags.end());
    return run(words, {.environment = {{"TMPDIR", folder_ / "tmp"}}});
  };
  const Answer answer = codegen({});
  EXPECT_EQ(answer.code, 0) << answer.out << answer.err;
  EXPECT_THAT(answer.out, testing::ContainsRegex("one_each +90 "));
  const Answer of_another = codegen({"--nvcc-flag", "-arch=sm_80"});
  EXPECT_EQ(of_another.code, 2) << of_another.out;
  EXPECT_THAT(of_another.err, HasSubstr("setmaxnreg"));
}

TEST_F(KernelFile, HasMachineCodeOfItsVariants) {
  NEEDS_NVCC;
  write_text(file(), std::string("__global__ void never(float* p) { *p = 1; }\n") + a_kernel);
  const auto codegen = [&](const char* name) {
    return run({"codegen", file(), name, "--cache", folder_ / "cache"},
               {.environment = {{"TMPDIR", folder_ / "tmp"}}});
  };
  const Answer answer = codegen("mine");
  EXPECT_EQ(answer.code, 0) << answer.out << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("one_each"));
  EXPECT_THAT(answer.out, Not(HasSubstr("never")));
  EXPECT_THAT(codegen("never").out, HasSubstr("never"));
  expect_bad_input(codegen("mein"), "there is no kernel 'mein'");
}

// What it asks of the memory of a GPU.
TEST_F(KernelFile, IsCounted) {
  const auto counts = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"counts", file(), "--cache", folder_ / "cache"});
    return run(words, {.environment = {{"TMPDIR", folder_ / "tmp"}}});
  };
#ifdef ASSAY_HAS_PTX
  const Answer answer = counts({"--case", "m=32 n=32 k=4", "--by-line"});
  EXPECT_EQ(answer.code, 0) << answer.out << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("\nmine\n  one_each: 4 blocks of 256 threads\n"));
  EXPECT_THAT(answer.out, HasSubstr("  FFMA 4,096, barriers of warps 0\n"));
  EXPECT_THAT(answer.out, Not(HasSubstr("tiled")));
  expect_bad_input(counts({"mein"}), "there is no variant 'mein' (did you mean mine?)");
  write_text(file(), replaced(a_kernel, "p < k", "p <= k"));
  const Answer outside = counts({"--case", "m=1 n=1 k=1"});
  EXPECT_EQ(outside.code, 1) << outside.out << outside.err;
  EXPECT_THAT(outside.last_line(), StartsWith("next: assay check '"));
  EXPECT_THAT(outside.last_line(), HasSubstr("' mine --backend ptx --case \"m=1 n=1 k=1\""));
#else
  expect_bad_input(counts({}), "a file is not compiled for ptx here: assay doctor says why");
#endif
}

TEST_F(KernelFile, IsTimedWhereThereIsAGpu) {
  const Answer answer = run({"bench", file()});
  EXPECT_EQ(answer.code, 77) << answer.out << answer.err;
  EXPECT_THAT(answer.out, StartsWith("NOTHING TIMED: "));
  expect_bad_input(run({"bench", file("other.cu")}), "there is no file " + file("other.cu"));
  expect_bad_input(run({"bench", "--library", file("other.so")}), "there is no file ");
  expect_bad_input(run({"bench", "nowhere"}), "there is no variant 'nowhere'");
}

// Beside its own baselines; all that is refused is refused without a GPU too.
TEST_F(KernelFile, IsGatedWhereThereIsAGpu) {
  const Answer gate = run({"gate", "time", file()});
  EXPECT_EQ(gate.code, 77) << gate.out << gate.err;
  EXPECT_THAT(gate.out, StartsWith("NOTHING JUDGED: "));
  const Answer accept = run({"accept", "time", file(), "--reason", "first baseline"});
  EXPECT_EQ(accept.code, 77) << accept.out << accept.err;
  EXPECT_FALSE(fs::exists(place_ + "/baselines"));
  const std::vector<std::string> one_cell = {"--cell", "mine m=512 n=512 k=512"};
  EXPECT_EQ(run({"gate", "time", file(), one_cell[0], one_cell[1]}).code, 77);
  expect_bad_input(run({"gate", "time", file(), "naive", one_cell[0], one_cell[1]}),
                   "a cell names its variant");
  for (const char* flag : {"--against", "--base"})
    expect_bad_input(run({"gate", "time", file(), flag, "HEAD"}), "compared with the baselines");
  expect_bad_input(
      run({"accept", "time", file(), "--unmeasured", "HEAD", "--reason", "for a gate"}),
      "give no FILE");
  expect_bad_input(run({"gate", "time", file("other.cu")}), "there is no file ");
  expect_bad_input(run({"accept", "time", file("other.cu"), "--reason", "why"}),
                   "there is no file ");
}

}  // namespace
}  // namespace assay::tests
