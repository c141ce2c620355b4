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
  EXPECT_THAT(answer.out, testing::ContainsRegex("PASS: 1 variant holds [12][0-9] claims"));
}

INSTANTIATE_TEST_SUITE_P(All, Stranger,
                         testing::Values("clusters", "columns", "dynamic", "groups", "inline_ptx",
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
                    Twin{"clusters", "clusters.cu", "cluster.sync();  // nobody", "// nobody",
                         "may have ended by then: a cluster barrier before its end is missing"},
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

// With all that the GPU has; and what ptxas says to a file is no reason not to run its PTX.
TEST_F(KernelFile, IsCompiledThoughPtxasDoesNotTakeItForSm90) {
  NEEDS_NVCC;
  const auto checked = [&](const std::string& first_lines) {
    write_text(file(), R"(
      #include <assay.h>
      static __global__ void __launch_bounds__(128) mine(assay::Gemm g) {)" +
                           first_lines + R"(
        const std::int64_t e = blockIdx.x * std::int64_t{128} + threadIdx.x;
        if (e >= g.m * g.n) return;
        float sum = 0;
        for (std::int64_t p = 0; p < assay::depth(g); ++p)
          sum += g.a[e / g.n * g.lda + p] * g.b[p * g.ldb + e % g.n];
        float* c = &g.c[e / g.n * g.ldc + e % g.n];
        *c = assay::blend(g, sum, c);
      }
      ASSAY_VARIANT(mine, "An element each.") {
        mine<<<dim3((unsigned)((g.m * g.n + 127) / 128)), 128, 0, stream>>>(g);
      })");
    return check_few(file());
  };
  const Answer of_sm_90a = checked("asm volatile(\"setmaxnreg.dec.sync.aligned.u32 40;\");");
  EXPECT_EQ(of_sm_90a.code, 0) << of_sm_90a.out << of_sm_90a.err;
  const Answer of_features = checked(
      "\n#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)\n__trap();\n#endif\n");
  EXPECT_EQ(of_features.code, 0) << of_features.out << of_features.err;
  const Answer too_large =
      checked("__shared__ volatile float all[20000]; all[threadIdx.x] = 0; __syncthreads();");
  EXPECT_EQ(too_large.code, 1);
  EXPECT_THAT(too_large.out, HasSubstr("80000 bytes of static shared memory, 49152 at most"));
}

}  // namespace
}  // namespace assay::tests
