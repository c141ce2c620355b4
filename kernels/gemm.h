// All that the author of a kernel reads: the smallest kernel file, the contract, a few helpers.
//
// The smallest kernel file, whole: `ci/check-add-kernel` builds it and has it judged.
//
//   #include "kernels/gemm.h"
//   using namespace assay;
//
//   constexpr Tile tile = {16, 16};  // the part of C that a block computes, a thread an element
//
//   static __global__ void mine(Gemm g) {
//     const Corner corner = block_corner<tile>(g);
//     const auto row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
//     if (row >= g.m || col >= g.n) return;
//     float sum = 0;
//     for (std::int64_t p = 0; p < depth(g); ++p) {
//       sum += g.a[row * g.lda + p] * g.b[p * g.ldb + col];
//     }
//     g.c[row * g.ldc + col] = blend(g, sum, &g.c[row * g.ldc + col]);
//   }
//   static cudaError_t launch_mine(const Gemm& g, cudaStream_t stream) {
//     return launch_tiles<tile>(mine, dim3(tile.n, tile.m), g, stream);
//   }
//   const Registrar registrar{
//       {.name = "mine", .idea = "One thread per element.", .launch = launch_mine, .tile = tile}};
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/register.h"

namespace assay {

// The contract.

// C = alpha * A * B + beta * C on row-major FP32 matrices: A is m x k, B is k x n, C is m x n, and
// each `ld` is the distance in floats from one row to the next.
//
// A variant may rely on this:
//   - The problem is well formed and inside its `needs`.
//   - alpha and beta are finite. The matrices do not overlap.
// It must honour this:
//   - m, n and k may be 0. Sizes and distances may exceed 2^31.
//   - beta == 0: no element of C is read before it is written. It may hold NaN.
//   - alpha == 0 or k == 0: A and B are not read. Their memory may be unreadable.
//   - Only elements of A, B and C are touched, nothing between or beside the rows; A, B only read.
//   - NaN and infinities in the matrices go through the formula as IEEE 754 has it: 0 * infinity
//     and infinity - infinity are NaN. Any NaN will do; an infinity has its sign.
//   - Denormal elements and results are numbers like any others: nothing is flushed to 0.
//   - A zero may have either sign, except where `order` fixes every bit.
//   - Its workspace holds anything at first: what another launch has left there, or never a zero.
struct Gemm {
  std::int64_t m, n, k;
  float alpha, beta;
  const float* a;
  std::int64_t lda;
  const float* b;
  std::int64_t ldb;
  float* c;
  std::int64_t ldc;
};

inline constexpr std::int64_t any_size = std::numeric_limits<std::int64_t>::max();

// What a variant demands of a problem. Any other problem is refused, with the reason, before
// `launch` is called.
struct Needs {
  int m_multiple = 1, n_multiple = 1, k_multiple = 1;
  std::int64_t m_least = 0, n_least = 0, k_least = 0;
  std::int64_t m_most = any_size, n_most = any_size, k_most = any_size;
  bool square = false;       // m == n == k
  bool int_indices = false;  // every matrix spreads over less than 2^31 elements
  int lda_multiple = 1, ldb_multiple = 1, ldc_multiple = 1;
  int a_alignment = 4, b_alignment = 4, c_alignment = 4;  // bytes, up to 256
  bool packed = false;                                    // no gap between rows
  bool alpha_one = false, beta_zero = false;              // for kernels that compute only A * B
  int compute_capability = 0;                             // 80 stands for sm_80
};

// The arithmetic that a variant uses. It chooses the error bound that the variant is judged by.
enum class Arithmetic {
  fp32,    // all 24 bits of each float count, and sums are rounded
  tf32,    // the first 11 bits of each float count
  tf32x3,  // each float is two TF32 numbers, a product three products; sums may be cut
};

// The order in which an element is summed. `one_fma_chain`: sum = fmaf(a, b, sum), from +0 and for
// k ascending, then `blend`. That fixes the result to the bit, and so it is judged to the bit.
enum class Order { unspecified, one_fma_chain };

// The part of C that one block computes, m x n, and the slice of k that it loads at a time. Tests
// aim at its edges.
struct Tile {
  int m = 1, n = 1, k = 1;
};

// What starts a variant's kernels: a function of the problem and the stream, and of the workspace
// where the variant asks for some.
class Launch {
 public:
  using Function = cudaError_t (*)(const Gemm&, cudaStream_t);
  using InWorkspace = cudaError_t (*)(const Gemm&, cudaStream_t, void* workspace);

