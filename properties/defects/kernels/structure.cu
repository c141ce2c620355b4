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

const Registrar registrars[] = {
    {in_plain<IdentityByItsCorner>("identity_by_its_corner", Order::one_fma_chain)},
    {{.name = "lists_few_of_a_row", .idea = idea, .launch = lists_few_of_a_row, .tile = tile}},
    {{.name = "ends_at_zeros", .idea = idea, .launch = ends_at_zeros, .tile = tile}},
    {in_plain<CountsOn>("counts_on", Order::one_fma_chain)},
};

}  // namespace
}  // namespace assay::faulty
