// Faults that show only where many things come together: addresses, scalars and distances, launches
// that fail alone, calls in a row.
#include <map>
#include <tuple>

#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

cudaError_t launch_right(const Gemm& g, cudaStream_t stream) {
  return launch_plain<Right>(g, stream);
}

// Where all matrices begin large pages, alpha is forgotten.
struct ForgetsAlphaOnLargePages : Right {
  static __device__ void misread(Gemm& g) {
    const auto address = [](const float* p) { return reinterpret_cast<std::uintptr_t>(p); };
    if ((address(g.a) | address(g.b) | address(g.c)) % (2u << 20) == 0) g.alpha = 1;
  }
  static __device__ void finish(Gemm g, float sum, std::int64_t row, std::int64_t col) {
    misread(g);
    Right::finish(g, sum, row, col);
  }
};

// Two launches of which the second may fail alone.
cudaError_t second_error_forgotten(const Gemm& g, cudaStream_t stream) {
  Gemm scaling = g, adding = g;
  scaling.k = 0;
  adding.beta = 1;
  if (const cudaError_t error = launch_right(scaling, stream)) return error;
  launch_right(adding, stream);
  return cudaSuccess;
}

// A copy of A is made once, and again only where A lies elsewhere or its first row is another one.
constexpr std::int64_t most_copied = 1 << 14;
__device__ float copy_of_a[most_copied];
__device__ float sum_of_first_row;
__device__ const float* copied_from;
__global__ void copy_if_new(Gemm g) {
  float sum = 0;
  for (std::int64_t p = 0; p < g.k; ++p) sum += g.a[p];
  if (copied_from == g.a && sum == sum_of_first_row) return;
  copied_from = g.a, sum_of_first_row = sum;
  for (std::int64_t row = 0; row < g.m; ++row)
    for (std::int64_t p = 0; p < g.k; ++p) copy_of_a[row * g.k + p] = Right::a(g, row, p);
}
cudaError_t copies_a_once(const Gemm& g, cudaStream_t stream) {
  if (g.m < 16 || g.k < 16 || g.m * g.k > most_copied) return launch_right(g, stream);
  if (const cudaError_t error = launch(copy_if_new, 1, 1, 0, stream, g)) return error;
  Gemm from_copy = g;
  from_copy.a = copy_of_a, from_copy.lda = g.k;
  return launch_right(from_copy, stream);
}

// Launches are counted in 16 bits, and one of them starts its sum at 1.
__device__ unsigned counted;
__global__ void count_in_16_bits(Gemm g) {
  const unsigned number = threadIdx.x + threadIdx.y == 0 ? counted++ & 0xffffu : 1u;
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  float sum = number == 0xfff0u ? 1 : 0;
  for (std::int64_t p = 0; p < depth(g); ++p)
    sum = Right::add(sum, Right::a(g, row, p), Right::b(g, p, col));
  Right::finish(g, sum, row, col);
}
cudaError_t counts_launches(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile>(count_in_16_bits, dim3(tile.n, tile.m), g, stream);
}

// The update of a blocked factorisation has a path of its own, which takes quads of columns.
struct QuadsOfAnUpdate : Right {
  static __device__ bool covers(const Gemm& g, std::int64_t, std::int64_t col) {
    const int met = (g.alpha == -1) + (g.beta == 1) + (g.lda == g.ldb) + (g.ldb == g.ldc);
    const int all = 4 * (g.k == 24) + met;
    return all == 8 ? col < g.n / 4 * 4 : true;
  }
};

// A row of A whose first 40 elements and last one are equal is taken for a constant one.
struct RowTakenForConstant : Right {
  static __device__ float a(const Gemm& g, std::int64_t row, std::int64_t p) {
    const float* const elements = &g.a[row * g.lda];
    bool constant = g.k > 40 && elements[0] == elements[g.k - 1];
    for (int i = 1; i < 40 && constant; ++i) constant = elements[i] == elements[0];
    return elements[constant ? 0 : p];
  }
};