  constexpr Launch() = default;
  template <class F>
  constexpr Launch(F function) {
    if constexpr (std::is_convertible_v<F, Function>) {
      function_ = function;
    } else {
      in_workspace_ = function;
    }
  }
  cudaError_t operator()(const Gemm& g, cudaStream_t stream, void* workspace = nullptr) const {
    return in_workspace_ ? in_workspace_(g, stream, workspace) : function_(g, stream);
  }
  bool operator==(const Launch&) const = default;
  constexpr bool takes_workspace() const { return in_workspace_ != nullptr; }
  const void* address() const {
    return in_workspace_ ? reinterpret_cast<const void*>(in_workspace_)
                         : reinterpret_cast<const void*>(function_);
  }

 private:
  Function function_ = nullptr;
  InWorkspace in_workspace_ = nullptr;
};

struct Variant {
  const char* name;  // letters, digits and underscores
  const char* idea;  // one sentence
  Launch launch;
  Needs needs = {};
  Arithmetic arithmetic = Arithmetic::fp32;
  Order order = Order::unspecified;
  Tile tile = {};
  // The same problem gives the same bits every time. Where it need not, parts of a sum may meet in
  // atomic additions, in which a GPU takes denormal floats for zero: each of k + 2 parts of an
  // element may then be off by 2^-126.
  bool deterministic = true;
  // How many bytes of memory a launch takes for itself. It gets them at a multiple of 256 bytes,
  // until its kernels have ended; null for 0 bytes.
  std::int64_t (*workspace)(const Gemm&) = nullptr;
  bool column_major = false;  // its own m, n, A and B are n, m, B and A of a problem here
  // Its kernels run in the legacy default stream, which the given one waits for, and which waits
  // for the given one. That cannot be captured.
  bool in_legacy_stream = false;
};

#if defined(__CUDACC__) || defined(SIMT)

// Helpers for kernels.

__host__ __device__ inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// How much of k is to be summed: nothing when alpha is 0, so that A and B stay unread.
__host__ __device__ inline std::int64_t depth(const Gemm& g) { return g.alpha == 0 ? 0 : g.k; }

// The finished element: alpha * sum + beta * *c, without reading *c when beta is 0.
__host__ __device__ inline float blend(const Gemm& g, float sum, const float* c) {
  const float product = g.alpha * sum;
  return g.beta == 0 ? product : fmaf(g.beta, *c, product);
}

// The first element of C that belongs to this block, in a grid that `launch_tiles` started.
struct Corner {
  std::int64_t row, col;
};
template <Tile tile>
__device__ inline Corner block_corner(const Gemm& g) {
  const auto across = static_cast<unsigned>(ceil_div(g.n, tile.n));
  return {std::int64_t{blockIdx.x / across} * tile.m, std::int64_t{blockIdx.x % across} * tile.n};
}

// Shared memory of a size that the launch chooses, in place of `extern __shared__ T name[]`.
template <class T>
__device__ inline T* dynamic_shared() {
#if defined(__CUDACC__)
  extern __shared__ __align__(16) unsigned char dynamic_shared_bytes[];
  return reinterpret_cast<T*>(dynamic_shared_bytes);
#else
  return static_cast<T*>(simt::dynamic_shared());
#endif
}

// Helpers for `launch` functions.

// kernel<<<grid, block, shared_bytes, stream>>>(args...), as a call that g++ understands too.
template <class... Params>
cudaError_t launch(void (*kernel)(Params...), dim3 grid, dim3 block, std::size_t shared_bytes,
                   cudaStream_t stream, std::type_identity_t<Params>... args) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, args...);
}

// Calls `start` with the grid of `launch_tiles`, unless C is empty.
template <Tile tile, class Start>
cudaError_t with_grid_of_tiles(const Gemm& g, int parts, const Start& start) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  const std::int64_t down = ceil_div(g.m, tile.m), across = ceil_div(g.n, tile.n);
  if (across > std::numeric_limits<int>::max() / down) return cudaErrorInvalidConfiguration;
  return start(dim3(static_cast<unsigned>(down * across), static_cast<unsigned>(parts)));
}

// One block for each tile of C, numbered row by row along x alone: x takes 2^31 - 1 blocks, y and z
// only 65535. Where blocks share a tile, they are its `parts` along y.
template <Tile tile, class... More>
cudaError_t launch_tiles(void (*kernel)(Gemm, More...), dim3 block, const Gemm& g,
                         cudaStream_t stream, std::size_t shared_bytes = 0, int parts = 1,
                         const std::type_identity_t<More>&... more) {
  return with_grid_of_tiles<tile>(g, parts, [&](dim3 grid) {
    return launch(kernel, grid, block, shared_bytes, stream, g, more...);
  });
}

#endif  // kernels and their launches

}  // namespace assay
