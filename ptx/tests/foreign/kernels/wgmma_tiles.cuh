// Hopper: one warp loads tiles by TMA, two warpgroups multiply them by wgmma in TF32, three stages deep.
//
// wgmma takes tf32 along k only, and B lies the other way. So each warpgroup computes C^T = B^T * A^T: B^T goes
// through registers, and the rows of A are the columns of A^T.
#include <cuda.h>
#include <cudaTypedefs.h>

#include <cstdint>

#define BM 128
#define BN 64
#define BK 32
#define STAGES 3
#define CONSUMER_WARPS 8
#define NUM_THREADS (CONSUMER_WARPS * 32 + 128)

struct Stage {  // bits of floats
  uint32_t A[BM][BK];  // swizzled, 128 bytes a row
  uint32_t B[BK][BN];
};
#define SMEM_BYTES (STAGES * sizeof(Stage) + 1024 + 2 * STAGES * 8)

static CUtensorMap make_map(const float *p, int rows, int cols, int ld, int box_rows, int box_cols,
                            CUtensorMapSwizzle swizzle) {
  void *encode = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found);
  CUtensorMap map{};
  if (found != cudaDriverEntryPointSuccess || rows == 0 || cols == 0) return map;
  const cuuint64_t size[] = {(cuuint64_t)cols, (cuuint64_t)rows}, pitch[] = {ld * sizeof(float)};
  const cuuint32_t box[] = {(cuuint32_t)box_cols, (cuuint32_t)box_rows}, step[] = {1, 1};
  ((PFN_cuTensorMapEncodeTiled_v12000)encode)(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void *)p, size, pitch, box,
                                              step, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                              CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}

__device__ inline uint32_t smem_u32(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ inline void bar_init(uint64_t *bar, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_u32(bar)), "r"(count));
}
__device__ inline void bar_arrive(uint64_t *bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem_u32(bar)) : "memory");
}
__device__ inline void bar_expect(uint64_t *bar, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_u32(bar)), "r"(bytes) : "memory");
}
__device__ inline void bar_wait(uint64_t *bar, int phase) {
  asm volatile(
      "{\n.reg .pred P;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 P, [%0], %1;\n@P bra OVER;\nbra AGAIN;\nOVER:\n}\n"
      ::"r"(smem_u32(bar)), "r"(phase) : "memory");
}
__device__ inline void tma_load(void *to, const CUtensorMap *map, int x, int y, uint64_t *bar) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
          "r"(smem_u32(to)), "l"(map), "r"(x), "r"(y), "r"(smem_u32(bar)) : "memory");
}

// Rows of 128 bytes, swizzled so; eight rows are 1024 bytes.
__device__ inline uint64_t make_desc(const void *p) {
  return (uint64_t)((smem_u32(p) & 0x3ffff) >> 4) | (uint64_t)1 << 16 | (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 62;
}
__device__ inline void warpgroup_arrive() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void warpgroup_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N>
__device__ inline void warpgroup_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
__device__ inline uint32_t to_tf32_bits(uint32_t x) {
  uint32_t r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(__uint_as_float(x)));
  return r;
}
__device__ inline void wgmma_m64n64k8(float (&d)[32], const uint32_t (&a)[4], uint64_t desc_b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 "
      "{%0,  %1,  %2,  %3,  %4,  %5,  %6,  %7,  %8,  %9,  %10, %11, %12, %13, %14, %15, "
      " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, 1, 1, 1;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
        "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
        "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
        "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(desc_b));
}

