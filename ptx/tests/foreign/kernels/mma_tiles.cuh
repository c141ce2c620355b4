// ldmatrix and mma.sync m16n8k16 by inline PTX, cp.async with zero fill, swizzled shared memory.
#include <cuda_fp16.h>
#include <cstdint>

__device__ __forceinline__ uint32_t cast_smem_ptr_to_uint(const void *ptr) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(ptr));
}
__device__ __forceinline__ int swizzle(int row, int chunk) { return chunk ^ (row / 2 % 4); }

// 64 x 64 of C, four warps of 32 x 32, k in steps of 32.
__global__ void __launch_bounds__(128) hgemm_mma(const half *A, const half *B, float *C, int M,
                                                 int N, int K, float alpha, float beta) {
  __shared__ __align__(128) half sA[64 * 32];   // 4 chunks of 8 halves a row
  __shared__ __align__(128) half sB[32 * 64];   // 8 chunks a row
  const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
  const int wm = warp / 2 * 32, wn = warp % 2 * 32;
  float d[2][4][4] = {};
  for (int k0 = 0; k0 < K; k0 += 32) {
    for (int i = tid; i < 256; i += 128) {
      const int ra = i / 4, ca = i % 4, rb = i / 8, cb = i % 8;
      const int bytes_a = blockIdx.y * 64 + ra < M ? 16 : 0;
      asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;\n" ::"r"(
                       cast_smem_ptr_to_uint(&sA[ra * 32 + swizzle(ra, ca) * 8])),
                   "l"(A + min(blockIdx.y * 64 + ra, M - 1) * K + k0 + ca * 8), "r"(bytes_a));
      asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0;\n"
                   "@p cp.async.cg.shared.global [%0], [%1], 16; }\n" ::"r"(
                       cast_smem_ptr_to_uint(&sB[rb * 64 + (cb ^ (rb % 8)) * 8])),
                   "l"(B + (k0 + rb) * N + blockIdx.x * 64 + cb * 8), "r"(1));
    }
    asm volatile("cp.async.commit_group;\ncp.async.wait_all;\n" ::: "memory");
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < 2; ++kk) {
      uint32_t a[2][4], b[4][2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int row = wm + i * 16 + lane % 16, chunk = kk * 2 + lane / 16;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                     : "=r"(a[i][0]), "=r"(a[i][1]), "=r"(a[i][2]), "=r"(a[i][3])
                     : "r"(cast_smem_ptr_to_uint(&sA[row * 32 + swizzle(row, chunk) * 8])));
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int row = kk * 16 + lane % 16, chunk = (wn + j * 8) / 8;
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];\n"
                     : "=r"(b[j][0]), "=r"(b[j][1])
                     : "r"(cast_smem_ptr_to_uint(&sB[row * 64 + (chunk ^ (row % 8)) * 8])));
      }
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          asm volatile(
              "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
              "{%8,%9}, {%0,%1,%2,%3};\n"
              : "+f"(d[i][j][0]), "+f"(d[i][j][1]), "+f"(d[i][j][2]), "+f"(d[i][j][3])
              : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j][0]),
                "r"(b[j][1]));
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int row = blockIdx.y * 64 + wm + i * 16 + lane / 4 + e / 2 * 8;
        const int col = blockIdx.x * 64 + wn + j * 8 + lane % 4 * 2 + e % 2;
        if (row < M) C[row * N + col] = alpha * d[i][j][e] + beta * C[row * N + col];
      }
}
