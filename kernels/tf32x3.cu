// FP32 out of tensor cores. These multiply far faster than FFMA does, but only numbers of 11 bits
// (TF32). So each float is cut in two such numbers, a large part and what remains of it, and a
// product is the sum of three:
//
//   x = large + small            y = large + small
//   x * y  ~  large * large  +  large * small  +  small * large
//
// What this leaves out, small * small and the last bit of each small part, is at most 8 units of
// rounding error of the product. The cores also cut what they add up, where FFMA rounds. So their
// sums of a slice begin at 0 and are then added to those of all slices in FP32: over a long k, what
// many cuts lose would add up. This is Arithmetic::tf32x3, with a bound of its own, and not to be
// ranked with FP32.
//
// Not every float can be cut like this: an infinity has no remainder, and that of a number below
// 2^-100 has too few bits. Each thread looks through the numbers that it copied, and the barrier
// that tells that a slice has arrived also tells whether all are from 2^-60 to 2^60, or 0. A slice
// with others is multiplied by FFMA.
//
// Who computes what, where a warp has its tile of C, WM x WN, in steps of 16 x 8:
//
//   lane 4r + q of a step:   C   rows r, r + 8     columns 2q, 2q + 1
//                            A   rows r, r + 8     at k = q, q + 4
//                            B   column r          at k = q, q + 4
//
// The rows of A and B in shared memory have the lengths at which these 32 lanes meet 32 banks.
//
// On an H100 it has 102 to 109 % of cuBLAS in FP32 from 2048 cubed on and 114 % at 1024 cubed, no
// more than FFMA can have there: the cores could do twice that, but two of three instructions look
// numbers through, cut them or add sums. It loses where C is small, with 53 % at 512 cubed, since a
// block computes 64 x 128, and 3 % where k is long, since no blocks share it.
#include "kernels/load_tile.h"
#include "kernels/warp_tiles.h"

namespace assay {
namespace {

template <int BM_, int BN_, int BK_, int WM_, int WN_, int Buffers_>
struct CutTiles {
  static constexpr int BM = BM_, BN = BN_, BK = BK_, WM = WM_, WN = WN_, Buffers = Buffers_;
  static constexpr Tile tile = {BM, BN, BK};
  static constexpr int StepsDown = WM / 16, StepsAcross = WN / 8;  // of a warp
  static constexpr int Threads = (BM / WM) * (BN / WN) * 32;
  static constexpr int AStride = BK + 4, BStride = BN + 8;
  static constexpr int Floats = BM * AStride + BK * BStride;
  static constexpr int SharedBytes = Buffers * Floats * int{sizeof(float)};
};

// The sums of a thread: a step has two rows of two.
template <class S>
using Sums = float[S::StepsDown * 2][S::StepsAcross * 2];

// Whether there was a number that is neither 0 nor from 2^-60 to 2^60, nor NaN, whose parts are.
class Range {
 public:
  __device__ void see(float x) {
    most_ = fmaxf(most_, fabsf(x));
    const unsigned twice = 2 * __float_as_uint(x);  // without the sign
    least_ = min(least_, twice - 1);                // of 0 the greatest of all
  }
  __device__ bool has_others() const {
    constexpr unsigned Least = (127u - 60) << 23;
    return most_ > 0x1p60f || least_ < 2 * Least - 1;
  }

 private:
  float most_ = 0;
  unsigned least_ = ~0u;
};

// Which pieces of a tile in shared memory a thread copies, and then looks through.
template <class S, int Piece, int Rows, int Cols, int Stride>
struct Share {
  static constexpr int Across = Cols / Piece, RowsAtOnce = S::Threads / Across;
  static_assert(RowsAtOnce * Across == S::Threads && Rows % RowsAtOnce == 0);
  __device__ static int row() { return threadIdx.x / Across; }
  __device__ static int col() { return threadIdx.x % Across * Piece; }

