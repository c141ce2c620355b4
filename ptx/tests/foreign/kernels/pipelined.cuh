// cuda::pipeline in the scope of a block, several stages, all threads load and multiply.
#include <cooperative_groups.h>
#include <cuda/pipeline>

template <int STAGES, int TILE>
__global__ void gemm_pipeline(const float *A, const float *B, float *C, int M, int N, int K,
                              float alpha, float beta) {
  __shared__ alignas(16) float As[STAGES][TILE][TILE];
  __shared__ alignas(16) float Bs[STAGES][TILE][TILE];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
  auto block = cooperative_groups::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  const int row = blockIdx.y * TILE, col = blockIdx.x * TILE, slices = K / TILE;
  auto fetch = [&](int slice) {
    pipe.producer_acquire();
    const int s = slice % STAGES;
    for (int r = threadIdx.y; r < TILE; r += blockDim.y) {
      cuda::memcpy_async(&As[s][r][threadIdx.x], &A[(row + r) * K + slice * TILE + threadIdx.x],
                         cuda::aligned_size_t<4>(sizeof(float)), pipe);
      cuda::memcpy_async(&Bs[s][r][threadIdx.x], &B[(slice * TILE + r) * N + col + threadIdx.x],
                         cuda::aligned_size_t<4>(sizeof(float)), pipe);
    }
    pipe.producer_commit();
  };
  float acc = 0;
  int fetched = 0;
  for (int slice = 0; slice < slices; ++slice) {
    for (; fetched < slices && fetched < slice + STAGES; ++fetched) fetch(fetched);
    pipe.consumer_wait();
    const int s = slice % STAGES;
    for (int k = 0; k < TILE; ++k) acc += As[s][threadIdx.y][k] * Bs[s][k][threadIdx.x];
    pipe.consumer_release();
  }
  float &c = C[(row + threadIdx.y) * N + col + threadIdx.x];
  c = alpha * acc + beta * c;
}
