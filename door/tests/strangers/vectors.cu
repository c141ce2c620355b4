// 64 x 64 of C in a block, 8 x 8 in a thread, everything four floats wide.
#define BM 64
#define BN 64
#define BK 8
#define FLOAT4(p) (reinterpret_cast<float4 *>(&(p))[0])

__global__ void __launch_bounds__(64) sgemm_float4(float *a, float *b, float *c, const int M, const int N, const int K,
                                                   float alpha, float beta) {
  __shared__ float s_a[BK][BM], s_b[BK][BN];
  const int tid = threadIdx.x, ty = tid / 8 * 8, tx = tid % 8 * 8;
  float r_c[8][8] = {0.0f};
  for (int bk = 0; bk < K; bk += BK) {
    for (int h = 0; h < 2; ++h) {
      float4 v = FLOAT4(a[(blockIdx.y * BM + tid) * K + bk + h * 4]);
      s_a[h * 4][tid] = v.x, s_a[h * 4 + 1][tid] = v.y, s_a[h * 4 + 2][tid] = v.z, s_a[h * 4 + 3][tid] = v.w;
      FLOAT4(s_b[tid / 16 + h * 4][tid % 16 * 4]) = FLOAT4(b[(bk + tid / 16 + h * 4) * N + blockIdx.x * BN + tid % 16 * 4]);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; ++k)
#pragma unroll
      for (int m = 0; m < 8; ++m)
#pragma unroll
        for (int n = 0; n < 8; ++n) r_c[m][n] += s_a[k][ty + m] * s_b[k][tx + n];
    __syncthreads();
  }
  for (int m = 0; m < 8; ++m)
    for (int n = 0; n < 8; n += 4) {
      float4 &out = FLOAT4(c[(blockIdx.y * BM + ty + m) * N + blockIdx.x * BN + tx + n]);
      float4 old = beta == 0 ? make_float4(0, 0, 0, 0) : out;
      old.x = alpha * r_c[m][n] + beta * old.x;
      old.y = alpha * r_c[m][n + 1] + beta * old.y;
      old.z = alpha * r_c[m][n + 2] + beta * old.z;
      old.w = alpha * r_c[m][n + 3] + beta * old.w;
      out = old;
    }
}
#undef BM
#undef BN
#undef BK
