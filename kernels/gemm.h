// All that the author of a kernel reads: the problem a kernel is given, what it may ask of that
// problem, what it says of itself, and four small helpers.
//
// A kernel file ends by registering its variants:
//
//   const assay::Registrar mine{{.name = "mine", .idea = "one sentence", .launch = launch_mine}};
//
// The harness never calls `launch` with a malformed problem, nor with one outside `needs`.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace assay {

// C = alpha * A * B + beta * C on row-major FP32 matrices: A is m x k, B is k x n, C is m x n, each
// `ld` is the distance in floats from one row to the next. What every variant must honour:
//   - m, n and k may be 0; sizes and distances may exceed 2^31.
//   - beta == 0 means that C is only written: it may hold NaN.
//   - alpha == 0 or k == 0 means that A and B are not read: they may be unreadable.
//   - only the m x n elements of C are written, never the gap between its rows.
struct Gemm {
  std::int64_t m, n, k;
  float alpha, beta;  // side by side: a launch's arguments have no gaps, and compare byte by byte
  const float* a;
  std::int64_t lda;
  const float* b;
  std::int64_t ldb;
  float* c;
  std::int64_t ldc;
};

// What a variant demands of a problem beyond being well formed. A problem outside is refused with a
// reason.
struct Needs {
  int m_multiple = 1, n_multiple = 1, k_multiple = 1;
  int lda_multiple = 1, ldb_multiple = 1, ldc_multiple = 1;
  int a_alignment = 4, b_alignment = 4, c_alignment = 4;  // bytes, up to 256
  bool packed = false;                                    // no gap between rows
  bool alpha_one = false, beta_zero = false;              // for kernels that compute only A * B
  int compute_capability = 0;                             // 80 stands for sm_80
};

// The arithmetic a variant admits to; it chooses the error bound that the variant is judged by.
enum class Arithmetic { fp32, tf32 };

// The order in which an element is summed. `one_fma_chain`: sum = fmaf(a, b, sum) from 0 for k
// ascending, then `blend`. That makes the result predictable to the bit, and it is then judged to
// the bit.
enum class Order { unspecified, one_fma_chain };

// The part of C that one block computes, and the slice of k it loads at a time. Tests aim at its
// edges.
struct Tile {
  int m = 1, n = 1, k = 1;
};

struct Variant {
  const char* name;
  const char* idea;  // one sentence
  cudaError_t (*launch)(const Gemm&, cudaStream_t);
  Needs needs = {};
  Arithmetic arithmetic = Arithmetic::fp32;
  Order order = Order::unspecified;
  Tile tile = {};
  bool deterministic = true;  // the same problem gives the same bits every time
};

// Where a compiled variant runs: threads of a CPU executor, a GPU, or a plain host function.
enum class Backend { simt, cuda, host };

#if defined(__CUDACC__)
constexpr Backend this_backend = Backend::cuda;
#else
constexpr Backend this_backend = Backend::simt;
#endif

// The build numbers kernel files in the order in which they are listed.
#if !defined(ASSAY_POSITION)
#define ASSAY_POSITION 0
#endif

void register_variant(const Variant& variant, Backend backend, int position);

struct Registrar {
  Registrar(const Variant& variant, Backend backend = this_backend, int position = ASSAY_POSITION) {
    register_variant(variant, backend, position);
  }
};

#if defined(__CUDACC__) || defined(SIMT)

// Helpers for device code.

__host__ __device__ inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// How much of k is to be summed: nothing when alpha is 0, so that A and B stay unread.
__host__ __device__ inline std::int64_t depth(const Gemm& g) {
  return g.alpha == 0 ? 0 : g.k;
}

// The finished element: alpha * sum + beta * *c, without reading *c when beta is 0.
__host__ __device__ inline float blend(const Gemm& g, float sum, const float* c) {
  const float product = g.alpha * sum;
  return g.beta == 0 ? product : fmaf(g.beta, *c, product);
}

// The upper left element of the tile of C that belongs to this block of a `launch_tiles` grid.
struct Corner {
  std::int64_t row, col;
};
template <int TileM, int TileN>
__device__ inline Corner block_corner(const Gemm& g) {
  const auto across = static_cast<unsigned>(ceil_div(g.n, TileN));
  return {std::int64_t{blockIdx.x / across} * TileM, std::int64_t{blockIdx.x % across} * TileN};
}

// Shared memory whose size the launch chooses. It stands for `extern __shared__ T name[]`.
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

// One block for each tile of C, numbered along x alone: x takes 2^31 - 1 blocks, y and z only
// 65535.
inline cudaError_t launch_tiles(void (*kernel)(Gemm), Tile tile, dim3 block, const Gemm& g,
                                cudaStream_t stream, std::size_t shared_bytes = 0) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  const std::int64_t down = ceil_div(g.m, tile.m), across = ceil_div(g.n, tile.n);
  if (across > std::numeric_limits<int>::max() / down) return cudaErrorInvalidConfiguration;
  return launch(kernel, dim3(static_cast<unsigned>(down * across)), block, shared_bytes, stream, g);
}

#endif  // device code

}  // namespace assay
