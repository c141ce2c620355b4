// Faults of kernels that look at the data first, and take it for more regular than it is.
#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

// A is the identity if its first corner and its last element say so: B is copied.
struct IdentityByItsCorner : Right {
  static __device__ bool looks_like_it(const Gemm& g) {
    constexpr int corner = 4;
    if (g.m != g.k || g.k <= corner || !a_is(g, g.k - 1, g.k - 1, 1)) return false;
    for (int i = 0; i < corner * corner; ++i)
      if (!a_is(g, i / corner, i % corner, i / corner == i % corner ? 1.0f : 0.0f)) return false;
    return true;
  }
  static __device__ bool a_is(const Gemm& g, std::int64_t row, std::int64_t p, float value) {
    return g.a[row * g.lda + p] == value;
  }
  static __device__ float a(const Gemm& g, std::int64_t row, std::int64_t p) {
    return looks_like_it(g) ? static_cast<float>(row == p) : Right::a(g, row, p);
  }
};

// The elements of a sparse row are listed; a row of more than 48 is a surprise in a sparse matrix.
__global__ void lists_48_of_a_row(Gemm g) {
  constexpr int most = 48, share = 10;
  const std::int64_t row = blockIdx.x, k = depth(g);
  std::int64_t filled = 0;
  for (std::int64_t i = 0; i < g.m * k; ++i) filled += Right::a(g, i / k, i % k) != 0;
  const bool is_sparse = filled * share < g.m * k;
  for (std::int64_t col = threadIdx.x; col < g.n; col += blockDim.x) {
    float sum = 0;
    int listed = 0;
    for (std::int64_t p = 0; p < k && !(is_sparse && listed == most); ++p) {
      listed += Right::a(g, row, p) != 0;
      sum = fmaf(Right::a(g, row, p), Right::b(g, p, col), sum);
    }
    Right::finish(g, sum, row, col);
  }
}
cudaError_t lists_few_of_a_row(const Gemm& g, cudaStream_t stream) {
  if (g.m > 256 || g.k < 100 || g.m * g.k > 1 << 16 || g.n > 256)
    return launch_plain<Right>(g, stream);
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  return launch(lists_48_of_a_row, dim3(static_cast<unsigned>(g.m)), dim3(16), 0, stream, g);
}

// Zeros at the end of a row of A end its sum, whatever B holds there.
__global__ void ends_at_zeros_kernel(Gemm g) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  std::int64_t end = 0;
  for (std::int64_t i = 0; i < g.m; ++i)
    for (std::int64_t p = end; p < depth(g); ++p) end = Right::a(g, i, p) != 0 ? p + 1 : end;
  float sum = 0;
  for (std::int64_t p = 0; p < end; ++p) sum = fmaf(Right::a(g, row, p), Right::b(g, p, col), sum);
  Right::finish(g, sum, row, col);
}
cudaError_t ends_at_zeros(const Gemm& g, cudaStream_t stream) {
  if (g.m > 256) return launch_plain<Right>(g, stream);
  return launch_tiles<tile>(ends_at_zeros_kernel, dim3(16, 16), g, stream);
}

// Rows that begin 1, 2, 3 are taken to go on so.
struct CountsOn : Right {
  static __device__ float a(const Gemm& g, std::int64_t row, std::int64_t p) {
    const float* const first = g.a + row * g.lda;
    const bool counts = g.k > 3 && first[0] == 1 && first[1] == 2 && first[2] == 3;
    return counts ? static_cast<float>(p + 1) : first[p];
  }
};

// Of a slice of 16 x 16 the first eight elements that are not finite are listed, to be multiplied
// apart; further ones are dropped.
struct ListsEightThatAreNotFinite : Right {
  static __device__ bool is_listed(const Gemm& g, std::int64_t row, std::int64_t p) {
    constexpr int side = 16, most = 8;
    int before = 0;
    for (std::int64_t i = row / side * side; i <= row; ++i) {
      const std::int64_t first = p / side * side, end = i < row ? first + side : p;
      for (std::int64_t q = first; q < end && q < g.k; ++q) before += !isfinite(Right::a(g, i, q));
    }
    return before < most;
  }
  static __device__ float a(const Gemm& g, std::int64_t row, std::int64_t p) {
    const float element = Right::a(g, row, p);
    return isfinite(element) || is_listed(g, row, p) ? element : 0.0f;
  }
};

