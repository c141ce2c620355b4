// TMA: tiles of A (swizzled) and B come as boxes of tensor maps, C goes as one.
#include <cuda.h>
#include <cudaTypedefs.h>

#include <cstdint>

#define TILE 32
#define STAGES 2

static CUtensorMap make_map(const float *p, int rows, int cols, CUtensorMapSwizzle swizzle) {
  void *encode = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found);
  CUtensorMap map{};
  if (found != cudaDriverEntryPointSuccess) return map;
  const cuuint64_t size[] = {(cuuint64_t)cols, (cuuint64_t)rows}, pitch[] = {cols * sizeof(float)};
  const cuuint32_t box[] = {TILE, TILE}, step[] = {1, 1};
  ((PFN_cuTensorMapEncodeTiled_v12000)encode)(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void *)p, size,
                                              pitch, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                              CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                              CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}

__device__ inline uint32_t tma_smem(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ inline void tma_load(void *to, const CUtensorMap *map, int x, int y, uint64_t *bar) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
          "r"(tma_smem(to)), "l"(map), "r"(x), "r"(y), "r"(tma_smem(bar)) : "memory");
}
__device__ inline void tma_wait(uint64_t *bar, int phase) {
  asm volatile(
      "{\n.reg .pred P;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 P, [%0], %1;\n@P bra OVER;\nbra AGAIN;\nOVER:\n}\n"
      ::"r"(tma_smem(bar)), "r"(phase) : "memory");
}

__global__ void sgemm_tma(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                          const __grid_constant__ CUtensorMap c, const float *C, int M, int N, int K,
                          float alpha, float beta) {
  __shared__ alignas(1024) float As[STAGES][TILE * TILE];
  __shared__ alignas(128) float Bs[STAGES][TILE][TILE];
  __shared__ alignas(128) float Cs[TILE][TILE];
  __shared__ alignas(8) uint64_t full[STAGES];
  const int x = threadIdx.x, y = threadIdx.y, m0 = blockIdx.y * TILE, n0 = blockIdx.x * TILE;
  const bool leads = x == 0 && y == 0;
  if (leads) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&a) : "memory");
    for (int s = 0; s < STAGES; ++s)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(tma_smem(&full[s])));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const int slices = (K + TILE - 1) / TILE;
  auto issue = [&](int i) {
    const int s = i % STAGES;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(tma_smem(&full[s])),
                 "r"(2 * TILE * TILE * 4));
    tma_load(As[s], &a, i * TILE, m0, &full[s]);
    tma_load(Bs[s], &b, n0, i * TILE, &full[s]);
  };
  if (leads) issue(0);
  float sum = 0;
  for (int i = 0; i < slices; ++i) {
    const int s = i % STAGES;
    if (leads && i + 1 < slices) issue(i + 1);
    tma_wait(&full[s], i / STAGES & 1);
    for (int k = 0; k < TILE; ++k) {
      const int piece = k / 4 ^ y % 8;  // as the swizzle of 128 bytes has it
      sum += As[s][y * TILE + piece * 4 + k % 4] * Bs[s][k][x];
    }
    __syncthreads();
  }
  const int row = m0 + y, col = n0 + x;
  Cs[y][x] = alpha * sum + (row < M && col < N ? beta * C[row * N + col] : 0.0f);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (leads) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&c),
                 "r"(n0), "r"(m0), "r"(tma_smem(Cs)) : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory");
  }
}
