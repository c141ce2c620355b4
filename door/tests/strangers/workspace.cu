// Packs A into memory that the caller lends.
__global__ void pack(const float *A, float *packed, int M, int K, int lda) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < M * K) packed[i] = A[i / K * lda + i % K];
}
__global__ void multiply(const float *packed, const float *B, float *C, int M, int N, int K, int ldb, int ldc, float alpha,
                         float beta) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / N, col = i % N;
  if (row >= M) return;
  float sum = 0;
  for (int p = 0; p < K; ++p) sum += packed[row * K + p] * B[p * ldb + col];
  C[row * ldc + col] = beta == 0 ? alpha * sum : alpha * sum + beta * C[row * ldc + col];
}