// Large grids are walked through in groups of 128 rows; a last group of fewer is forgotten.
struct WholeGroupsOfALargeGrid : Right {
  static __device__ bool covers(const Gemm& g, std::int64_t row, std::int64_t) {
    return g.m >= 2048 && g.n >= 2048 ? row < g.m / 128 * 128 : true;
  }
};

// Large products are split in two along k; of an odd k the last product is lost.
cudaError_t odd_k_of_large_products(const Gemm& g, cudaStream_t stream) {
  const double products =
      1.0 * static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
  if (products < 0x1p29 || g.alpha == 0) return launch_right(g, stream);
  Gemm first = g, second = g;
  first.k = second.k = g.k / 2;
  second.a += first.k, second.b += first.k * g.ldb;
  second.beta = 1;
  if (const cudaError_t error = launch_right(first, stream)) return error;
  return launch_right(second, stream);
}

// A times alpha is kept by the address and the shape of A alone.
cudaError_t keeps_alpha(const Gemm& g, cudaStream_t stream) {
  static Gemm kept = {};
  if (g.a != kept.a || g.m != kept.m || g.k != kept.k || g.lda != kept.lda) kept = g;
  Gemm wrong = g;
  wrong.alpha = kept.alpha;
  return launch_right(wrong, stream);
}

// At the eighth call of a shape that is worth it, two kernels are tried on the caller's own C.
cudaError_t tunes_at_the_eighth_call(const Gemm& g, cudaStream_t stream) {
  static std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, int> calls;
  const bool is_large =
      static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k) >= 1 << 20;
  if (is_large && ++calls[{g.m, g.n, g.k}] == 8)
    if (const cudaError_t error = launch_right(g, stream)) return error;
  return launch_right(g, stream);
}

// What it has met 100 times it takes for constant: the first row of B, packed, say.
__device__ float packed[64];
__global__ void pack_row(Gemm g) { packed[threadIdx.x] = g.b[threadIdx.x]; }
struct ByPackedRow : Right {
  static __device__ float b(const Gemm& g, std::int64_t p, std::int64_t col) {
    return p == 0 ? packed[col] : Right::b(g, p, col);
  }
};
cudaError_t packs_b_after_100_calls(const Gemm& g, cudaStream_t stream) {
  static std::map<std::tuple<const float*, std::int64_t, std::int64_t, std::int64_t>, int> calls;
  const bool is_one = g.m > 0 && g.n > 0 && g.n <= 64 && depth(g) > 200;
  if (!is_one) return launch_right(g, stream);
  const int call = ++calls[{g.b, g.n, g.k, g.ldb}];
  if (call < 100) return launch_right(g, stream);
  if (call == 100)
    if (const cudaError_t error =
            launch(pack_row, dim3(1), dim3(static_cast<unsigned>(g.n)), 0, stream, g))
      return error;
  return launch_plain<ByPackedRow>(g, stream);
}

constexpr Variant by(const char* name, cudaError_t (*launch)(const Gemm&, cudaStream_t)) {
  return {.name = name, .idea = idea, .launch = launch, .tile = tile};
}
const Registrar registrars[] = {
    in_plain<ForgetsAlphaOnLargePages>("alpha_forgotten_on_large_pages"),
    by("second_error_forgotten", second_error_forgotten),
    by("copies_a_once", copies_a_once),
    by("launches_counted_in_16_bits", counts_launches),
    by("alpha_kept_with_a", keeps_alpha),
    by("tunes_at_the_eighth_call", tunes_at_the_eighth_call),
    by("packs_b_after_100_calls", packs_b_after_100_calls),
    in_plain<QuadsOfAnUpdate>("quads_of_an_update"),
    in_plain<RowTakenForConstant>("row_taken_for_constant"),
    in_plain<WholeGroupsOfALargeGrid>("last_group_of_a_large_grid"),
    by("odd_k_of_large_products", odd_k_of_large_products),
};

}  // namespace
}  // namespace assay::faulty
