// As `warptiled`, but no thread waits for a slice of k: `cp.async` carries it from global to shared
// memory, past the registers, while the slices before it are multiplied.
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
// Who copies what of a slice, where t is the thread of 256:
//   A, row r of each 16:   | t = 16r | 16r + 1 | ... | 16r + 15 |   into column r of the buffer
//   B, a row:              neighbours by neighbours
// Who computes what is as in `warptiled`: a block has 2 x 4 warps, and a thread tiles of 4 or 8
// x 4.
//
// `pipelined_128x256` wins on large C: a thread's 128 sums need 6 quads at each p. On an H200 it
// has 94 to 96 % of cuBLAS from 2048 cubed on. It has 1 block for each multiprocessor.
// `pipelined_64x128`, with 32 sums, wins where those are too few, for C of up to some 1000 x 1000:
// 100 % of cuBLAS at 1024 cubed. Both lose where C is smaller still and k is long, with 3 % of
// cuBLAS at 128 x 128 x 16384: several blocks would have to share a sum.
#include "kernels/gemm.h"
#include "kernels/load_tile.h"

namespace assay {
namespace {

constexpr int Threads = 256;
constexpr int LanesDown = 4, LanesAcross = 8;  // the shape of a warp

// WM x WN is the part of the block's tile that a warp computes, in steps of TM x 4 for a lane.
template <int BM_, int BN_, int WM, int WN, int TM_, int Buffers_>
struct Shape {
  static constexpr int BM = BM_, BN = BN_, BK = 16, TM = TM_, Buffers = Buffers_;
  static constexpr Tile tile = {BM, BN, BK};
  static constexpr int StepM = LanesDown * TM, StepN = LanesAcross * 4;
  static constexpr int SumsDown = WM / LanesDown, SumsAcross = WN / LanesAcross;  // of a thread
  static constexpr int WarpM = WM, WarpN = WN, WarpsAcross = BN / WN;
  static constexpr int AStride = BM + 4;  // whole quads, and fewer lanes that write to one bank
  static constexpr int Floats = BK * AStride + BK * BN;  // of a buffer: A transposed, then B
  static constexpr int SharedBytes = Buffers * Floats * int{sizeof(float)};
  static_assert((BM / WM) * (BN / WN) * 32 == Threads);
};
using Large = Shape<128, 256, 64, 64, 8, 3>;
using Small = Shape<64, 128, 32, 32, 4, 4>;

// Below sm_80, where no launch gets to, these do nothing.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define ON_SM_80(...)
#else
#define ON_SM_80(...) asm volatile(__VA_ARGS__)
#endif

// Starts to copy a piece of neighbours, of which only the first `count` exist. The others become 0.
template <int Piece>
__device__ void start_copy(float* to, const float* from, int count) {
  static_assert(Piece == 1 || Piece == 4);
  [[maybe_unused]] const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
  [[maybe_unused]] const int bytes = count * 4;
  if constexpr (Piece == 4) {
    ON_SM_80("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(bytes)
             : "memory");
  } else {
    ON_SM_80("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(from), "r"(bytes)
             : "memory");
  }
}
__device__ void end_group_of_copies() { ON_SM_80("cp.async.commit_group;" ::: "memory"); }
// Until all of this thread's groups but the last few have arrived.
template <int Few>
__device__ void wait_for_copies_but() {
  ON_SM_80("cp.async.wait_group %0;" ::"n"(Few) : "memory");
}

// What one thread copies of every slice.
template <class S, int Piece>  // floats of B that go at a time
class Copies {
  static constexpr int ARows = Threads / S::BK, ATimes = S::BM / ARows;
  static constexpr int Across = S::BN / Piece, BRows = Threads / Across, BTimes = S::BK / BRows;
  static_assert(ATimes * ARows == S::BM && BTimes * BRows == S::BK && ATimes <= 32);

