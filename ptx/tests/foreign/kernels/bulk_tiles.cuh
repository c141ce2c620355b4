// cp.async.bulk with an mbarrier a stage: one thread loads rows, all multiply.
#include <cstdint>

#define STAGES 2

__device__ inline uint32_t smem(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ inline void mbar_wait(uint32_t bar, int phase) {
  asm volatile(
      "{\n.reg .pred P1;\nLAB_WAIT:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
      "@P1 bra.uni DONE;\nbra.uni LAB_WAIT;\nDONE:\n}\n" ::"r"(bar),
      "r"(phase));
}

// 16 x 64 of C, 128 threads, k in steps of 16; A is read row by row, 64 bytes each.
__global__ void sgemm_bulk(const float *A, const float *B, float *C, int M, int N, int K, float alpha,
                           float beta) {
  __shared__ alignas(128) float As[STAGES][16][16];
  __shared__ alignas(128) float Bs[STAGES][16][64];
  __shared__ alignas(8) uint64_t full[STAGES], empty[STAGES];
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem(&full[s])), "r"(1));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem(&empty[s])), "r"(128));
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  const int slices = K / 16;
  auto issue = [&](int i) {
    const int s = i % STAGES;
    if (i >= STAGES) mbar_wait(smem(&empty[s]), (i / STAGES - 1) & 1);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem(&full[s])),
                 "r"(16 * 64 + 16 * 256));
    for (int r = 0; r < 16; ++r) {
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
              "r"(smem(As[s][r])),
          "l"(A + (blockIdx.y * 16 + r) * K + i * 16), "r"(64), "r"(smem(&full[s])));
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
              "r"(smem(Bs[s][r])),
          "l"(B + (i * 16 + r) * N + blockIdx.x * 64), "r"(256), "r"(smem(&full[s])));
    }
  };
  if (threadIdx.x == 0) issue(0);
  float acc[8] = {};
  const int col = threadIdx.x % 64, row0 = threadIdx.x / 64 * 8;
  for (int i = 0; i < slices; ++i) {
    const int s = i % STAGES;
    if (threadIdx.x == 0 && i + 1 < slices) issue(i + 1);
    mbar_wait(smem(&full[s]), i / STAGES & 1);
    for (int k = 0; k < 16; ++k)
      for (int r = 0; r < 8; ++r) acc[r] += As[s][row0 + r][k] * Bs[s][k][col];
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem(&empty[s])));
  }
  for (int r = 0; r < 8; ++r) {
    float &c = C[(blockIdx.y * 16 + row0 + r) * N + blockIdx.x * 64 + col];
    c = alpha * acc[r] + beta * c;
  }
}
