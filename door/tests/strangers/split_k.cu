// Blocks that share an element add their parts of k to C by atomics.
__global__ void scale(float *C, int M, int N, int ldc, float beta) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < M && col < N) C[row * ldc + col] = beta == 0 ? 0 : beta * C[row * ldc + col];
}

__global__ void add_parts(const float *A, const float *B, float *C, int M, int N, int K, int lda, int ldb, int ldc,
                          float alpha) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  const int each = (K + gridDim.z - 1) / gridDim.z, from = blockIdx.z * each, to = min(from + each, K);
  float sum = 0;
  for (int p = from; p < to; ++p) sum += A[row * lda + p] * B[p * ldb + col];
  if (from < to) atomicAdd(&C[row * ldc + col], alpha * sum);
}