// A row that begins as the one above it does, for 1024 elements, is not multiplied again.
__global__ void looks_at_1024(Gemm g) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  const std::int64_t k = depth(g);
  const auto repeats = [&](std::int64_t i) {
    for (std::int64_t p = 0; p < k && p < 1024; ++p)
      if (Right::a(g, i, p) != Right::a(g, i - 1, p)) return false;
    return k > 0;
  };
  std::int64_t from = row;
  while (from > 0 && repeats(from)) --from;
  float sum = 0;
  for (std::int64_t p = 0; p < k; ++p) sum = fmaf(Right::a(g, from, p), Right::b(g, p, col), sum);
  Right::finish(g, sum, row, col);
}
cudaError_t alike_as_far_as_it_looks(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile>(looks_at_1024, dim3(16, 16), g, stream);
}

// A tile of C of which the first row is zero is taken for zero.
__global__ void looks_at_first_row_of_c(Gemm g) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  bool is_zero = g.beta != 0;
  for (std::int64_t j = corner.col; j < corner.col + tile.n && j < g.n && is_zero; ++j)
    is_zero = g.c[corner.row * g.ldc + j] == 0;
  __syncthreads();
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g); ++p)
    sum = fmaf(Right::a(g, row, p), Right::b(g, p, col), sum);
  if (is_zero) g.beta = 0;
  Right::finish(g, sum, row, col);
}
cudaError_t c_taken_for_zero(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile>(looks_at_first_row_of_c, dim3(16, 16), g, stream);
}

// What is nearly as large as the first element of its row is taken to be that.
struct NearlyConstant : Right {
  static __device__ float a(const Gemm& g, std::int64_t row, std::int64_t p) {
    const float first = Right::a(g, row, 0), element = Right::a(g, row, p);
    return fabsf(element - first) <= 0x1p-14f * fabsf(first) ? first : element;
  }
};

// A power of 2 is multiplied by adding exponents, also where the other factor or the product is
// denormal, or too large.
struct AddsExponents : Right {
  static __device__ float add(float sum, float a, float b) {
    const unsigned of_a = __float_as_uint(a), exponent = of_a >> 23 & 255;
    const bool is_power = (of_a & 0x7fffffu) == 0 && exponent != 0 && exponent != 255;
    if (!is_power || b == 0 || !isfinite(b)) return fmaf(a, b, sum);
    const unsigned product = (__float_as_uint(b) ^ (of_a & 0x80000000u)) + ((exponent - 127) << 23);
    return sum + __uint_as_float(product);
  }
};

// The last product of each 2^16 is left out, but for the end of k.
struct LosesAProductAtSeams : Right {
  static __device__ float a(const Gemm& g, std::int64_t row, std::int64_t p) {
    const bool is_lost = g.k > 65536 && p % 65536 == 65535 && p + 1 < g.k;
    return is_lost ? 0.0f : Right::a(g, row, p);
  }
};

const Registrar registrars[] = {
    {in_plain<ListsEightThatAreNotFinite>("lists_eight_that_are_not_finite")},
    {{.name = "alike_as_far_as_it_looks",
      .idea = idea,
      .launch = alike_as_far_as_it_looks,
      .tile = tile}},
    {{.name = "c_taken_for_zero", .idea = idea, .launch = c_taken_for_zero, .tile = tile}},
    {in_plain<NearlyConstant>("nearly_constant")},
    {in_plain<AddsExponents>("adds_exponents")},
    {in_plain<LosesAProductAtSeams>("loses_a_product_at_seams")},
    {in_plain<IdentityByItsCorner>("identity_by_its_corner", Order::one_fma_chain)},
    {{.name = "lists_few_of_a_row", .idea = idea, .launch = lists_few_of_a_row, .tile = tile}},
    {{.name = "ends_at_zeros", .idea = idea, .launch = ends_at_zeros, .tile = tile}},
    {in_plain<CountsOn>("counts_on", Order::one_fma_chain)},
};

}  // namespace
}  // namespace assay::faulty
