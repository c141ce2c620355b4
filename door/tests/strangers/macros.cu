// A launcher with error checks, macros for indices, 32-bit sizes, pointers that could be const.
#include <cstdio>
#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))
#define IDX(row, col, ld) ((row) * (ld) + (col))
#define CHECK(call)                                                                   \
  do {                                                                                \
    cudaError_t err = (call);                                                         \
    if (err != cudaSuccess) {                                                         \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err));    \
      return err;                                                                     \
    }                                                                                 \
  } while (0)

template <const uint BLOCKSIZE>
__global__ void sgemm_coalesced(int M, int N, int K, float alpha, float *A, float *B, float beta, float *C) {
  const int cRow = blockIdx.x * BLOCKSIZE + (threadIdx.x / BLOCKSIZE);
  const int cCol = blockIdx.y * BLOCKSIZE + (threadIdx.x % BLOCKSIZE);
  if (cRow < M && cCol < N) {
    float tmp = 0.0;
    for (int i = 0; i < K; ++i) tmp += A[IDX(cRow, i, K)] * B[IDX(i, cCol, N)];
    C[IDX(cRow, cCol, N)] = alpha * tmp + (beta == 0.0f ? 0.0f : beta * C[IDX(cRow, cCol, N)]);
  }
}

static cudaError_t run_sgemm_coalesced(int M, int N, int K, float alpha, float *A, float *B, float beta, float *C,
                                       cudaStream_t stream) {
  dim3 gridDim(CEIL_DIV(M, 16), CEIL_DIV(N, 16));
  dim3 blockDim(16 * 16);
  sgemm_coalesced<16><<<gridDim, blockDim, 0, stream>>>(M, N, K, alpha, A, B, beta, C);
  CHECK(cudaGetLastError());
  return cudaSuccess;
}