  __device__ static void start(float* tile, const Window& from) {
#pragma unroll
    for (int i = 0; i < Rows; i += RowsAtOnce) {
      const int count = max(0, min(from.left(row() + i, col()), Piece));
      start_copy<Piece>(tile + (row() + i) * Stride + col(), from.at(row() + i, col()), count);
    }
  }
  __device__ static void look_through(const float* tile, Range& range) {
#pragma unroll
    for (int i = 0; i < Rows; i += RowsAtOnce) {
      const float* const piece = tile + (row() + i) * Stride + col();
      if constexpr (Piece == 4) {
        const float4 x = quad(piece);
        range.see(x.x), range.see(x.y), range.see(x.z), range.see(x.w);
      } else {
        range.see(*piece);
      }
    }
  }
};
template <class S, int Piece>
using ShareOfA = Share<S, Piece, S::BM, S::BK, S::AStride>;
template <class S, int Piece>
using ShareOfB = Share<S, Piece, S::BK, S::BN, S::BStride>;

template <class S, int Piece>
__device__ void start_slice(const Gemm& g, const Corner& corner, std::int64_t p, float* slice) {
  ShareOfA<S, Piece>::start(slice, window_of_a(g, corner.row, p));
  ShareOfB<S, Piece>::start(slice + S::BM * S::AStride, window_of_b(g, p, corner.col));
}
template <class S, int Piece>
__device__ bool has_others(const float* slice) {
  Range range;
  ShareOfA<S, Piece>::look_through(slice, range);
  ShareOfB<S, Piece>::look_through(slice + S::BM * S::AStride, range);
  return range.has_others();
}

// Some floats as two numbers each, of which the cores take the first 11 bits: that is what each
// large part is rounded to, and all that the exact remainder has but for one bit.
template <int Count>
struct Operands {
  unsigned large[Count], small[Count];
  __device__ void set(int i, float x) {
    constexpr unsigned Half = 0x1000, Kept = ~0x1fffu;
    large[i] = (__float_as_uint(x) + Half) & Kept;
    small[i] = __float_as_uint(x - __uint_as_float(large[i]));
  }
};

__device__ inline void multiply_step(float* above, float* below, const unsigned (&a)[4],
                                     const unsigned (&b)[2]) {
  ON_SM_80(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(above[0]), "+f"(above[1]), "+f"(below[0]), "+f"(below[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Where the first elements of a lane lie in a tile.
template <class S>
struct Place {
  int row, col, quarter = threadIdx.x % 4, eighth = threadIdx.x % 32 / 4;
  __device__ Place() {
    const int warp = threadIdx.x / 32;
    row = warp / (S::BN / S::WN) * S::WM + eighth;
    col = warp % (S::BN / S::WN) * S::WN;
  }
};

template <class S>
__device__ void add_slice_by_cores(const float* slice, const Place<S>& at, Sums<S>& sums) {
  const float* const a_tile = slice + at.row * S::AStride + at.quarter;
  const float* const b_tile =
      slice + S::BM * S::AStride + at.quarter * S::BStride + at.col + at.eighth;
  Sums<S> parts = {};
#pragma unroll
  for (int p = 0; p < S::BK; p += 8) {
    Operands<4> a[S::StepsDown];
    Operands<2> b[S::StepsAcross];
#pragma unroll
    for (int i = 0; i < S::StepsDown; ++i) {
      const float* const from = a_tile + i * 16 * S::AStride + p;
#pragma unroll
      for (int e = 0; e < 4; ++e) a[i].set(e, from[e % 2 * 8 * S::AStride + e / 2 * 4]);
    }
#pragma unroll
    for (int j = 0; j < S::StepsAcross; ++j) {
#pragma unroll
      for (int e = 0; e < 2; ++e) b[j].set(e, b_tile[(p + e * 4) * S::BStride + j * 8]);
    }
#pragma unroll
    for (int way = 0; way < 3; ++way) {  // the smallest products first
#pragma unroll
      for (int i = 0; i < S::StepsDown; ++i) {
#pragma unroll
        for (int j = 0; j < S::StepsAcross; ++j) {
          multiply_step(&parts[2 * i][2 * j], &parts[2 * i + 1][2 * j],
                        way == 0 ? a[i].small : a[i].large, way == 1 ? b[j].small : b[j].large);
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < S::StepsDown * 2; ++i) {
#pragma unroll
    for (int j = 0; j < S::StepsAcross * 2; ++j) sums[i][j] += parts[i][j];
  }
}

// Each thread has the same elements.
template <class S>
__device__ void add_slice_by_ffma(const float* slice, const Place<S>& at, Sums<S>& sums) {
  const float* a = slice + at.row * S::AStride;
  const float* b = slice + S::BM * S::AStride + at.col + at.quarter * 2;
#pragma unroll 1
  for (int p = 0; p < S::BK; ++p, ++a, b += S::BStride) {
#pragma unroll
    for (int i = 0; i < S::StepsDown * 2; ++i) {
#pragma unroll
      for (int j = 0; j < S::StepsAcross * 2; ++j) {
        sums[i][j] = fmaf(a[i * 8 * S::AStride], b[j / 2 * 8 + j % 2], sums[i][j]);
      }
    }
  }
}

template <class S, int Piece>
__global__ void __launch_bounds__(S::Threads) multiply_in_thirds(Gemm g) {
  float* const buffers = dynamic_shared<float>();
  const Corner corner = block_corner<S::tile>(g);
  const Place<S> at;
  const std::int64_t k = depth(g);
  constexpr int Ahead = S::Buffers - 1;
#pragma unroll
  for (int s = 0; s < Ahead; ++s) {
    if (s * S::BK < k) start_slice<S, Piece>(g, corner, s * S::BK, buffers + s * S::Floats);
    end_group_of_copies();
  }

  Sums<S> sums = {};
  int full = 0, free = Ahead;  // the buffer to multiply, and the one to fill
  for (std::int64_t p = 0; p < k; p += S::BK) {
    const float* const slice = buffers + full * S::Floats;
    wait_for_copies_but<Ahead - 1>();
    const bool by_ffma = __syncthreads_or(has_others<S, Piece>(slice));
    if (p + Ahead * S::BK < k) {
      start_slice<S, Piece>(g, corner, p + Ahead * S::BK, buffers + free * S::Floats);
    }
    end_group_of_copies();
    if (by_ffma) {
      add_slice_by_ffma<S>(slice, at, sums);
    } else {
      add_slice_by_cores<S>(slice, at, sums);
    }
    full = full + 1 == S::Buffers ? 0 : full + 1;
    free = free + 1 == S::Buffers ? 0 : free + 1;
  }

  const std::int64_t col = corner.col + at.col + at.quarter * 2;
#pragma unroll
  for (int i = 0; i < S::StepsDown * 2; ++i) {
    finish_row<2, 8>(g, corner.row + at.row + i * 8, col, sums[i]);
  }
}

using Shape = CutTiles<64, 128, 32, 64, 32, 3>;

template <int Piece>
cudaError_t launch_by(const Gemm& g, cudaStream_t stream) {
  const auto kernel = multiply_in_thirds<Shape, Piece>;
  constexpr int Bytes = Shape::SharedBytes;
  const cudaError_t failed =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Bytes);
  if (failed != cudaSuccess) return failed;
  return launch_tiles<Shape::tile>(kernel, dim3(Shape::Threads), g, stream, Bytes);
}
cudaError_t launch_tf32x3(const Gemm& g, cudaStream_t stream) {
  const bool quads = in_quads(g.a, g.lda) && b_in_quads(g);
  return quads ? launch_by<4>(g, stream) : launch_by<1>(g, stream);
}

const Registrar registrar{{
    .name = "tf32x3",
    .idea = "Tensor cores: each float is cut in two TF32 numbers, a product is the sum of three.",
    .launch = launch_tf32x3,
    .needs = {.compute_capability = 80},
    .arithmetic = Arithmetic::tf32x3,
    .tile = Shape::tile,
}};

}  // namespace
}  // namespace assay
