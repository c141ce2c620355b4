// Matrices as Fortran and BLAS have them: one column after the other.
#define A(i, p) A[(i) + (size_t)(p) * lda]
#define B(p, j) B[(p) + (size_t)(j) * ldb]
#define C(i, j) C[(i) + (size_t)(j) * ldc]

__global__ void sgemm_nn(int M, int N, int K, float alpha, const float *A, int lda, const float *B, int ldb, float beta,
                         float *C, int ldc) {
  const int i = blockIdx.x * 64 + threadIdx.x, j = blockIdx.y;
  if (i >= M || j >= N) return;
  float sum = 0;
  for (int p = 0; p < K; ++p) sum += A(i, p) * B(p, j);
  C(i, j) = beta == 0 ? alpha * sum : alpha * sum + beta * C(i, j);
}
#undef A
#undef B
#undef C
