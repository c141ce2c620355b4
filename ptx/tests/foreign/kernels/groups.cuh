// Cooperative groups: tiles of 16 threads sum one element each; tiles are staged by memcpy_async.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

template <int KS>
__global__ void gemm_groups(const float *A, const float *B, float *C, int M, int N, int K,
                            float alpha, float beta) {
  __shared__ alignas(16) float a_row[KS];
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  const int row = blockIdx.x;
  for (int col0 = 0; col0 < N; col0 += tile.meta_group_size()) {
    const int col = col0 + tile.meta_group_rank();
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += KS) {
      const int count = min(KS, K - k0);
      cg::memcpy_async(block, a_row, A + row * K + k0, sizeof(float) * count);
      cg::wait(block);
      if (col < N)
        for (int p = tile.thread_rank(); p < count; p += tile.size())
          sum += a_row[p] * B[(k0 + p) * N + col];
      block.sync();
    }
    sum = cg::reduce(tile, sum, cg::plus<float>());
    if (tile.thread_rank() == 0 && col < N) {
      auto active = cg::coalesced_threads();
      if (active.size() >= 1) C[row * N + col] = alpha * sum + beta * C[row * N + col];
    }
  }
}
