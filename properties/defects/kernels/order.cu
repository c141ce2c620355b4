// Faults in how threads, warps and blocks wait for each other.
#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

__device__ float products(const Gemm& g, std::int64_t row, std::int64_t col, std::int64_t from,
                          std::int64_t step) {
  float sum = 0;
  for (std::int64_t p = from; p < depth(g); p += step)
    sum = Right::add(sum, Right::a(g, row, p), Right::b(g, p, col));
  return sum;
}

// A row of 32 elements for each block, whose warps share out k.
constexpr Tile strip = {1, 32, 4};
template <void (*kernel)(Gemm)>
cudaError_t launch_strips(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<strip>(kernel, dim3(32, 4), g, stream);
}
struct Place {
  std::int64_t row, col;
  bool inside;
};
__device__ Place place_in_strip(const Gemm& g) {
  const Corner corner = block_corner<strip>(g);
  const std::int64_t col = corner.col + threadIdx.x;
  return {corner.row, col, col < g.n};
}

// Four warps add to the same sums, one after the other only by luck.
__global__ void lost_update(Gemm g) {
  __shared__ float sums[32];
  const Place at = place_in_strip(g);
  if (threadIdx.y == 0) sums[threadIdx.x] = 0;
  __syncthreads();
  if (at.inside) sums[threadIdx.x] += products(g, at.row, at.col, threadIdx.y, 4);
  __syncthreads();
  if (at.inside && threadIdx.y == 0) Right::finish(g, sums[threadIdx.x], at.row, at.col);
}
// The sums of four warps, which have waited for their own lanes alone.
__global__ void warps_wait_for_themselves(Gemm g) {
  __shared__ float sums[4][32];
  const Place at = place_in_strip(g);
  sums[threadIdx.y][threadIdx.x] = at.inside ? products(g, at.row, at.col, threadIdx.y, 4) : 0;
  __syncwarp();
  if (!at.inside || threadIdx.y != 0) return;
  float sum = 0;
  for (int i = 0; i < 4; ++i) sum += sums[i][threadIdx.x];
  Right::finish(g, sum, at.row, at.col);
}
// Halves the number of sums, step by step, without waiting before the last step.
__global__ void last_step_unordered(Gemm g) {
  __shared__ float sums[4][32];
  const Place at = place_in_strip(g);
  sums[threadIdx.y][threadIdx.x] = at.inside ? products(g, at.row, at.col, threadIdx.y, 4) : 0;
  __syncthreads();
  if (threadIdx.y < 2) sums[threadIdx.y][threadIdx.x] += sums[threadIdx.y + 2][threadIdx.x];
  if (!at.inside || threadIdx.y != 0) return;
  Right::finish(g, sums[0][threadIdx.x] + sums[1][threadIdx.x], at.row, at.col);
}
// The barrier stands where only threads with an element come by.
__global__ void barrier_inside_guard(Gemm g) {
  __shared__ float sums[4][32];
  const Place at = place_in_strip(g);
  if (at.inside) {
    sums[threadIdx.y][threadIdx.x] = products(g, at.row, at.col, threadIdx.y, 4);
    __syncthreads();
  }
  __syncthreads();
  if (!at.inside || threadIdx.y != 0) return;
  float sum = 0;
  for (int i = 0; i < 4; ++i) sum += sums[i][threadIdx.x];
  Right::finish(g, sum, at.row, at.col);
}

// A warp for each element, whose lanes share out k.
constexpr Tile single = {1, 1, 32};
template <void (*kernel)(Gemm)>
cudaError_t launch_singles(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<single>(kernel, dim3(32), g, stream);
}
// Lanes beyond k leave before the others exchange their sums with them.
__global__ void partial_warp(Gemm g) {
  const Corner at = block_corner<single>(g);
  if (threadIdx.x >= g.k && threadIdx.x > 0) return;
  float sum = products(g, at.row, at.col, threadIdx.x, 32);
  for (int off = 16; off > 0; off /= 2) sum += __shfl_down_sync(~0u, sum, off);
  if (threadIdx.x == 0) Right::finish(g, sum, at.row, at.col);
}
// Lanes exchange their sums through shared memory, in lockstep as they believe.
__global__ void lockstep(Gemm g) {
  __shared__ volatile float sums[64];
  const Corner at = block_corner<single>(g);
  sums[threadIdx.x] = products(g, at.row, at.col, threadIdx.x, 32);
  sums[threadIdx.x + 32] = 0;
  for (int off = 16; off > 0; off /= 2) sums[threadIdx.x] += sums[threadIdx.x + off];
  if (threadIdx.x == 0) Right::finish(g, sums[0], at.row, at.col);
}

// Two blocks for each tile, each with every other product; C was scaled before.
__global__ void scale(Gemm g) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  Right::finish(g, 0, row, col);
}
template <bool Atomic>
__global__ void add_halves(Gemm g) {
  const auto across = static_cast<unsigned>(ceil_div(g.n, tile.n));
  const unsigned number = blockIdx.x / 2;
  const std::int64_t row = std::int64_t{number / across} * tile.m + threadIdx.y;
  const std::int64_t col = std::int64_t{number % across} * tile.n + threadIdx.x;
  if (row >= g.m || col >= g.n || depth(g) == 0) return;
  const float part = g.alpha * products(g, row, col, blockIdx.x % 2, 2);
  float* c = &g.c[row * g.ldc + col];
  if (Atomic) {
    atomicAdd(c, part);
  } else {
    *c += part;
  }
}
template <bool Atomic>
cudaError_t launch_halves(const Gemm& g, cudaStream_t stream) {
  if (const cudaError_t error = launch_tiles<tile>(scale, dim3(16, 16), g, stream);
      error != cudaSuccess || g.m == 0 || g.n == 0)
    return error;
  const auto tiles = ceil_div(g.m, tile.m) * ceil_div(g.n, tile.n);
  return launch(add_halves<Atomic>, dim3(static_cast<unsigned>(2 * tiles)), dim3(16, 16), 0, stream,
                g);
}