__global__ void __launch_bounds__(NUM_THREADS, 1)
sgemm_wgmma(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, float *C, int M,
            int N, int K, int ldc, float alpha, float beta) {
  extern __shared__ uint8_t smem[];
  Stage *stages = (Stage *)(smem + (1024 - smem_u32(smem) % 1024) % 1024);
  uint64_t *full = (uint64_t *)(stages + STAGES), *empty = full + STAGES;
  const unsigned tiles_n = (N - 1) / BN + 1;
  const int m0 = blockIdx.x / tiles_n * BM, n0 = blockIdx.x % tiles_n * BN, slices = K / BK + (K % BK != 0);
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) bar_init(&full[s], 1), bar_init(&empty[s], CONSUMER_WARPS);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();

  if (threadIdx.x >= CONSUMER_WARPS * 32) {  // producer
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x > CONSUMER_WARPS * 32) return;
    for (int i = 0; i < slices; ++i) {
      const int s = i % STAGES;
      if (i >= STAGES) bar_wait(&empty[s], (i / STAGES - 1) & 1);
      bar_expect(&full[s], sizeof(Stage));
      tma_load(stages[s].A, &map_a, i * BK, m0, &full[s]);
      tma_load(stages[s].B, &map_b, n0, i * BK, &full[s]);
    }
    return;
  }

  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  const int group = threadIdx.x / 128, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
  const int row = warp * 16 + lane / 4, quad = lane % 4;  // of C^T
  float d[32];
  for (int i = 0; i < 32; ++i) d[i] = 0;
  for (int i = 0; i < slices; ++i) {
    const int s = i % STAGES;
    bar_wait(&full[s], i / STAGES & 1);
    uint4 *a = (uint4 *)stages[s].A[group * 64];  // wgmma would cut it: round it in place
    for (int t = threadIdx.x % 128; t < 64 * BK / 4; t += 128) {
      const uint4 v = a[t];
      a[t] = make_uint4(to_tf32_bits(v.x), to_tf32_bits(v.y), to_tf32_bits(v.z), to_tf32_bits(v.w));
    }
    asm volatile("fence.proxy.async.shared::cta;\nbar.sync %0, 128;" ::"r"(group + 1) : "memory");
    uint32_t b[BK / 8][4];
#pragma unroll
    for (int k = 0; k < BK / 8; ++k) {
      b[k][0] = to_tf32_bits(stages[s].B[k * 8 + quad][row]);
      b[k][1] = to_tf32_bits(stages[s].B[k * 8 + quad][row + 8]);
      b[k][2] = to_tf32_bits(stages[s].B[k * 8 + quad + 4][row]);
      b[k][3] = to_tf32_bits(stages[s].B[k * 8 + quad + 4][row + 8]);
    }
    warpgroup_arrive();
#pragma unroll
    for (int k = 0; k < BK / 8; ++k) wgmma_m64n64k8(d, b[k], make_desc(&stages[s].A[group * 64][k * 8]));
    warpgroup_commit();
#ifdef ARRIVE_TOO_EARLY
    __syncwarp();
    if (lane == 0) bar_arrive(&empty[s]);
    warpgroup_wait<0>();
#else
    warpgroup_wait<0>();
    __syncwarp();
    if (lane == 0) bar_arrive(&empty[s]);
#endif
  }
#pragma unroll
  for (int j = 0; j < 8; ++j)
    for (int e = 0; e < 4; ++e) {
      const long long r = m0 + group * 64ll + j * 8 + quad * 2 + e % 2, c = n0 + row + e / 2 * 8ll;
      if (r < M && c < N) {
        float &to = C[r * ldc + c];
        to = alpha * d[j * 4 + e] + (beta == 0 ? 0 : beta * to);
      }
    }
}

static int run_sgemm_wgmma(const float *A, int lda, const float *B, int ldb, float *C, int ldc, int M, int N, int K,
                           float alpha, float beta, cudaStream_t stream) {
  const CUtensorMap a = make_map(A, M, K, lda, BM, BK, CU_TENSOR_MAP_SWIZZLE_128B),
                    b = make_map(B, K, N, ldb, BK, BN, CU_TENSOR_MAP_SWIZZLE_NONE);
  const cudaError_t error =
      cudaFuncSetAttribute(sgemm_wgmma, cudaFuncAttributeMaxDynamicSharedMemorySize, SMEM_BYTES);
  if (error != cudaSuccess) return error;
  const unsigned tiles = ((N - 1) / BN + 1) * ((M - 1) / BM + 1);
  sgemm_wgmma<<<tiles, NUM_THREADS, SMEM_BYTES, stream>>>(a, b, C, M, N, K, ldc, alpha, beta);
  return cudaGetLastError();
}
