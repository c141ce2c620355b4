// Split k: partial sums into a workspace, and a second kernel that adds them. Another one does both
// in a single grid that synchronises, and a third lets the last block of a tile add up.
#include <cooperative_groups.h>

__device__ float partial_dot(const float *A, const float *B, int row, int col, int N, int K, int from,
                             int to) {
  float sum = 0;
#pragma unroll 4
  for (int p = from; p < to; ++p) sum += A[row * K + p] * B[p * N + col];
  return sum;
}
__global__ void gemm_partial(const float *A, const float *B, float *workspace, int M, int N, int K) {
  const int each = (K + gridDim.z - 1) / gridDim.z, from = blockIdx.z * each;
  const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  workspace[(size_t(blockIdx.z) * M + row) * N + col] =
      partial_dot(A, B, row, col, N, K, from, min(from + each, K));
}
__global__ void gemm_reduce(const float *workspace, float *C, int count, int splits, float alpha,
                            float beta) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    float sum = 0;
    for (int s = 0; s < splits; ++s) sum += workspace[size_t(s) * count + i];
    C[i] = alpha * sum + beta * C[i];
  }
}
__global__ void gemm_grid_sync(const float *A, const float *B, float *C, float *workspace, int M,
                               int N, int K, int splits, float alpha, float beta) {
  auto grid = cooperative_groups::this_grid();
  const int count = M * N, each = (K + splits - 1) / splits;
  for (int i = grid.thread_rank(); i < count * splits; i += grid.size())
    workspace[i] = partial_dot(A, B, i % count / N, i % count % N, N, K, i / count * each,
                               min(i / count * each + each, K));
  grid.sync();
  for (int i = grid.thread_rank(); i < count; i += grid.size()) {
    float sum = 0;
    for (int s = 0; s < splits; ++s) sum += workspace[size_t(s) * count + i];
    C[i] = alpha * sum + beta * C[i];
  }
}
__global__ void gemm_last_block(const float *A, const float *B, float *C, float *workspace,
                                unsigned int *arrived, int M, int N, int K, float alpha,
                                float beta) {
  __shared__ bool is_last;
  const int each = (K + gridDim.z - 1) / gridDim.z, from = blockIdx.z * each;
  const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  const bool inside = row < M && col < N;
  if (inside)
    workspace[(size_t(blockIdx.z) * M + row) * N + col] =
        partial_dot(A, B, row, col, N, K, from, min(from + each, K));
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    const unsigned int before = atomicInc(&arrived[blockIdx.y * gridDim.x + blockIdx.x], gridDim.z - 1);
    is_last = before == gridDim.z - 1;
  }
  __syncthreads();
  if (!is_last || !inside) return;
  __threadfence();
  float sum = 0;
  for (int s = 0; s < gridDim.z; ++s) sum += __ldcg(&workspace[(size_t(s) * M + row) * N + col]);
  C[row * N + col] = alpha * sum + beta * C[row * N + col];
}
