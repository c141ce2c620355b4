// 16 x 16 of C for each warp, on tensor cores.
#include <mma.h>

__global__ void gemm_wmma(const float *A, const float *B, float *C, int M, int N, int K, int lda, int ldb, int ldc,
                          float alpha, float beta) {
  using namespace nvcuda::wmma;
  const int row = blockIdx.y * 16, col = blockIdx.x * 16;
  fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> a;
  fragment<matrix_b, 16, 16, 8, precision::tf32, row_major> b;
  fragment<accumulator, 16, 16, 8, float> acc, c;
  fill_fragment(acc, 0.0f);
  for (int k = 0; k < K; k += 8) {
    load_matrix_sync(a, A + (size_t)row * lda + k, lda);
    load_matrix_sync(b, B + (size_t)k * ldb + col, ldb);
    for (int i = 0; i < a.num_elements; ++i) a.x[i] = __float_to_tf32(a.x[i]);
    for (int i = 0; i < b.num_elements; ++i) b.x[i] = __float_to_tf32(b.x[i]);
    mma_sync(acc, a, b, acc);
  }
  float *out = C + (size_t)row * ldc + col;
  for (int i = 0; i < acc.num_elements; ++i) acc.x[i] *= alpha;
  if (beta != 0) {
    load_matrix_sync(c, out, ldc, mem_row_major);
    for (int i = 0; i < acc.num_elements; ++i) acc.x[i] += beta * c.x[i];
  }
  store_matrix_sync(out, acc, ldc, mem_row_major);
}
