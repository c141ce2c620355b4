// Calls that differ in one thing: whoever goes by a fingerprint of what was there before is found.
#include "properties/judging/calls_before.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "properties/tests/planted.h"

namespace {

using namespace assay;
using namespace assay_test;

int launches = 0;

// Multiplies by the matrix of an earlier call of these sizes if both have one fingerprint, in which
// an element counts by its weight.
struct Kept {
  std::int64_t rows = 0, columns = 0;
  std::uint64_t fingerprint = 0;
  std::vector<float> elements;

  const float* latest(const float* from, std::int64_t height, std::int64_t width, std::int64_t ld,
                      std::uint64_t (*weight)(std::int64_t, std::int64_t)) {
    std::vector<float> now;
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < height; ++i)
      for (std::int64_t j = 0; j < width; ++j) {
        now.push_back(from[i * ld + j]);
        sum += std::bit_cast<std::uint32_t>(now.back()) * weight(i, j);
      }
    if (rows != height || columns != width || fingerprint != sum)
      *this = {height, width, sum, std::move(now)};
    return elements.data();
  }
};

cudaError_t count(const Gemm& g, cudaStream_t stream) {
  ++launches;
  return multiply(g, stream);
}
cudaError_t by_place_in_tile(const Gemm& g, cudaStream_t stream) {
  static Kept kept;
  Gemm its = g;
  its.b = kept.latest(g.b, g.k, g.n, g.ldb, [](std::int64_t i, std::int64_t j) {
    return static_cast<std::uint64_t>(i * 977 + j % 32 * 31 + 1);
  });
  its.ldb = g.n;
  return multiply(its, stream);
}
cudaError_t by_symmetric_sum(const Gemm& g, cudaStream_t stream) {
  static Kept kept;
  Gemm its = g;
  its.a = kept.latest(g.a, g.m, g.k, g.lda, [](std::int64_t i, std::int64_t j) {
    return static_cast<std::uint64_t>((i + 1) * (j + 1) * 7919 + i + j);
  });
  its.lda = g.k;
  return multiply(its, stream);
}

// Takes a C that it has cleared for zeros at the next call.
cudaError_t by_cleared_c(const Gemm& g, cudaStream_t stream) {
  static const float* cleared = nullptr;
  Gemm its = g;
  if (std::exchange(cleared, nullptr) == g.c) its.beta = 0;
  if (g.alpha == 0 && g.beta == 0) cleared = g.c;
  return multiply(its, stream);
}

Verdict verdict_on(Launch launch) {
  return judge_calls_before(host_entry(launch), {.m = 4, .n = 64, .k = 16}, {});
}

TEST(CallsBefore, are_as_many_as_is_said) {
  launches = 0;
  EXPECT_EQ(verdict_on(count).status, TrialStatus::right);
  EXPECT_EQ(launches, launches_with_calls_before);
}

TEST(CallsBefore, exchange_lines_that_have_one_place_in_two_tiles) {
  EXPECT_TRUE(is_failure(verdict_on(by_place_in_tile)));
}

TEST(CallsBefore, clear_c) {
  const Case with_c = {.m = 4, .n = 64, .k = 16, .beta = 0.5f};
  const Verdict verdict = judge_calls_before(host_entry(by_cleared_c), with_c, {});
  ASSERT_TRUE(is_failure(verdict));
  EXPECT_EQ(verdict.finding.fault, Fault::keeps_state) << verdict.reason;
}

TEST(CallsBefore, transpose_a_square) { EXPECT_TRUE(is_failure(verdict_on(by_symmetric_sum))); }

}  // namespace