// Two blocks for each tile: the one that takes the second ticket adds what both have left behind.
constexpr Tile small = {8, 8, 8};
constexpr int most_tiles = 1024;
__device__ float parts[most_tiles][2][8][8];
__device__ unsigned tickets[most_tiles];
__global__ void early_ticket(Gemm g) {
  __shared__ unsigned ticket;
  const auto across = static_cast<unsigned>(ceil_div(g.n, small.n));
  const unsigned number = blockIdx.x / 2, half = blockIdx.x % 2;
  const std::int64_t row = std::int64_t{number / across} * small.m + threadIdx.y;
  const std::int64_t col = std::int64_t{number % across} * small.n + threadIdx.x;
  const bool inside = row < g.m && col < g.n;
  if (threadIdx.x == 0 && threadIdx.y == 0) ticket = atomicInc(&tickets[number], 1);
  __syncthreads();
  parts[number][half][threadIdx.y][threadIdx.x] = inside ? products(g, row, col, half, 2) : 0;
  __threadfence();
  __syncthreads();
  if (ticket == 0 || !inside) return;
  const float sum =
      parts[number][0][threadIdx.y][threadIdx.x] + parts[number][1][threadIdx.y][threadIdx.x];
  Right::finish(g, sum, row, col);
}
__global__ void clear_parts() {
  for (auto& part : parts[blockIdx.x]) part[threadIdx.y][threadIdx.x] = 0;
  if (threadIdx.x == 0 && threadIdx.y == 0) tickets[blockIdx.x] = 0;
}
cudaError_t launch_early_ticket(const Gemm& g, cudaStream_t stream) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  const auto tiles = ceil_div(g.m, small.m) * ceil_div(g.n, small.n);
  if (const cudaError_t error =
          launch(clear_parts, dim3(static_cast<unsigned>(tiles)), dim3(8, 8), 0, stream);
      error != cudaSuccess)
    return error;
  return launch(early_ticket, dim3(static_cast<unsigned>(2 * tiles)), dim3(8, 8), 0, stream, g);
}

// From k = 1024 on nobody waits before the tiles are loaded anew.
__global__ void barrier_missing_where_deep(Gemm g) {
  __shared__ float a_tile[16][16], b_tile[16][16];
  const Corner corner = block_corner<tile>(g);
  const int x = threadIdx.x, y = threadIdx.y;
  const std::int64_t row = corner.row + y, col = corner.col + x, k = depth(g);
  float sum = 0;
  for (std::int64_t p0 = 0; p0 < k; p0 += 16) {
    a_tile[y][x] = row < g.m && p0 + x < k ? g.a[row * g.lda + p0 + x] : 0.0f;
    b_tile[y][x] = p0 + y < k && col < g.n ? g.b[(p0 + y) * g.ldb + col] : 0.0f;
    __syncthreads();
    for (int p = 0; p < 16; ++p) sum = fmaf(a_tile[y][p], b_tile[p][x], sum);
    if (k < 1024) __syncthreads();
  }
  if (row < g.m && col < g.n) Right::finish(g, sum, row, col);
}
cudaError_t launch_barrier_missing_where_deep(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile>(barrier_missing_where_deep, dim3(16, 16), g, stream);
}

template <void (*kernel)(Gemm)>
constexpr Variant in_strips(const char* name) {
  return {.name = name, .idea = idea, .launch = launch_strips<kernel>, .tile = strip};
}
template <void (*kernel)(Gemm)>
constexpr Variant in_singles(const char* name) {
  return {.name = name, .idea = idea, .launch = launch_singles<kernel>, .tile = single};
}
const Registrar registrars[] = {
    in_strips<lost_update>("lost_update_in_shared"),
    in_strips<warps_wait_for_themselves>("warps_ordered_by_syncwarp"),
    in_strips<last_step_unordered>("last_reduction_step_unordered"),
    in_strips<barrier_inside_guard>("barrier_inside_guard"),
    in_singles<partial_warp>("shuffle_of_a_partial_warp"),
    in_singles<lockstep>("lanes_in_lockstep"),
    {{.name = "adds_to_c_unordered",
      .idea = idea,
      .launch = launch_halves<false>,
      .tile = tile,
      .deterministic = false}},
    {{.name = "atomics_called_deterministic",
      .idea = idea,
      .launch = launch_halves<true>,
      .tile = tile}},
    {{.name = "ticket_before_its_part",
      .idea = idea,
      .launch = launch_early_ticket,
      .needs = {.m_most = 256, .n_most = 256},
      .tile = small}},
    {{.name = "barrier_missing_where_deep",
      .idea = idea,
      .launch = launch_barrier_missing_where_deep,
      .tile = tile}},
};

}  // namespace
}  // namespace assay::faulty
