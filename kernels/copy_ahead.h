// The main loop of the stages that copy ahead: no thread waits for a slice of k, since `cp.async`
// carries it from global to shared memory, past the registers, while the slices before it are
// multiplied.
//
// What a block does, with three buffers in turn:
//
//   copies       slice 0 | slice 1 | slice 2 | slice 3 | ...      two slices ahead
//   multiplies                       slice 0 | slice 1 | ...      one barrier for each slice
//
// The barrier says two things at once: the slice to multiply has arrived for every thread, and the
// buffer to fill has been read by every thread.
//
// The remainder of k comes first: slice 0 begins before the matrices do, with zeros in the place of
// what does not exist. So every later slice is whole in k, and what is left to compare, rows of A
// and columns of B, is the same in each slice: a thread finds it out once.
//
// A copy moves 4 bytes, so that A is transposed on its way and any alignment will do; B goes 16
// bytes at a time where its rows are aligned. A copy of 0 bytes reads nothing, and writes zeros.
//
// Who copies what of a slice, where t is the thread:
//   A, row r of each Threads / 16:   | t = 16r | 16r + 1 | ... | 16r + 15 |   into column r
//   B, a row:                        neighbours by neighbours
// Where a warp copies 8 neighbours each of 4 rows of A, it writes to all 32 banks at once, but
// reads more lines: which is faster, the stage knows.
// kernels/warp_tiles.h shows who computes what.
//
// `pipelined` sums all slices in one block, `split_k` shares them out.
//
// Promises to read nothing outside the matrices, nor anything if there are no slices. Takes sm_80:
// compiled for less, it traps.
#pragma once

#include "kernels/warp_tiles.h"

namespace assay {

template <class Tiles, int Buffers_, int RowsOfWarp_ = 2>
struct CopyAhead : Tiles {
  static constexpr int RowsOfWarp = RowsOfWarp_;  // of A, in one copy
  static constexpr int Buffers = Buffers_, Threads = Tiles::Warps * 32;
  static constexpr int SharedBytes = Buffers * Tiles::Floats * int{sizeof(float)};
};

// What one thread copies of every slice.
template <class S, int Piece>  // floats of B that go at a time
class Copies {
  static constexpr int Rows = S::RowsOfWarp, Along = 32 / Rows;
  static constexpr int ARows = S::Threads / S::BK, ATimes = S::BM / ARows;
  static constexpr int Across = S::BN / Piece, BRows = S::Threads / Across, BTimes = S::BK / BRows;
  static_assert(ATimes * ARows == S::BM && BTimes * BRows == S::BK && ATimes <= 32);

 public:
  // From k = `first` on, which may lie before the matrices.
  __device__ Copies(const Gemm& g, const Corner& corner, std::int64_t first)
      : a_p_(threadIdx.x % Along + threadIdx.x / 32 % (S::BK / Along) * Along),
        a_row_(threadIdx.x % 32 / Along + threadIdx.x / (Rows * S::BK) * Rows),
        a_stride_(ARows * g.lda),
        b_p_(threadIdx.x / Across),
        b_col_(threadIdx.x % Across * Piece),
        b_stride_(BRows * g.ldb) {
    const std::int64_t row = corner.row + a_row_, col = corner.col + b_col_;
    a_from_ = g.a + row * g.lda + first + a_p_;
    b_from_ = g.b + (first + b_p_) * g.ldb + col;
#pragma unroll
    for (int i = 0; i < ATimes; ++i) a_rows_ |= (row + i * ARows < g.m ? 1u : 0u) << i;
    b_count_ = col >= g.n ? 0 : g.n - col < Piece ? static_cast<int>(g.n - col) : Piece;
  }

  // The next slice, of which the first `missing` rows and columns do not exist.
  __device__ void start(float* buffer, int missing) {
    const float* a = a_from_;
#pragma unroll
    for (int i = 0; i < ATimes; ++i, a += a_stride_) {
      const bool exists = a_p_ >= missing && (a_rows_ >> i & 1) != 0;
      start_copy<1>(buffer + a_p_ * S::AStride + a_row_ + i * ARows, a, exists);
    }
    float* b_tile = buffer + S::BK * S::AStride;
    const float* b = b_from_;
#pragma unroll
    for (int i = 0; i < BTimes; ++i, b += b_stride_) {
      const int p = b_p_ + i * BRows;
      start_copy<Piece>(b_tile + p * S::BN + b_col_, b, p >= missing ? b_count_ : 0);
    }
    a_from_ += S::BK;
    b_from_ = b;
  }

 private:
  const float* a_from_;
  const float* b_from_;
  int a_p_, a_row_;
  std::int64_t a_stride_;
  unsigned a_rows_ = 0;  // a bit for each of its rows that exists
  int b_p_, b_col_, b_count_;
  std::int64_t b_stride_;
};

// Finishes the block's tile of C with the slices of k from `begin` to `end`, all of which are
// counted from the remainder on.
template <class S, int Piece>
__device__ void multiply_slices(const Gemm& g, const Corner& corner, std::int64_t begin,
                                std::int64_t end) {
  float* const buffers = dynamic_shared<float>();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = S::first_row(warp, lane), col = S::first_col(warp, lane);

  const std::int64_t k = depth(g), before = ceil_div(k, S::BK) * S::BK - k;
  const int missing = begin == 0 ? static_cast<int>(before) : 0;
  Copies<S, Piece> copies(g, corner, begin * S::BK - before);
  constexpr int Ahead = S::Buffers - 1;
#pragma unroll
  for (int s = 0; s < Ahead; ++s) {
    if (begin + s < end) copies.start(buffers + s * S::Floats, s == 0 ? missing : 0);
    end_group_of_copies();
  }

  float sum[S::SumsDown][S::SumsAcross] = {};
  int full = 0, free = Ahead;  // the buffer to multiply, and the one to fill
  for (std::int64_t s = begin; s < end; ++s) {
    wait_for_copies_but<Ahead - 1>();
    __syncthreads();
    if (s + Ahead < end) copies.start(buffers + free * S::Floats, 0);
    end_group_of_copies();  // also an empty one: so the slice to multiply is always the same group

    multiply_slice<S, S::BK>(buffers + full * S::Floats, row, col, sum);
    full = full + 1 == S::Buffers ? 0 : full + 1;
    free = free + 1 == S::Buffers ? 0 : free + 1;
  }

#pragma unroll
  for (int i = 0; i < S::SumsDown; ++i) finish_row_of_sums<S>(g, corner, row, col, i, sum[i]);
}

}  // namespace assay
