// 64 x 64 tiles, 4 x 4 results a thread, float4 loads, A transposed in shared memory.
#define OFFSET(row, col, ld) ((row) * (ld) + (col))
#define FETCH_FLOAT4(pointer) (reinterpret_cast<float4 *>(&(pointer))[0])

template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void sgemm_register(float *__restrict__ A, float *__restrict__ B, float *__restrict__ C,
                               const int M, const int N, const int K, float alpha, float beta) {
  __shared__ float As[BK][BM];
  __shared__ float Bs[BK][BN];
  constexpr int THREADS = (BM / TM) * (BN / TN);
  const int tid = threadIdx.x;
  const int tx = tid % (BN / TN), ty = tid / (BN / TN);
  float accum[TM][TN] = {0.f};
  float frag_a[TM], frag_b[TN];
  for (int k0 = 0; k0 < K; k0 += BK) {
#pragma unroll
    for (int i = tid; i < BM * BK / 4; i += THREADS) {
      const int r = i / (BK / 4), c = i % (BK / 4) * 4;
      const float4 v = FETCH_FLOAT4(A[OFFSET(blockIdx.y * BM + r, k0 + c, K)]);
      As[c][r] = v.x;
      As[c + 1][r] = v.y;
      As[c + 2][r] = v.z;
      As[c + 3][r] = v.w;
    }
#pragma unroll
    for (int i = tid; i < BK * BN / 4; i += THREADS) {
      const int r = i / (BN / 4), c = i % (BN / 4) * 4;
      FETCH_FLOAT4(Bs[r][c]) = FETCH_FLOAT4(B[OFFSET(k0 + r, blockIdx.x * BN + c, N)]);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; ++k) {
#pragma unroll
      for (int i = 0; i < TM; i += 4) FETCH_FLOAT4(frag_a[i]) = FETCH_FLOAT4(As[k][ty * TM + i]);
#pragma unroll
      for (int j = 0; j < TN; j += 4) FETCH_FLOAT4(frag_b[j]) = FETCH_FLOAT4(Bs[k][tx * TN + j]);
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) accum[i][j] += frag_a[i] * frag_b[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      float *at = &C[OFFSET(blockIdx.y * BM + ty * TM + i, blockIdx.x * BN + tx * TN + j, N)];
      float4 old = FETCH_FLOAT4(*at);
      old.x = alpha * accum[i][j] + beta * old.x;
      old.y = alpha * accum[i][j + 1] + beta * old.y;
      old.z = alpha * accum[i][j + 2] + beta * old.z;
      old.w = alpha * accum[i][j + 3] + beta * old.w;
      FETCH_FLOAT4(*at) = old;
    }
}
