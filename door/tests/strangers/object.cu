// An object that keeps a copy of B, transposed, in memory of its own.
#include <algorithm>

__global__ void transpose(const float *from, float *to, int rows, int columns) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < size_t(rows) * columns) to[i % columns * rows + i / columns] = from[i];
}
__global__ void dot_rows(const float *A, const float *Bt, float *C, int M, int N, int K, float alpha, float beta) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= size_t(M) * N) return;
  const float *a = A + i / N * K, *b = Bt + i % N * K;
  float sum = 0;
  for (int p = 0; p < K; ++p) sum = fmaf(a[p], b[p], sum);
  C[i] = beta == 0 ? alpha * sum : fmaf(beta, C[i], alpha * sum);
}

class Sgemm {
 public:
  ~Sgemm() { cudaFree(transposed_); }
  cudaError_t operator()(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C,
                         cudaStream_t stream) {
    if (cudaError_t error = reserve(size_t(K) * N); error != cudaSuccess) return error;
    if (K > 0) transpose<<<blocks(size_t(K) * N), 128, 0, stream>>>(B, transposed_, K, N);
    dot_rows<<<blocks(size_t(M) * N), 128, 0, stream>>>(A, transposed_, C, M, N, K, alpha, beta);
    return cudaGetLastError();
  }

 private:
  static unsigned blocks(size_t threads) { return unsigned((threads + 127) / 128); }
  cudaError_t reserve(size_t floats) {
    if (floats <= capacity_) return cudaSuccess;
    cudaFree(transposed_);
    const size_t wanted = std::max(floats, 2 * capacity_);
    capacity_ = 0;  // until there is memory again
    const cudaError_t error = cudaMalloc(&transposed_, wanted * sizeof(float));
    if (error == cudaSuccess) capacity_ = wanted;
    return error;
  }
  float *transposed_ = nullptr;
  size_t capacity_ = 0;
};
