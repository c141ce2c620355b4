// What a producer copies of A and B where threads do it all (kernels/warp_roles.h): B by
// `cp.async`. Quads of A go through registers, which transposes them; where a matrix does not lie
// in quads, every float goes by a `cp.async` of its own.
//
// Promises to read nothing outside the matrices.
#pragma once

#include "kernels/warp_roles.h"

namespace assay {

// What one producer copies of each slice from k = `first` on, which may lie before the matrices:
// columns of A and rows of B that do not exist become 0.
template <class S>
class ByQuads {
  static constexpr int BAcross = S::BN / 4, BRows = Producers / BAcross, BTimes = S::BK / BRows;
  static_assert(BTimes * BRows == S::BK);

 public:
  using Tiles = S;
  static constexpr int Together = 4;  // along k
  static constexpr int Arrivals = 2;  // of each producer: for A, and for B
  __device__ ByQuads(const Gemm& g, const Corner& corner, std::int64_t first, int thread)
      : a_(g, corner, first, thread),
        b_p_(thread / BAcross),
        b_col_(thread % BAcross * 4),
        b_stride_(BRows * g.ldb) {
    const std::int64_t col = corner.col + b_col_;
    b_from_ = g.b + (first + b_p_) * g.ldb + col;
    b_count_ = max(0, min(clipped(g.n - col), 4));
  }
  __device__ void fetch(const Along<S>& along) { a_.fetch(along); }
  __device__ void fill(float* slice, const Along<S>& along, Mailbox& full) {
    float* b_to = slice + S::BK * S::AStride + b_p_ * S::BN + b_col_;
#pragma unroll 4
    for (int i = 0; i < BTimes; ++i, b_from_ += b_stride_) {
      const int p = b_p_ + i * BRows;
      const bool exists = p >= along.first && p < along.end;
      start_copy<4>(b_to + i * BRows * S::BN, b_from_, exists ? b_count_ : 0);
    }
    full.arrive_when_copied();
    a_.store(slice);
    full.arrive();
  }

 private:
  TransposedQuads<S> a_;
  const float* b_from_;
  int b_p_, b_col_, b_count_;
  std::int64_t b_stride_;
};

template <class S>
class ByFloats {
  static constexpr int ARows = Producers / S::BK, ATimes = S::BM / ARows;
  static constexpr int BAcross = S::BN < Producers ? S::BN : Producers;
  static constexpr int BRows = Producers / BAcross, BTimes = S::BN / BAcross;
  static_assert(S::BK * 4 == Producers);  // a warp writes 8 of k for 4 rows, to all 32 banks
  static_assert(ATimes * ARows == S::BM && BTimes * BAcross == S::BN && S::BK % BRows == 0);

 public:
  using Tiles = S;
  static constexpr int Together = S::OneChain ? 1 : 4, Arrivals = 1;
  __device__ ByFloats(const Gemm& g, const Corner& corner, std::int64_t first, int thread)
      : a_p_(thread % 8 + thread / 32 * 8),
        a_row_(thread % 32 / 8),
        b_p_(BRows == 1 ? 0 : thread / BAcross),
        b_col_(BRows == 1 ? thread : thread % BAcross),
        a_stride_(ARows * g.lda),
        b_stride_(BRows * g.ldb) {
    const std::int64_t row = corner.row + a_row_, col = corner.col + b_col_;
    a_from_ = g.a + row * g.lda + first + a_p_;
    b_from_ = g.b + (first + b_p_) * g.ldb + col;
    a_rows_ = clipped(g.m - row);
    b_cols_ = clipped(g.n - col);
  }
  __device__ void fetch(const Along<S>&) {}
  __device__ void fill(float* slice, const Along<S>& along, Mailbox& full) {
    const float* a = a_from_;
    float* const a_to = slice + a_p_ * S::AStride + a_row_;
#pragma unroll 4
    for (int i = 0; i < ATimes; ++i, a += a_stride_) {
      start_copy<1>(a_to + i * ARows, a, exists(a_p_, along) && i * ARows < a_rows_);
    }
    a_from_ += S::BK;
    float* const b_to = slice + S::BK * S::AStride + b_p_ * S::BN + b_col_;
#pragma unroll 4
    for (int p = 0; p < S::BK; p += BRows, b_from_ += b_stride_) {
#pragma unroll
      for (int j = 0; j < BTimes; ++j) {
        const int col = j * BAcross;
        start_copy<1>(b_to + p * S::BN + col, b_from_ + col,
                      exists(b_p_ + p, along) && col < b_cols_);
      }
    }
    full.arrive_when_copied();
  }

 private:
  __device__ static bool exists(int p, const Along<S>& along) {
    return p >= along.first && (Together == 1 || p < along.end);
  }

  const float* a_from_;
  const float* b_from_;
  int a_p_, a_row_, a_rows_;
  int b_p_, b_col_, b_cols_;
  std::int64_t a_stride_, b_stride_;
};

}  // namespace assay
