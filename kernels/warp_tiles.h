// What the stages after `warptiled` share: who computes what, how a thread multiplies a slice that
// is in shared memory, and copies from global to shared memory that no thread waits for.
//
//   C, of a block:   tiles of WM x WN, one for each warp
//   of a warp:       steps of 4 TM x 32: 4 x 8 lanes with TM x 4 each
//
// Promises: an element's products are added in ascending k, each with one rounding.
// Refuses to synchronise: the caller knows when a slice is there, and when it may be overwritten.
#pragma once

#include "kernels/gemm.h"
#include "kernels/load_tile.h"

namespace assay {

// A slice in shared memory: A transposed, BK x AStride, and then B, BK x BN.
template <int BM_, int BN_, int BK_, int WM_, int WN_, int TM_>
struct WarpTiles {
  static constexpr int BM = BM_, BN = BN_, BK = BK_, WM = WM_, WN = WN_, TM = TM_;
  static constexpr Tile tile = {BM, BN, BK};
  static constexpr int LanesDown = 4, LanesAcross = 8;  // the shape of a warp
  static constexpr int StepM = LanesDown * TM, StepN = LanesAcross * 4;
  static constexpr int SumsDown = WM / LanesDown, SumsAcross = WN / LanesAcross;  // of a thread
  static constexpr int Warps = (BM / WM) * (BN / WN);
  static constexpr int AStride = BM + 4;  // whole quads, and fewer lanes that write to one bank
  static constexpr int Floats = BK * AStride + BK * BN;

  // Where the tile of a thread's i-th row and first column lies in that of the block.
  __device__ static int first_row(int warp, int lane) {
    return warp / (BN / WN) * WM + lane / LanesAcross * TM;
  }
  __device__ static int first_col(int warp, int lane) {
    return warp % (BN / WN) * WN + lane % LanesAcross * 4;
  }
  __device__ static constexpr int down(int i) { return i / TM * StepM + i % TM; }
};

// Adds a slice's products to the sums of the thread whose first element is (row, col) of the tile.
//
// Every other row of sums is gone through backwards, so that two multiplications in turn always
// share an operand, which is then not read again: of the two banks that registers lie in, each has
// to give one register for each multiplication. On an H200 this is 2 to 5 % of a stage's time;
// where a thread has rows of 4, it gains nothing.
template <class S, int Unroll>
__device__ void multiply_slice(const float* slice, int row, int col,
                               float (&sum)[S::SumsDown][S::SumsAcross], int first = 0) {
  const float* a_tile = slice + row;
  const float* b_tile = slice + S::BK * S::AStride + col;
#pragma unroll Unroll
  for (int p = first; p < S::BK; ++p) {
    alignas(16) float a[S::SumsDown], b[S::SumsAcross];
#pragma unroll
    for (int i = 0; i < S::SumsDown; i += 4) {
      quad(&a[i]) = quad(a_tile + p * S::AStride + S::down(i));
    }
#pragma unroll
    for (int j = 0; j < S::SumsAcross; j += 4) {
      quad(&b[j]) = quad(b_tile + p * S::BN + j / 4 * S::StepN);
    }
#pragma unroll
    for (int i = 0; i < S::SumsDown; ++i) {
#pragma unroll
      for (int step = 0; step < S::SumsAcross; ++step) {
        const bool backwards = S::SumsAcross > 4 && i % 2 == 1;
        const int j = backwards ? S::SumsAcross - 1 - step : step;
        sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
      }
    }
  }
}

// Finishes the i-th row of the thread's elements of C.
template <class S>
__device__ void finish_row_of_sums(const Gemm& g, const Corner& corner, int row, int col, int i,
                                   const float (&sum)[S::SumsAcross]) {
  const int tile_row = row + S::down(i);  // 32 bits: in 64, a whole stage has other registers
  finish_row_by_quads<S::StepN>(g, corner.row + tile_row, corner.col + col, sum);
}

// Instructions for a device of some age on. On older ones, where no launch gets to, they trap.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define ON_SM_80(...) __trap()
#else
#define ON_SM_80(...) asm volatile(__VA_ARGS__)
#endif

__device__ inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// Starts to copy a piece of neighbours, of which only the first `count` exist: no other is read,
// and 0 is written for it.
template <int Piece>
__device__ void start_copy(float* to, const float* from, int count) {
  static_assert(Piece == 1 || Piece == 4);
  [[maybe_unused]] const unsigned shared = shared_address(to);
  [[maybe_unused]] const int bytes = count * 4;
  if constexpr (Piece == 4) {
    ON_SM_80("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(bytes)
             : "memory");
  } else {
    ON_SM_80("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(from), "r"(bytes)
             : "memory");
  }
}

__device__ inline void end_group_of_copies() { ON_SM_80("cp.async.commit_group;" ::: "memory"); }
// Until all of this thread's groups but the last few have arrived.
template <int Few>
__device__ inline void wait_for_copies_but() {
  ON_SM_80("cp.async.wait_group %0;" ::"n"(Few) : "memory");
}

// Whether a matrix can be copied by quads.
inline bool in_quads(const float* matrix, std::int64_t ld) {
  return reinterpret_cast<std::uintptr_t>(matrix) % 16 == 0 && ld % 4 == 0;
}
inline bool b_in_quads(const Gemm& g) { return in_quads(g.b, g.ldb); }

}  // namespace assay
