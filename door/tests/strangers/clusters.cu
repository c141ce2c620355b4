// A GEMM whose blocks work in clusters: each loads a part of a tile of B into its shared memory, and all of the cluster read
// it there (distributed shared memory).
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

constexpr int TILE = 16;
constexpr int CLUSTER = 4;           // blocks, one above the other: they need the same columns of B
constexpr int PART = TILE / CLUSTER;  // rows of B that each block loads

__global__ void __cluster_dims__(1, CLUSTER, 1) __launch_bounds__(TILE* TILE)
    gemm_cluster(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta) {
  __shared__ float a_tile[TILE][TILE + 1];
  __shared__ float b_part[2][PART][TILE];
  cg::cluster_group cluster = cg::this_cluster();
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0;
  int stage = 0;
  for (int k0 = 0; k0 < K; k0 += TILE, stage ^= 1) {
    a_tile[ty][tx] = row < M && k0 + tx < K ? A[(size_t)row * K + k0 + tx] : 0;
    if (ty < PART) {
      const int k = k0 + cluster.block_rank() * PART + ty;
      b_part[stage][ty][tx] = k < K && col < N ? B[(size_t)k * N + col] : 0;
    }
    cluster.sync();  // of two stages, so one barrier is enough
    for (int rank = 0; rank < CLUSTER; ++rank) {
      const float* part = cluster.map_shared_rank(&b_part[stage][0][0], rank);
      for (int p = 0; p < PART; ++p) sum += a_tile[ty][rank * PART + p] * part[p * TILE + tx];
    }
    __syncthreads();
  }
  cluster.sync();  // nobody leaves while others read its part
  if (row < M && col < N) {
    const size_t at = (size_t)row * N + col;
    C[at] = beta == 0 ? alpha * sum : alpha * sum + beta * C[at];
  }
}

void run_gemm_cluster(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta,
                      cudaStream_t stream) {
  if (M == 0 || N == 0) return;
  const int above = TILE * CLUSTER;
  const dim3 grid((N + TILE - 1) / TILE, (M + above - 1) / above * CLUSTER);
  gemm_cluster<<<grid, dim3(TILE, TILE), 0, stream>>>(A, B, C, M, N, K, alpha, beta);
}
