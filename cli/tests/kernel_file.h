// A file of kernels in a folder of its own, for `assay COMMAND mine.cu`.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cli/tests/program.h"

namespace assay::tests {

// In the dialect that the executor takes too.
inline constexpr const char* a_kernel = R"(
#include <assay.h>
__global__ void one_each(int m, int n, int k, float alpha, const float* a, int lda, const float* b,
                         int ldb, float beta, float* c, int ldc) {
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int p = 0; p < k; ++p) sum += a[row * lda + p] * b[p * ldb + col];
  c[row * ldc + col] = beta == 0 ? alpha * sum : fmaf(beta, c[row * ldc + col], alpha * sum);
}
ASSAY_VARIANT(mine, "One thread per element.", Needs{.m_most = 4096}, Order::one_fma_chain) {
  return assay::launch(one_each, dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), 0, stream, m, n, k, alpha,
                a, lda, b, ldb, beta, c, ldc);
}
)";

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return at == text.npos ? text : text.replace(at, from.size(), to);
}

class KernelFile : public testing::Test {
 protected:
  // A path that every shell takes apart.
  KernelFile() : place_(folder_ / "it's a (place)") {
    std::filesystem::create_directory(place_);
    std::filesystem::create_directory(folder_ / "tmp");
    write_text(file(), a_kernel);
  }
  // Compilers leave nothing behind, nor do we.
  ~KernelFile() override { EXPECT_TRUE(std::filesystem::is_empty(folder_ / "tmp")); }

  std::string file(const std::string& name = "mine.cu") const { return place_ + "/" + name; }

  Answer check(std::vector<std::string> words,
               std::map<std::string, std::string> environment = {}) {
    environment.emplace("TMPDIR", folder_ / "tmp");
    environment.emplace("XDG_CACHE_HOME", folder_ / "cache");
    words.insert(words.begin(), {"check", "--no-corpus"});
    return run(words, {.environment = environment});
  }
  Answer check_few(const std::string& file, std::map<std::string, std::string> environment = {}) {
    return check({file, "--cases", "3", "--claim", "within_bound"}, std::move(environment));
  }

  Folder folder_;
  const std::string place_;
};

// Without nvcc there is only what g++ takes.
#ifdef ASSAY_HAS_PTX
#define NEEDS_NVCC
#else
#define NEEDS_NVCC GTEST_SKIP() << "this build has no PTX machine: ci/get-nvcc fetches nvcc"
#endif

}  // namespace assay::tests
