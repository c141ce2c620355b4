// mma.sync m16n8k8 of TF32: a warp computes 16 x 8 straight from global memory.
#include <cstdint>

__device__ __forceinline__ uint32_t to_tf32(float x) {
  uint32_t r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
  return r;
}
__global__ void sgemm_tf32(const float *A, const float *B, float *C, int M, int N, int K,
                           float alpha, float beta) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  const int tiles_n = N / 8, row = warp / tiles_n * 16, col = warp % tiles_n * 8;
  if (row >= M) return;
  const int g = lane >> 2, t = lane & 3;
  float c0 = 0, c1 = 0, c2 = 0, c3 = 0;
  for (int k = 0; k < K; k += 8) {
    const uint32_t a0 = to_tf32(A[(row + g) * K + k + t]), a1 = to_tf32(A[(row + g + 8) * K + k + t]),
                   a2 = to_tf32(A[(row + g) * K + k + t + 4]),
                   a3 = to_tf32(A[(row + g + 8) * K + k + t + 4]),
                   b0 = to_tf32(B[(k + t) * N + col + g]), b1 = to_tf32(B[(k + t + 4) * N + col + g]);
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
  auto put = [&](int r, int c, float v) { C[r * N + c] = alpha * v + beta * C[r * N + c]; };
  put(row + g, col + 2 * t, c0);
  put(row + g, col + 2 * t + 1, c1);
  put(row + g + 8, col + 2 * t, c2);
  put(row + g + 8, col + 2 * t + 1, c3);
}