 public:
  // From k = `first` on, which may lie before the matrices.
  __device__ Copies(const Gemm& g, const Corner& corner, std::int64_t first)
      : a_p_(threadIdx.x % S::BK),
        a_row_(threadIdx.x / S::BK),
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

template <class S, int Piece>
__global__ void __launch_bounds__(Threads) pipelined(Gemm g) {
  float* const buffers = dynamic_shared<float>();
  const Corner corner = block_corner<S::tile>(g);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int x = warp % S::WarpsAcross * S::WarpN + lane % LanesAcross * 4;
  const int y = warp / S::WarpsAcross * S::WarpM + lane / LanesAcross * S::TM;

  const std::int64_t k = depth(g), slices = ceil_div(k, S::BK);
  const int missing = static_cast<int>(slices * S::BK - k);
  Copies<S, Piece> copies(g, corner, -missing);
  constexpr int Ahead = S::Buffers - 1;
#pragma unroll
  for (int s = 0; s < Ahead; ++s) {
    if (s < slices) copies.start(buffers + s * S::Floats, s == 0 ? missing : 0);
    end_group_of_copies();
  }

  float sum[S::SumsDown][S::SumsAcross] = {};
  int full = 0, free = Ahead;  // the buffer to multiply, and the one to fill
  for (std::int64_t s = 0; s < slices; ++s) {
    wait_for_copies_but<Ahead - 1>();
    __syncthreads();
    if (s + Ahead < slices) copies.start(buffers + free * S::Floats, 0);
    end_group_of_copies();  // also an empty one: so the slice to multiply is always the same group

    const float* a_tile = buffers + full * S::Floats + y;
    const float* b_tile = buffers + full * S::Floats + S::BK * S::AStride + x;
#pragma unroll
    for (int p = 0; p < S::BK; ++p) {
      alignas(16) float a[S::SumsDown], b[S::SumsAcross];
#pragma unroll
      for (int i = 0; i < S::SumsDown; i += 4) {
        const int row = i / S::TM * S::StepM + i % S::TM;
        quad(&a[i]) = quad(a_tile + p * S::AStride + row);
      }
#pragma unroll
      for (int j = 0; j < S::SumsAcross; j += 4) {
        quad(&b[j]) = quad(b_tile + p * S::BN + j / 4 * S::StepN);
      }
#pragma unroll
      for (int i = 0; i < S::SumsDown; ++i) {
#pragma unroll
        for (int j = 0; j < S::SumsAcross; ++j) sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
      }
    }
    full = full + 1 == S::Buffers ? 0 : full + 1;
    free = free + 1 == S::Buffers ? 0 : free + 1;
  }

#pragma unroll
  for (int i = 0; i < S::SumsDown; ++i) {
    const int row = y + i / S::TM * S::StepM + i % S::TM;
    finish_row_by_quads<S::StepN>(g, corner.row + row, corner.col + x, sum[i]);
  }
}

template <class S, int Piece>
cudaError_t launch_shape(const Gemm& g, cudaStream_t stream) {
  constexpr int Bytes = S::SharedBytes;
  const cudaError_t failed =
      cudaFuncSetAttribute(pipelined<S, Piece>, cudaFuncAttributeMaxDynamicSharedMemorySize, Bytes);
  if (failed != cudaSuccess) return failed;
  return launch_tiles<S::tile>(pipelined<S, Piece>, dim3(Threads), g, stream, Bytes);
}

template <class S>
cudaError_t launch_pipelined(const Gemm& g, cudaStream_t stream) {
  const bool b_in_quads = reinterpret_cast<std::uintptr_t>(g.b) % 16 == 0 && g.ldb % 4 == 0;
  return b_in_quads ? launch_shape<S, 4>(g, stream) : launch_shape<S, 1>(g, stream);
}

template <class S>
constexpr Variant variant(const char* name, const char* idea) {
  return {
      .name = name,
      .idea = idea,
      .launch = launch_pipelined<S>,
      .needs = {.compute_capability = 80},
      .order = Order::one_fma_chain,
      .tile = S::tile,
  };
}

const Registrar pipelined_64x128{
    variant<Small>("pipelined_64x128",
                   "cp.async copies slices ahead, through four buffers; 32 elements per thread.")};
const Registrar pipelined_128x256{variant<Large>(
    "pipelined_128x256",
    "cp.async copies slices ahead, through three buffers; 128 elements per thread.")};

}  // namespace
}  // namespace assay
