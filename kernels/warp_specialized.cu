// As `pipelined`, with the work divided by warps: 4 of them only copy, and 8 only multiply.
//
//   a ring of buffers      | slice 0 | slice 1 | slice 2 | slice 3 | ...
//   producers, 4 warps     wait until a buffer is empty, fill it, say `full`
//   consumers, 8 warps     wait until it is full, multiply, say `empty`
//
// No barrier stops the block. Each buffer has two mailboxes (`mbarrier`), which count who has
// arrived, and so the producers may be ahead by as many slices as there are buffers. They hand
// their registers to the consumers, which so keep 128 sums each and need nothing else.
//
// Where A and B allow, the producers read quads of A along k, and transpose them on their way
// through registers; quads of B go by `cp.async`. Else every float goes by a `cp.async` of its own.
// The remainder of k comes first, as in `pipelined`.
//
// Who computes what of C is as in `pipelined`. `warp_specialized_64x128` has two groups of
// consumers, which take the slices in turn, each with sums of its own; in the end they exchange
// them, and each finishes half of the rows. So a thread has 64 sums for a tile of only 64 x 128.
//
// On an H200 128x256 wins on large C: 103 % of cuBLAS from 2048 to 8192 cubed; 64x128 where those
// tiles are too few: 126 % at 1024 cubed. Both lose on smaller C, for which there is `split_k`.
// A block takes 200 KB of shared memory, so that a multiprocessor has one.
#include "kernels/warp_roles.h"

namespace assay {
namespace {

using Large = Shape<WarpTiles<128, 256, 32, 64, 64, 8>, 1, 4, 8>;
using Small = Shape<WarpTiles<64, 128, 32, 32, 64, 8>, 2, 6, 16>;

// What one producer copies of each slice from k = `first` on, which may lie before the matrices:
// the first `missing` columns of A and rows of B do not exist, and become 0.
template <class S>
class ByQuads {
  static constexpr int BAcross = S::BN / 4, BRows = Producers / BAcross, BTimes = S::BK / BRows;
  static_assert(BTimes * BRows == S::BK);

 public:
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
  __device__ void fetch(int missing) { a_.fetch(missing); }
  __device__ void fill(float* slice, int missing, Mailbox& full) {
    float* b_to = slice + S::BK * S::AStride + b_p_ * S::BN + b_col_;
#pragma unroll 4
    for (int i = 0; i < BTimes; ++i, b_from_ += b_stride_) {
      start_copy<4>(b_to + i * BRows * S::BN, b_from_, b_p_ + i * BRows >= missing ? b_count_ : 0);
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
  static constexpr int BTimes = S::BN / Producers;
  static_assert(ATimes * ARows == S::BM && BTimes * Producers == S::BN);

 public:
  static constexpr int Arrivals = 1;
  __device__ ByFloats(const Gemm& g, const Corner& corner, std::int64_t first, int thread)
      : thread_(thread),
        a_p_(thread % S::BK),
        a_row_(thread / S::BK),
        a_stride_(ARows * g.lda),
        b_stride_(g.ldb) {
    const std::int64_t row = corner.row + a_row_, col = corner.col + thread;
    a_from_ = g.a + row * g.lda + first + a_p_;
    b_from_ = g.b + first * g.ldb + col;
    a_rows_ = clipped(g.m - row);
    b_cols_ = clipped(g.n - col);
  }
  __device__ void fetch(int) {}
  __device__ void fill(float* slice, int missing, Mailbox& full) {
    const float* a = a_from_;
    float* const a_to = slice + a_p_ * S::AStride + a_row_;
#pragma unroll 4
    for (int i = 0; i < ATimes; ++i, a += a_stride_) {
      start_copy<1>(a_to + i * ARows, a, a_p_ >= missing && i * ARows < a_rows_);
    }
    a_from_ += S::BK;
    float* const b_to = slice + S::BK * S::AStride + thread_;
#pragma unroll 4
    for (int p = 0; p < S::BK; ++p, b_from_ += b_stride_) {
#pragma unroll
      for (int j = 0; j < BTimes; ++j) {
        const int col = j * Producers;
        start_copy<1>(b_to + p * S::BN + col, b_from_ + col, p >= missing && col < b_cols_);
      }
    }
    full.arrive_when_copied();
  }

 private:
  const float* a_from_;
  const float* b_from_;
  int thread_, a_p_, a_row_, a_rows_;
  std::int64_t a_stride_;
  int b_cols_;
  std::int64_t b_stride_;
};

template <class S, class Copies>
__device__ void produce(const Gemm& g, float* ring, Mailbox* full, Mailbox* empty) {
  const int slices = count_slices<S>(g);
  int missing = static_cast<int>(std::int64_t{slices} * S::BK - depth(g));
  Copies copies(g, block_corner<S::tile>(g), -missing, threadIdx.x - Consumers);
  Place<S> at;
#pragma unroll 1
  for (int s = 0; s < slices; ++s, at.advance(1), missing = 0) {
    copies.fetch(missing);
    empty[at.buffer].wait(at.round ^ 1);  // in the first round there is nothing to wait for
    copies.fill(ring + at.buffer * S::Floats, missing, full[at.buffer]);
  }
}

template <class S, class Copies>
__global__ void __launch_bounds__(Threads, 1) specialized(Gemm g) {
  float* const ring = dynamic_shared<float>();
  __shared__ Mailbox full[S::Buffers], empty[S::Buffers];
  if (threadIdx.x == 0) {
    for (int i = 0; i < S::Buffers; ++i) {
      full[i].expect(Producers * Copies::Arrivals);
      empty[i].expect(S::GroupThreads / 32);
    }
  }
  __syncthreads();

  if (threadIdx.x < Consumers) {
    SET_REGISTERS("inc", 224);
    consume<S>(g, ring, full, empty);
  } else {
    SET_REGISTERS("dec", 56);
    produce<S, Copies>(g, ring, full, empty);
  }
}

template <class S, class Copies>
cudaError_t launch_shape(const Gemm& g, cudaStream_t stream) {
  constexpr int Bytes = S::SharedBytes;
  const cudaError_t failed = cudaFuncSetAttribute(
      specialized<S, Copies>, cudaFuncAttributeMaxDynamicSharedMemorySize, Bytes);
  if (failed != cudaSuccess) return failed;
  return launch_tiles<S::tile>(specialized<S, Copies>, dim3(Threads), g, stream, Bytes);
}
template <class S>
cudaError_t launch_specialized(const Gemm& g, cudaStream_t stream) {
  const bool quads = in_quads(g.a, g.lda) && in_quads(g.b, g.ldb) && g.k % 4 == 0;
  return quads ? launch_shape<S, ByQuads<S>>(g, stream) : launch_shape<S, ByFloats<S>>(g, stream);
}

const Registrar warp_specialized_64x128{{
    .name = "warp_specialized_64x128",
    .idea = "Some warps only copy, the others multiply; two groups of them share k.",
    .launch = launch_specialized<Small>,
    .needs = {.compute_capability = 90},
    .tile = Small::tile,
}};
const Registrar warp_specialized_128x256{{
    .name = "warp_specialized_128x256",
    .idea = "Some warps only copy, the others multiply, with 128 elements per thread.",
    .launch = launch_specialized<Large>,
    .needs = {.compute_capability = 90},
    .order = Order::one_fma_chain,
    .tile = Large::tile,
}};
}  // namespace
}  // namespace assay
