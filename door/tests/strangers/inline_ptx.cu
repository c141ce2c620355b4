// Two slices of k in flight by cp.async, all of it inline PTX. 16 x 16 of C in a block of 64 threads.
#include <cstdint>
#define SMEM(p) static_cast<uint32_t>(__cvta_generic_to_shared(p))

static __device__ __forceinline__ void copy4(void *to, const void *from, bool inside) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;\n" ::"r"(SMEM(to)), "l"(from), "r"(inside ? 4 : 0));
}

__global__ void sgemm_cp_async(const float *A, const float *B, float *C, int M, int N, int K, float alpha, float beta) {
  __shared__ float As[2][16][16], Bs[2][16][16];
  const int row0 = blockIdx.y * 16, col0 = blockIdx.x * 16;
  auto load = [&](int stage, int k0) {
    for (int i = threadIdx.x; i < 256; i += 64) {
      const int y = i / 16, x = i % 16;
      const bool a_inside = row0 + y < M && k0 + x < K, b_inside = k0 + y < K && col0 + x < N;
      copy4(&As[stage][y][x], a_inside ? A + (row0 + y) * K + k0 + x : A, a_inside);
      copy4(&Bs[stage][y][x], b_inside ? B + (k0 + y) * N + col0 + x : B, b_inside);
    }
    asm volatile("cp.async.commit_group;\n" ::);
  };
  float acc[4] = {};
  if (K > 0) load(0, 0);
  for (int k0 = 0, stage = 0; k0 < K; k0 += 16, stage ^= 1) {
    if (k0 + 16 < K) {
      load(stage ^ 1, k0 + 16);
      asm volatile("cp.async.wait_group 1;\n" ::);
    } else {
      asm volatile("cp.async.wait_group 0;\n" ::);
    }
    __syncthreads();
    for (int p = 0; p < 16; ++p)
      for (int i = 0; i < 4; ++i)
        asm("fma.rn.f32 %0, %1, %2, %0;"
            : "+f"(acc[i])
            : "f"(As[stage][threadIdx.x / 16 * 4 + i][p]), "f"(Bs[stage][p][threadIdx.x % 16]));
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    const int row = row0 + threadIdx.x / 16 * 4 + i, col = col0 + threadIdx.x % 16;
    if (row < M && col < N)
      C[row * N + col] = beta == 0 ? alpha * acc[i] : fmaf(beta, C[row * N + col], alpha * acc[i]);
  }
}
