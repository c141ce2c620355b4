// Kernels in the style of other people, as they are and with one fault each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "cli/tests/kernel_file.h"

namespace assay::tests {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;

// Each has an adapter of at most six lines.
class Stranger : public testing::TestWithParam<const char*> {};

TEST_P(Stranger, IsJudgedAsItIs) {
  NEEDS_NVCC;
  const std::string adapter = std::string(ASSAY_STRANGERS) + "/" + GetParam() + "_assay.cu";
  const std::string text = text_of(adapter);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 8) << "six lines, and two includes";
  const Folder folder;
  const Answer answer = run({"check", adapter, "-I", ASSAY_SOURCES, "--cases", "10", "--no-corpus",
                             "--cache", folder / "cache"});
  EXPECT_EQ(answer.code, 0) << answer.out << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("PASS: 1 variant holds 1"));
}

INSTANTIATE_TEST_SUITE_P(All, Stranger,
                         testing::Values("columns", "dynamic", "groups", "inline_ptx",
                                         "legacy_stream", "macros", "object", "split_k",
                                         "templates", "tensor_cores", "vectors", "workspace"),
                         [](const auto& each) { return each.param; });

// The same kernels with one fault each, and the words that name it.
struct Twin {
  const char *name, *kernel, *find, *replace, *says;
};
void PrintTo(const Twin& twin, std::ostream* to) { *to << twin.name; }
class WrongTwin : public testing::TestWithParam<Twin> {};

TEST_P(WrongTwin, IsFound) {
  NEEDS_NVCC;
  const Twin& twin = GetParam();
  const std::string stem = twin.name, strangers = std::string(ASSAY_STRANGERS) + "/";
  const Folder folder;
  write_text(folder / twin.kernel,
             replaced(text_of(strangers + twin.kernel), twin.find, twin.replace));
  fs::copy_file(strangers + stem + "_assay.cu", folder / (stem + "_assay.cu"));
  const Answer answer = run({"check", folder / (stem + "_assay.cu"), "--cases", "20", "--no-corpus",
                             "--cache", folder / "cache"});
  EXPECT_EQ(answer.code, 1) << answer.out << answer.err;
  EXPECT_THAT(answer.out, testing::ContainsRegex(twin.says));
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongTwin,
    testing::Values(Twin{"templates", "templates.cuh", "Bs[k][threadIdx.x];\n    __syncthreads();",
                         "Bs[k][threadIdx.x];\n", "templates.cuh:2[0-9].*templates.cuh:2[0-9]"},
                    Twin{"columns", "columns.cu", "p < K", "p + 1 < K", "the contribution of k = "},
                    Twin{"split_k", "split_k.cu", "beta == 0 ? 0 :", "", "beta"},
                    Twin{"tensor_cores", "tensor_cores.cu", "*= alpha", "*= 1", "alpha"},
                    Twin{"legacy_stream", "legacy_stream.cu", "add<<<grid, block>>>",
                         "add<<<grid, block, 0, [] { cudaStream_t own; cudaStreamCreateWithFlags("
                         "&own, cudaStreamNonBlocking); return own; }()>>>",
                         "work without order: .*nothing orders"},
                    Twin{"inline_ptx", "inline_ptx.cu", "wait_group 0", "wait_group 1",
                         "a wait for the copy is missing"}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace assay::tests
