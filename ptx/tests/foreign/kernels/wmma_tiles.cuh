// nvcuda::wmma: four warps, each 16 x 16 of C, with tiles of shared memory and a padded store.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

__global__ void hgemm_wmma(const half *A, const half *B, float *C, int M, int N, int K, float alpha,
                           float beta) {
  constexpr int PAD = 8;
  __shared__ __align__(32) half As[32][16 + PAD], Bs[16][32 + PAD];
  __shared__ __align__(32) float out[4][16][16 + 4];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, wr = warp / 2, wc = warp % 2;
  const int row = blockIdx.y * 32, col = blockIdx.x * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
  wmma::fill_fragment(acc, 0.0f);
  for (int k0 = 0; k0 < K; k0 += 16) {
    for (int e = threadIdx.x; e < 32 * 16; e += blockDim.x) {
      As[e / 16][e % 16] = A[(row + e / 16) * K + k0 + e % 16];
      Bs[e / 32][e % 32] = B[(k0 + e / 32) * N + col + e % 32];
    }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::load_matrix_sync(fa, &As[wr * 16][0], 16 + PAD);
    wmma::load_matrix_sync(fb, &Bs[0][wc * 16], 32 + PAD);
    wmma::mma_sync(acc, fa, fb, acc);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < acc.num_elements; ++i) acc.x[i] *= alpha;
  wmma::store_matrix_sync(&out[warp][0][0], acc, 16 + 4, wmma::mem_row_major);
  __syncwarp();
  for (int e = lane; e < 256; e += 32) {
    float &c = C[(row + wr * 16 + e / 16) * N + col + wc * 16 + e % 16];
    c = out[warp][e / 16][e % 16] + beta * c;
  }
}
