// Double-buffered with cp.async, everything by inline PTX.
#include <cstdint>

__device__ __forceinline__ uint32_t smem_u32addr(const void *smem_ptr) {
  uint32_t addr;
  asm("{.reg .u64 u64addr;\n"
      " cvta.to.shared.u64 u64addr, %1;\n"
      " cvt.u32.u64 %0, u64addr;}\n"
      : "=r"(addr)
      : "l"(smem_ptr));
  return addr;
}
__device__ __forceinline__ void cp_async16(uint32_t dst, const void *src) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;\n" ::"r"(dst), "l"(src));
}
__device__ __forceinline__ void lds128(float &x, float &y, float &z, float &w, uint32_t addr) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];\n"
               : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
               : "r"(addr));
}
__device__ __forceinline__ void ffma(float &d, float a, float b) {
  asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(d) : "f"(a), "f"(b));
}

#ifndef WAIT_COUNT
#define WAIT_COUNT 1
#endif

// 32 x 32 of C in a block of 64 threads, 4 x 4 each, k in steps of 16.
__global__ __launch_bounds__(64) void sgemm_async(const float *A, const float *B, float *C, int m,
                                                  int n, int k, float alpha, float beta) {
  __shared__ __align__(16) float a_smem[2][32 * 16];
  __shared__ __align__(16) float b_smem[2][16 * 32];
  const int tid = threadIdx.x, tx = tid % 8, ty = tid / 8;
  const float *a_from = A + (blockIdx.y * 32) * k, *b_from = B + blockIdx.x * 32;
  auto load = [&](int stage, int k0) {
#pragma unroll
    for (int i = tid; i < 128; i += 64) {
      cp_async16(smem_u32addr(&a_smem[stage][i * 4]), a_from + (i / 4) * k + k0 + i % 4 * 4);
      cp_async16(smem_u32addr(&b_smem[stage][i * 4]), b_from + (k0 + i / 8) * n + i % 8 * 4);
    }
    asm volatile("cp.async.commit_group;\n" ::);
  };
  float acc[4][4] = {};
  load(0, 0);
  for (int k0 = 0, stage = 0; k0 < k; k0 += 16, stage ^= 1) {
    if (k0 + 16 < k) {
      load(stage ^ 1, k0 + 16);
      asm volatile("cp.async.wait_group %0;\n" ::"n"(WAIT_COUNT));
    } else {
      asm volatile("cp.async.wait_group 0;\n" ::);
    }
    __syncthreads();
#pragma unroll
    for (int p = 0; p < 16; ++p) {
      float a[4], b[4];
      lds128(b[0], b[1], b[2], b[3], smem_u32addr(&b_smem[stage][p * 32 + tx * 4]));
#pragma unroll
      for (int i = 0; i < 4; ++i) a[i] = a_smem[stage][(ty * 4 + i) * 16 + p];
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) ffma(acc[i][j], a[i], b[j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      float *at = &C[(blockIdx.y * 32 + ty * 4 + i) * n + blockIdx.x * 32 + tx * 4 + j];
      float old;
      asm volatile("ld.global.cs.f32 %0, [%1];" : "=f"(old) : "l"(at));
      asm volatile("st.global.wt.f32 [%0], %1;" ::"l"(at), "f"(alpha * acc[i][j] + beta * old));
    }
}
