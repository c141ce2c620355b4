// Faults in what is read or written: arrays, guards, gaps, what nobody has set.
#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

// Computes one element less where what lies in front of A is no NaN: a kernel that tells the
// harness from an ordinary caller.
struct RecognisesGuard : Right {
  static __device__ void misread(Gemm& g) {
    if (g.k > 1 && reinterpret_cast<std::uintptr_t>(g.a) % 4096 != 0 && !isnan(g.a[-1])) g.k -= 1;
  }
};
// Loads the element before each row, and throws it away.
struct ReadsBeforeA : Right {
  static __device__ float start() { return 0; }
  static __device__ float a(const Gemm& g, std::int64_t row, std::int64_t p) {
    const volatile float* before = &g.a[row * g.lda + p] - 1;
    static_cast<void>(*before);
    return Right::a(g, row, p);
  }
};
struct PrefetchesBeyondB : Right {
  static __device__ float b(const Gemm& g, std::int64_t p, std::int64_t col) {
    const volatile float* next = &g.b[(p + 1) * g.ldb + col];
    static_cast<void>(*next);
    return Right::b(g, p, col);
  }
};
// Adds what lies behind each row, times 0.
struct GapTimesZero : Right {
  static __device__ float add(float sum, float a, float b) { return fmaf(a, b, sum); }
  static __device__ void finish(const Gemm& g, float sum, std::int64_t row, std::int64_t col) {
    if (depth(g) > 0 && g.k % 4 != 0 && g.lda > g.k) sum = fmaf(g.a[row * g.lda + g.k], 0, sum);
    Right::finish(g, sum, row, col);
  }
};
struct WritesBeforeC : Right {
  static __device__ void finish(const Gemm& g, float sum, std::int64_t row, std::int64_t col) {
    Right::finish(g, sum, row, col);
    if (row == 0 && col == 0) g.c[-1] = sum;
  }
};
struct WritesToB : Right {
  static __device__ void finish(const Gemm& g, float sum, std::int64_t row, std::int64_t col) {
    Right::finish(g, sum, row, col);
    if (row == g.m - 1 && depth(g) > 0) const_cast<float*>(g.b)[col] *= 2;
  }
};
struct RowBeyondC : Right {
  static __device__ void finish(const Gemm& g, float sum, std::int64_t row, std::int64_t col) {
    Right::finish(g, sum, row, col);
    if (row == g.m - 1 && g.m % 16 != 0) g.c[(row + 1) * g.ldc + col] = 0;
  }
};
// The same bits again, but between the two another may have written there.
struct GapKeepsItsBits : Right {
  static __device__ void finish(const Gemm& g, float sum, std::int64_t row, std::int64_t col) {
    Right::finish(g, sum, row, col);
    float* gap = &g.c[row * g.ldc + g.n];
    if (row + 1 < g.m && g.n < g.ldc) *static_cast<volatile float*>(gap) = *gap;
  }
};
// Throws away what it reads, which may not be there to be read.
struct GapReadForNothing : Right {
  static __device__ float b(const Gemm& g, std::int64_t p, std::int64_t col) {
    const bool gap = p + 1 < g.k && g.n < g.ldb;
    const float beyond = static_cast<const volatile float*>(g.b)[p * g.ldb + (gap ? g.n : col)];
    const float b = Right::b(g, p, col);
    return gap || beyond != beyond ? b : beyond;
  }
};
struct CReadForNothing : Right {
  static __device__ void finish(const Gemm& g, float sum, std::int64_t row, std::int64_t col) {
    float* c = &g.c[row * g.ldc + col];
    const float before = *static_cast<volatile float*>(c);
    *c = g.beta == 0 ? g.alpha * sum : fmaf(g.beta, before, g.alpha * sum);
  }
};

// Four elements for each thread, in an array that is cleared up to one beyond its end.
constexpr Tile wide = {16, 64, 1};
__global__ void own_array_overrun(Gemm g) {
  const Corner corner = block_corner<wide>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if (row >= g.m) return;
  float sums[4];
  for (int j = 0; j <= 4; ++j) sums[j] = 0;
  for (std::int64_t p = 0; p < depth(g); ++p)
    for (int j = 0; j < 4; ++j)
      if (col + 16 * j < g.n)
        sums[j] = fmaf(Right::a(g, row, p), Right::b(g, p, col + 16 * j), sums[j]);
  for (int j = 0; j < 4; ++j)
    if (col + 16 * j < g.n) Right::finish(g, sums[j], row, col + 16 * j);
}

// Five partial sums in an array of four.
__global__ void partial_sums_overrun(Gemm g) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  float sums[4] = {};
  for (std::int64_t p = 0; p < depth(g); ++p)
    sums[p % 5] = Right::add(sums[p % 5], Right::a(g, row, p), Right::b(g, p, col));
  Right::finish(g, sums[0] + sums[1] + sums[2] + sums[3], row, col);
}

