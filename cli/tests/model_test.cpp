// `assay check mine.cu --model a100`: files compiled for, and run as on, another GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/tests/kernel_file.h"

namespace assay::tests {
namespace {

using testing::HasSubstr;

class Model : public KernelFile {
 protected:
  Answer check_as(const std::string& model, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {file(), "--cases", "3", "--claim", "within_bound"};
    words.insert(words.end(), {"--backend", "ptx", "--model", model});
    words.insert(words.end(), more.begin(), more.end());
    return check(words);
  }
};

TEST_F(Model, IsWhatTheFileIsCompiledFor) {
  NEEDS_NVCC;
  write_text(file(), replaced(a_kernel, "  for (int p = 0; p < k; ++p)",
                              "#if __CUDA_ARCH__ < 900\n  k -= 1;\n#endif\n"
                              "  for (int p = 0; p < k; ++p)"));
  const Answer newer = check_as("h200");
  EXPECT_EQ(newer.code, 0) << newer.out << newer.err;
  EXPECT_THAT(newer.out, HasSubstr("1 variant as on an h200, 1 claim"));
  for (const char* older : {"a100", "rtx4090"}) {
    const Answer answer = check_as(older);
    EXPECT_EQ(answer.code, 1) << older << answer.out << answer.err;
    EXPECT_THAT(answer.out, HasSubstr("the contribution of k = "));
    EXPECT_THAT(answer.last_line(), HasSubstr(std::string(" --model ") + older + " "));
  }
}

TEST_F(Model, SettlesHowMuchSharedMemoryThereIs) {
  NEEDS_NVCC;
  write_text(file(),
             replaced(a_kernel, "  return assay::launch(one_each, ",
                      "  const cudaError_t error = cudaFuncSetAttribute(\n"
                      "      one_each, cudaFuncAttributeMaxDynamicSharedMemorySize, 200000);\n"
                      "  if (error != cudaSuccess) return error;\n"
                      "  return assay::launch(one_each, "));
  EXPECT_EQ(check_as("h200").code, 0);
  const Answer answer = check_as("a100");
  EXPECT_EQ(answer.code, 1) << answer.out << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("launch returned cudaErrorInvalidValue"));
}

TEST_F(Model, KeepsAwayWhatNeedsANewerGpu) {
  NEEDS_NVCC;
  write_text(file(),
             replaced(a_kernel, ".m_most = 4096", ".m_most = 4096, .compute_capability = 90"));
  const Answer answer = check_as("a100");
  EXPECT_EQ(answer.code, 77) << answer.out << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("it needs sm_90 or newer, and the GPU that the machine stands "
                                    "in for is sm_80"));
}

// Grids may go by how many multiprocessors there are, which is not the same everywhere.
TEST_F(Model, HasOtherNumbersOfMultiprocessorsForSomeClaims) {
  NEEDS_NVCC;
  write_text(
      file(),
      replaced(replaced(a_kernel, "  return assay::launch(one_each, ",
                        "  int all = 0;\n"
                        "  cudaDeviceGetAttribute(&all, cudaDevAttrMultiProcessorCount, 0);\n"
                        "  return assay::launch(one_each, "),
               "stream, m, n, k, alpha,", "stream, m, n, k - all % 3, alpha,"));
  const auto judged_by = [&](const char* claim) {
    return check({file(), "--cases", "10", "--backend", "ptx", "--claim", claim});
  };
  EXPECT_EQ(judged_by("within_bound").code, 0);
  EXPECT_THAT(judged_by("any_data").out, HasSubstr(", on a device of 188 multiprocessors\n"));
  EXPECT_THAT(judged_by("writes_only_c").out, HasSubstr(", on a device of 82 multiprocessors\n"));
}

TEST_F(Model, IsTakenByCounts) {
  NEEDS_NVCC;
  EXPECT_EQ(run({"counts", file(), "--case", "m=8 n=8 k=8", "--model", "a100"}).code, 0);
}

TEST_F(Model, IsRefusedWhereItWouldMeanNothing) {
  NEEDS_NVCC;
  expect_bad_input(check_as("h2000"),
                   "there is no device model \"h2000\": take one of h200, a100, rtx4090");
  expect_bad_input(check({"naive", "--model", "a100"}),
                   "--model is for files, which are compiled for it: name one");
  expect_bad_input(check({file(), "--backend", "simt", "--model", "a100"}),
                   "--model is about the backend ptx, and not about simt");
}

// The ladder, as a GPU of the generation before has it.
class LadderOnAnA100 : public KernelFile, public testing::WithParamInterface<const char*> {
 protected:
  Answer answer() {
    return check({std::string(ASSAY_SOURCES "/kernels/") + GetParam() + ".cu", "--backend", "ptx",
                  "--model", "a100", "--cases", "3"});
  }
};
class RightOnAnA100 : public LadderOnAnA100 {};
class TooNewForAnA100 : public LadderOnAnA100 {};

TEST_P(RightOnAnA100, AndJudgedThere) {
  NEEDS_NVCC;
  const Answer said = answer();
  EXPECT_EQ(said.code, 0) << said.out << said.err;
}
INSTANTIATE_TEST_SUITE_P(Stages, RightOnAnA100,
                         testing::Values("naive", "coalesced", "tiled", "coarsened_2x2",
                                         "blocktile_1d_col", "blocktile_1d_row", "blocktile_2d",
                                         "vectorized", "warptiled", "pipelined", "split_k",
                                         "skinny", "tf32x3"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(TooNewForAnA100, AndSaysSo) {
  NEEDS_NVCC;
  const Answer said = answer();
  EXPECT_EQ(said.code, 77) << said.out << said.err;
  EXPECT_THAT(said.out, HasSubstr("it needs sm_90 or newer"));
}
INSTANTIATE_TEST_SUITE_P(Stages, TooNewForAnA100,
                         testing::Values("warp_specialized", "tma_hybrid", "stream_k", "fastest"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace assay::tests
