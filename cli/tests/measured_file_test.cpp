// `assay codegen mine.cu`, `counts` and `bench`: files that lie anywhere, as they are measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/tests/kernel_file.h"

namespace assay::tests {
namespace {

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

}  // namespace
}  // namespace assay::tests