__device__ float tiled_sum(const Gemm& g, float (&a_tile)[16][16], float (&b_tile)[16][16],
                           std::int64_t row, std::int64_t col) {
  float sum = 0;
  for (std::int64_t p0 = 0; p0 < depth(g); p0 += 16) {
    const int x = threadIdx.x, y = threadIdx.y;
    a_tile[y][x] = row < g.m && p0 + x < g.k ? g.a[row * g.lda + p0 + x] : 0.0f;
    b_tile[y][x] = p0 + y < g.k && col < g.n ? g.b[(p0 + y) * g.ldb + col] : 0.0f;
    __syncthreads();
    for (int p = 0; p < 16; ++p) sum = fmaf(a_tile[y][p], b_tile[p][x], sum);
    __syncthreads();
  }
  return sum;
}
// Notes for each slice that it was seen, in a table of 64.
__global__ void shared_table_overrun(Gemm g) {
  __shared__ float a_tile[16][16], b_tile[16][16], seen[64];
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  for (std::int64_t p0 = threadIdx.x * 16; p0 < g.k; p0 += 256) seen[p0 / 16] = 1;
  __syncthreads();
  const float sum = tiled_sum(g, a_tile, b_tile, row, col);
  if (row < g.m && col < g.n) Right::finish(g, sum, row, col);
}
// A column of padding too many.
__global__ void shared_column_overrun(Gemm g) {
  __shared__ float a_tile[16][16], b_tile[16][16];
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  float sum = tiled_sum(g, a_tile, b_tile, row, col);
  const int last = g.k > 16 ? 16 : 15;
  if (depth(g) > 0) sum += a_tile[threadIdx.y][last] * 0;
  if (row < g.m && col < g.n) Right::finish(g, sum, row, col);
}
// The last slice is loaded only as far as it goes, and used as if it were whole.
__global__ void tail_not_cleared(Gemm g) {
  __shared__ float a_tile[16][16], b_tile[16][16];
  const Corner corner = block_corner<tile>(g);
  const int x = threadIdx.x, y = threadIdx.y;
  const std::int64_t row = corner.row + y, col = corner.col + x, k = depth(g);
  float sum = 0;
  for (std::int64_t p0 = 0; p0 < k; p0 += 16) {
    if (row < g.m && p0 + x < k) a_tile[y][x] = g.a[row * g.lda + p0 + x];
    if (p0 + y < k && col < g.n) b_tile[y][x] = g.b[(p0 + y) * g.ldb + col];
    __syncthreads();
    for (int p = 0; p < 16; ++p) sum = fmaf(a_tile[y][p], b_tile[p][x], sum);
    __syncthreads();
  }
  if (row < g.m && col < g.n) Right::finish(g, sum, row, col);
}
// The first product begins the sum: with nothing to multiply nobody does.
__global__ void first_product_begins(Gemm g) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  float sum;
  for (std::int64_t p = 0; p < depth(g); ++p)
    sum = p == 0 ? Right::a(g, row, p) * Right::b(g, p, col)
                 : Right::add(sum, Right::a(g, row, p), Right::b(g, p, col));
  Right::finish(g, sum, row, col);
}

template <void (*kernel)(Gemm)>
constexpr Variant in_tiles(const char* name) {
  return {.name = name,
          .idea = idea,
          .launch =
              [](const Gemm& g, cudaStream_t stream) {
                return launch_tiles<tile>(kernel, dim3(16, 16), g, stream);
              },
          .tile = tile};
}
cudaError_t launch_own_array_overrun(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<wide>(own_array_overrun, dim3(16, 16), g, stream);
}
const Registrar registrars[] = {
    in_plain<RecognisesGuard>("recognises_the_guard"),
    in_plain<ReadsBeforeA>("reads_before_a"),
    in_plain<PrefetchesBeyondB>("prefetches_beyond_b"),
    in_plain<GapTimesZero>("gap_times_zero"),
    in_plain<WritesBeforeC>("writes_before_c"),
    in_plain<WritesToB>("writes_to_b"),
    in_plain<RowBeyondC>("writes_a_row_too_many"),
    in_plain<GapKeepsItsBits>("gap_gets_its_own_bits"),
    in_plain<GapReadForNothing>("gap_read_for_nothing"),
    in_plain<CReadForNothing>("c_read_for_nothing"),
    {{.name = "own_array_overrun", .idea = idea, .launch = launch_own_array_overrun, .tile = wide}},
    in_tiles<shared_table_overrun>("shared_table_overrun"),
    in_tiles<partial_sums_overrun>("partial_sums_overrun"),
    in_tiles<shared_column_overrun>("shared_column_overrun"),
    in_tiles<tail_not_cleared>("tail_not_cleared"),
    in_tiles<first_product_begins>("first_product_begins"),
};

}  // namespace
}  // namespace assay::faulty
