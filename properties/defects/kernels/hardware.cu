// Faults that show only as nvcc compiles them: what the hardware numbers, and whom a fence reaches.
#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

// A warp for each share of k, and a block for each element. The shares are told apart by the place
// that the hardware gave each warp, which is no number within the block.
constexpr Tile single = {1, 1, 1};
constexpr int warps = 4;

__global__ void shares_by_place(Gemm g) {
  __shared__ float sums[warps];
  const Corner at = block_corner<single>(g);
  unsigned place;
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(place));
  float sum = 0;
  for (std::int64_t p = threadIdx.x; p < depth(g); p += warps * 32) {
    sum = fmaf(g.a[at.row * g.lda + p], g.b[p * g.ldb + at.col], sum);
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  if (threadIdx.x % 32 == 0) sums[place] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < warps; ++w) sum += sums[w];
  float* c = &g.c[at.row * g.ldc + at.col];
  *c = blend(g, sum, c);
}
cudaError_t launch_shares_by_place(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<single>(shares_by_place, dim3(warps * 32), g, stream);
}

// Blocks share k, and the last one of a tile adds their sums. The others fence theirs for their own
// block alone.
constexpr Tile small = {8, 8, 1};
constexpr int parts = 3;

__global__ void clear(unsigned* counts, std::int64_t tiles) {
  const std::int64_t t = std::int64_t{blockIdx.x} * 64 + threadIdx.x;
  if (t < tiles) counts[t] = 0;
}
__global__ void sum_parts(Gemm g, unsigned* counts, float* sums) {
  __shared__ bool is_last;
  const Corner at = block_corner<small>(g);
  const std::int64_t row = at.row + threadIdx.y, col = at.col + threadIdx.x;
  const bool inside = row < g.m && col < g.n;
  float sum = 0;
  if (inside) {
    for (std::int64_t p = blockIdx.y; p < depth(g); p += parts) {
      sum = fmaf(g.a[row * g.lda + p], g.b[p * g.ldb + col], sum);
    }
    sums[(blockIdx.y * g.m + row) * g.n + col] = sum;
  }
  __threadfence_block();
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0)
    is_last = atomicAdd(&counts[blockIdx.x], 1u) == parts - 1;
  __syncthreads();
  if (!is_last || !inside) return;
  __threadfence();
  sum = 0;
  for (int part = 0; part < parts; ++part) sum += sums[(part * g.m + row) * g.n + col];
  float* c = &g.c[row * g.ldc + col];
  *c = blend(g, sum, c);
}
std::int64_t tiles_of(const Gemm& g) { return ceil_div(g.m, small.m) * ceil_div(g.n, small.n); }
std::int64_t bytes_of_parts(const Gemm& g) { return 4 * (tiles_of(g) + parts * g.m * g.n); }
cudaError_t launch_sum_parts(const Gemm& g, cudaStream_t stream, void* workspace) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  auto* const counts = static_cast<unsigned*>(workspace);
  const std::int64_t tiles = tiles_of(g);
  const cudaError_t error = launch(clear, dim3(static_cast<unsigned>(ceil_div(tiles, 64))),
                                   dim3(64), 0, stream, counts, tiles);
  if (error != cudaSuccess) return error;
  return launch(sum_parts, dim3(static_cast<unsigned>(tiles), parts), dim3(small.n, small.m), 0,
                stream, g, counts, reinterpret_cast<float*>(counts + tiles));
}

const Registrar registrars[] = {
    {{.name = "shares_by_place_of_warp",
      .idea = idea,
      .launch = launch_shares_by_place,
      .tile = single}},
    {{.name = "parts_fenced_for_a_block",
      .idea = idea,
      .launch = launch_sum_parts,
      .tile = small,
      .workspace = bytes_of_parts}},
};

}  // namespace
}  // namespace assay::faulty
