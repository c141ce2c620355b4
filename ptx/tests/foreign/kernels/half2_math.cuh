// HFMA2: two columns of C a thread, all in half.
#include <cuda_fp16.h>

__global__ void hgemm_half2(const __half *A, const __half *B, float *C, int M, int N, int K,
                            float alpha, float beta) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
  __shared__ __half2 row_of_a[8][33];
  __half2 acc = __float2half2_rn(0.f);
  for (int k0 = 0; k0 < K; k0 += 32) {
    for (int p = threadIdx.x; p < 32; p += blockDim.x)
      row_of_a[threadIdx.y][p] = __half2half2(row < M && k0 + p < K ? A[row * K + k0 + p] : __half(0.f));
    __syncwarp();
    for (int p = 0; p < min(32, K - k0) && col < N; ++p)
      acc = __hfma2(row_of_a[threadIdx.y][p],
                    *reinterpret_cast<const __half2 *>(&B[(k0 + p) * N + col]), acc);
    __syncwarp();
  }
  if (row >= M || col >= N) return;
  const float2 sum = __half22float2(acc);
  float2 old = *reinterpret_cast<float2 *>(&C[row * N + col]);
  old.x = alpha * sum.x + beta * old.x;
  old.y = alpha * sum.y + beta * old.y;
  *reinterpret_cast<float2 *>(&C[row * N + col]) = old;
}
