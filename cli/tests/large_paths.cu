// Ways that problems of 2^31 products and more take: what is wrong there shows only where such a
// problem is run whole, with the right sizes or data, or twice.
#include "kernels/gemm.h"

namespace assay {
namespace {

constexpr int side = 64, slice = 16, each = 4, threads = 256;
constexpr Tile tile = {side, side, slice};

bool is_large(const Gemm& g) { return depth(g) > 0 && g.m * g.n >= (std::int64_t{1} << 31) / g.k; }

__host__ __device__ std::int64_t in_slices(std::int64_t k) { return ceil_div(k, slice) * slice; }

struct Sums {
  float of[each][each] = {};
};
__device__ int first_row() { return threadIdx.x / (side / each) * each; }
__device__ int first_col() { return threadIdx.x % (side / each) * each; }

// Adds the products from `from` to `to` of a tile. `b` has the rows of g.b, or those of a copy.
__device__ void multiply(const Gemm& g, const float* b, std::int64_t ldb, std::int64_t rows_of_b,
                         const Corner& corner, std::int64_t from, std::int64_t to, Sums& sums) {
  __shared__ float as[slice][side + 1], bs[slice][side];
  for (std::int64_t p0 = from; p0 < to; p0 += slice) {
    for (int i = threadIdx.x; i < side * slice; i += threads) {
      const std::int64_t row = corner.row + i / slice, p = p0 + i % slice;
      as[i % slice][i / slice] = row < g.m && p < to ? g.a[row * g.lda + p] : 0.0f;
      const std::int64_t q = p0 + i / side, col = corner.col + i % side;
      bs[i / side][i % side] = q < rows_of_b && col < g.n ? b[q * ldb + col] : 0.0f;
    }
    __syncthreads();
    for (int p = 0; p < slice; ++p)
      for (int i = 0; i < each; ++i)
        for (int j = 0; j < each; ++j)
          sums.of[i][j] = fmaf(as[p][first_row() + i], bs[p][first_col() + j], sums.of[i][j]);
    __syncthreads();
  }
}
template <class Put>
__device__ void for_each_sum(const Gemm& g, const Corner& corner, const Sums& sums, Put put) {
  for (int i = 0; i < each; ++i)
    for (int j = 0; j < each; ++j) {
      const std::int64_t row = corner.row + first_row() + i, col = corner.col + first_col() + j;
      if (row < g.m && col < g.n) put(&g.c[row * g.ldc + col], sums.of[i][j]);
    }
}

__global__ void plain(Gemm g) {
  const Corner corner = block_corner<tile>(g);
  Sums sums;
  multiply(g, g.b, g.ldb, depth(g), corner, 0, depth(g), sums);
  for_each_sum(g, corner, sums, [&](float* c, float sum) { *c = blend(g, sum, c); });
}
cudaError_t launch_plain(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile>(plain, dim3(threads), g, stream);
}

// A copy of B in whole slices, whose last rows nobody writes, or zeros.
std::int64_t bytes_of_copy(const Gemm& g) {
  return is_large(g) ? in_slices(g.k) * g.n * std::int64_t{sizeof(float)} : 0;
}
template <bool fills_up>
__global__ void copy_b(Gemm g, float* to) {
  const std::int64_t rows = fills_up ? in_slices(g.k) : g.k;
  for (std::int64_t p = blockIdx.x; p < rows; p += gridDim.x)
    for (std::int64_t col = threadIdx.x; col < g.n; col += threads)
      to[p * g.n + col] = p < g.k ? g.b[p * g.ldb + col] : 0.0f;
}
__global__ void by_copy(Gemm g, const float* copy) {
  const Corner corner = block_corner<tile>(g);
  Sums sums;
  multiply(g, copy, g.n, in_slices(g.k), corner, 0, g.k, sums);
  for_each_sum(g, corner, sums, [&](float* c, float sum) { *c = blend(g, sum, c); });
}
template <bool fills_up>
cudaError_t copies_b(const Gemm& g, cudaStream_t stream, void* workspace) {
  if (!is_large(g)) return launch_plain(g, stream);
  auto* const copy = static_cast<float*>(workspace);
  copy_b<fills_up><<<256, threads, 0, stream>>>(g, copy);
  return launch_tiles<tile>(by_copy, dim3(threads), g, stream, 0, 1, copy);
}

// Slices of A that are all zeros are left out, whatever B has there.
std::int64_t bytes_of_marks(const Gemm& g) {
  return is_large(g) ? ceil_div(g.k, slice) * std::int64_t{sizeof(int)} : 0;
}
__global__ void find_zeros(Gemm g, int* counts) {
  bool any = false;
  const std::int64_t p = std::int64_t{blockIdx.x} * slice + threadIdx.x % slice;
  for (std::int64_t row = threadIdx.x / slice; row < g.m; row += threads / slice)
    any |= p < g.k && g.a[row * g.lda + p] != 0;
  any = __syncthreads_or(any);
  if (threadIdx.x == 0) counts[blockIdx.x] = any;
}
__global__ void by_slices(Gemm g, const int* counts) {
  const Corner corner = block_corner<tile>(g);
  Sums sums;
  for (std::int64_t p = 0; p < g.k; p += slice)
    if (counts[p / slice])
      multiply(g, g.b, g.ldb, g.k, corner, p, p + slice < g.k ? p + slice : g.k, sums);
  for_each_sum(g, corner, sums, [&](float* c, float sum) { *c = blend(g, sum, c); });
}
cudaError_t leaves_out_zeros(const Gemm& g, cudaStream_t stream, void* workspace) {
  if (!is_large(g)) return launch_plain(g, stream);
  auto* const counts = static_cast<int*>(workspace);
  find_zeros<<<static_cast<unsigned>(ceil_div(g.k, slice)), threads, 0, stream>>>(g, counts);
  return launch_tiles<tile>(by_slices, dim3(threads), g, stream, 0, 1, counts);
}

// Four parts of the sum are added to C in whatever order they come.
constexpr int parts = 4;
__global__ void scale_c(Gemm g) {
  for (std::int64_t row = blockIdx.x; row < g.m; row += gridDim.x)
    for (std::int64_t col = threadIdx.x; col < g.n; col += threads)
      g.c[row * g.ldc + col] = blend(g, 0.0f, &g.c[row * g.ldc + col]);
}
__global__ void add_part(Gemm g) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t share = in_slices(ceil_div(g.k, parts)), from = blockIdx.y * share;
  Sums sums;
  multiply(g, g.b, g.ldb, g.k, corner, from, from + share < g.k ? from + share : g.k, sums);
  for_each_sum(g, corner, sums, [&](float* c, float sum) { atomicAdd(c, g.alpha * sum); });
}
cudaError_t adds_parts(const Gemm& g, cudaStream_t stream) {
  if (!is_large(g)) return launch_plain(g, stream);
  scale_c<<<256, threads, 0, stream>>>(g);
  return launch_tiles<tile>(add_part, dim3(threads), g, stream, 0, parts);
}

Variant by(const char* name, Launch launch, std::int64_t (*workspace)(const Gemm&) = nullptr) {
  return {.name = name,
          .idea = "Large problems take a way of their own.",
          .launch = launch,
          .tile = tile,
          .workspace = workspace};
}

const Registrar registrars[] = {
    by("large_copies_b", copies_b<false>, bytes_of_copy),
    by("large_leaves_out_zeros", leaves_out_zeros, bytes_of_marks),
    by("large_adds_parts", adds_parts),
    by("right_large_copies_b", copies_b<true>, bytes_of_copy),
};

}  // namespace
}  // namespace assay
