// A warp for each element, with cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void sgemm_groups(int M, int N, int K, float alpha, const float *A, int lda, const float *B, int ldb,
                             float beta, float *C, int ldc) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const long long element = (long long)blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
  if (element >= (long long)M * N) return;
  const int row = element / N, col = element % N;
  float sum = 0;
  for (int p = warp.thread_rank(); p < K; p += warp.size())
    sum += A[(size_t)row * lda + p] * B[(size_t)p * ldb + col];
  sum = cg::reduce(warp, sum, cg::plus<float>());
  if (warp.thread_rank() == 0) {
    float *c = C + (size_t)row * ldc + col;
    *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
  }
}
