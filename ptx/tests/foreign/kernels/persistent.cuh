// Persistent blocks draw tiles by a ticket; warps sum by shuffles.
__device__ unsigned int next_tile;

__global__ void reset_tickets() { next_tile = 0; }

__global__ void sgemm_persistent(const float *__restrict__ A, const float *__restrict__ B,
                                 float *__restrict__ C, int M, int N, int K, float alpha,
                                 float beta) {
  __shared__ unsigned int tile;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  const unsigned int tiles = (M * N + warps - 1) / warps;
  for (;;) {
    if (threadIdx.x == 0) tile = atomicAdd(&next_tile, 1u);
    __syncthreads();
    const unsigned int mine = tile;
    __syncthreads();
    if (mine >= tiles) break;
    const int element = mine * warps + warp;
    if (element < M * N) {
      const int row = element / N, col = element % N;
      float sum = 0;
      for (int p = lane; p < K; p += 32) sum = fmaf(A[row * K + p], B[p * N + col], sum);
#pragma unroll
      for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, offset);
      if (lane == 0) C[element] = alpha * sum + beta * C[element];
    }
  }
}
