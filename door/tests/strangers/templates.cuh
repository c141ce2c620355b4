// Tiles in shared memory, for any type and size.
namespace gemm {
template <typename T, int BM, int BN, int BK>
struct Traits {
  static constexpr int Threads = BM * BN;
  static_assert(BM == BK && BN == BK, "square tiles only");
};

template <typename T, int BM, int BN, int BK>
__global__ void __launch_bounds__(Traits<T, BM, BN, BK>::Threads)
    tiled(const T *__restrict__ A, const T *__restrict__ B, T *__restrict__ C, size_t M, size_t N, size_t K,
          size_t lda, size_t ldb, size_t ldc, T alpha, T beta) {
  __shared__ T As[BM][BK];
  __shared__ T Bs[BK][BN];
  const size_t row = size_t(blockIdx.y) * BM + threadIdx.y, col = size_t(blockIdx.x) * BN + threadIdx.x;
  T acc{};
  for (size_t k0 = 0; k0 < K; k0 += BK) {
    As[threadIdx.y][threadIdx.x] = row < M && k0 + threadIdx.x < K ? A[row * lda + k0 + threadIdx.x] : T{};
    Bs[threadIdx.y][threadIdx.x] = k0 + threadIdx.y < K && col < N ? B[(k0 + threadIdx.y) * ldb + col] : T{};
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; ++k) acc += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    __syncthreads();
  }
  if (row < M && col < N) {
    T &out = C[row * ldc + col];
    out = beta == T{} ? alpha * acc : alpha * acc + beta * out;
  }
}
}  // namespace gemm
