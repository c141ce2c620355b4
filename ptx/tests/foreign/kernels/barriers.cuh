// cuda::barrier, with warps that only load and warps that only multiply.
#include <cooperative_groups.h>
#include <cuda/barrier>

using barrier = cuda::barrier<cuda::thread_scope_block>;

template <int TILE>
__global__ void gemm_specialised(const float *A, const float *B, float *C, int M, int N, int K,
                                 float alpha, float beta) {
  __shared__ float As[2][TILE * TILE], Bs[2][TILE * TILE];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier ready[2], filled[2];
  auto block = cooperative_groups::this_thread_block();
  if (block.thread_rank() < 2) {
    init(ready + block.thread_rank(), block.size());
    init(filled + block.thread_rank(), block.size());
  }
  block.sync();
  const int half = blockDim.x / 2, lane = threadIdx.x % half, slices = K / TILE;
  const int row = blockIdx.y * TILE, col = blockIdx.x * TILE;
  if (threadIdx.x < half) {
    for (int i = 0; i < slices; ++i) {
      ready[i % 2].arrive_and_wait();
      for (int e = lane; e < TILE * TILE; e += half) {
        As[i % 2][e] = A[(row + e / TILE) * K + i * TILE + e % TILE];
        Bs[i % 2][e] = B[(i * TILE + e / TILE) * N + col + e % TILE];
      }
      barrier::arrival_token token = filled[i % 2].arrive();
    }
  } else {
    barrier::arrival_token t1 = ready[0].arrive(), t2 = ready[1].arrive();
    float acc[TILE * TILE / 64] = {};
    for (int i = 0; i < slices; ++i) {
      filled[i % 2].arrive_and_wait();
      for (int e = lane, n = 0; e < TILE * TILE; e += half, ++n)
        for (int k = 0; k < TILE; ++k)
          acc[n] += As[i % 2][e / TILE * TILE + k] * Bs[i % 2][k * TILE + e % TILE];
      barrier::arrival_token token = ready[i % 2].arrive();
    }
    for (int e = lane, n = 0; e < TILE * TILE; e += half, ++n) {
      float &c = C[(row + e / TILE) * N + col + e % TILE];
      c = alpha * acc[n] + beta * c;
    }
  }
}
