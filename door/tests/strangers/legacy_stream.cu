// A function of a library from the time before streams: it takes none, and launches two kernels.
static __global__ void scale(int m, int n, float beta, float *c, int ldc) {
  int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row < m && col < n) c[row * ldc + col] = beta == 0 ? 0 : beta * c[row * ldc + col];
}

static __global__ void add(int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb, float *c,
                           int ldc) {
  int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int p = 0; p < k; p++) sum += a[row * lda + p] * b[p * ldb + col];
  c[row * ldc + col] += alpha * sum;
}

int old_sgemm(int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb, float beta, float *c,
              int ldc) {
  dim3 grid((n + 15) / 16, (m + 15) / 16), block(16, 16);
  scale<<<grid, block>>>(m, n, beta, c, ldc);
  cudaError_t scaled = cudaGetLastError();
  if (scaled != cudaSuccess) return scaled;
  if (k > 0) add<<<grid, block>>>(m, n, k, alpha, a, lda, b, ldb, c, ldc);
  return cudaGetLastError();
}
