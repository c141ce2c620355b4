// Faults between launches: in another stream than the one that is given, or in memory that all
// launches share.
#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

cudaError_t launch_right(const Gemm& g, cudaStream_t stream) {
  return launch_plain<Right>(g, stream);
}

// Into the default stream, which does not wait for the one that is given, nor that for it.
cudaError_t into_default_stream(const Gemm& g, cudaStream_t) { return launch_right(g, nullptr); }
cudaError_t clears_in_default_stream(const Gemm& g, cudaStream_t stream) {
  Gemm h = g;
  if (g.beta == 0 && g.m > 0 && g.n > 0) {
    for (std::int64_t row = 0; row < g.m; ++row) {
      const auto bytes = static_cast<std::size_t>(g.n) * sizeof(float);
      if (const cudaError_t error = cudaMemsetAsync(g.c + row * g.ldc, 0, bytes, nullptr))
        return error;
    }
    h.beta = 1;
  }
  return launch_right(h, stream);
}
// Sums go through a variable of the file, which all launches share: between two kernels, or between
// the blocks of one.
__device__ float sums[32][32];
struct IntoVariable : Right {
  static __device__ void finish(const Gemm&, float sum, std::int64_t row, std::int64_t col) {
    sums[row][col] = sum;
  }
};
__global__ void out_of_variable(Gemm g) {
  const std::int64_t row = blockIdx.x, col = threadIdx.x;
  Right::finish(g, sums[row][col], row, col);
}
cudaError_t sums_in_variable(const Gemm& g, cudaStream_t stream) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  if (const cudaError_t error = launch_plain<IntoVariable>(g, stream)) return error;
  return launch(out_of_variable, dim3(static_cast<unsigned>(g.m)), dim3(static_cast<unsigned>(g.n)),
                0, stream, g);
}
// Four such variables in turn: the fifth launch writes over what the first may not have read.
__device__ float turns[4][32][32];
template <int Turn>
struct IntoTurn : Right {
  static __device__ void finish(const Gemm&, float sum, std::int64_t row, std::int64_t col) {
    turns[Turn][row][col] = sum;
  }
};
__global__ void out_of_turn(Gemm g, int turn) {
  const std::int64_t row = blockIdx.x, col = threadIdx.x;
  Right::finish(g, turns[turn][row][col], row, col);
}
cudaError_t sums_in_four_turns(const Gemm& g, cudaStream_t stream) {
  static int launches = 0;
  const int turn = launches++ % 4;
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  const cudaError_t error = turn == 0   ? launch_plain<IntoTurn<0>>(g, stream)
                            : turn == 1 ? launch_plain<IntoTurn<1>>(g, stream)
                            : turn == 2 ? launch_plain<IntoTurn<2>>(g, stream)
                                        : launch_plain<IntoTurn<3>>(g, stream);
  if (error != cudaSuccess) return error;
  return launch(out_of_turn, dim3(static_cast<unsigned>(g.m)), dim3(static_cast<unsigned>(g.n)), 0,
                stream, g, turn);
}
// Blocks draw the row that they compute; what is left of the count when a launch ends is right for
// the next one only if none was between.
__device__ unsigned drawn;
__global__ void row_by_ticket(Gemm g) {
  __shared__ unsigned ticket;
  if (threadIdx.x == 0) ticket = atomicAdd(&drawn, 1u) % gridDim.x;
  __syncthreads();
  const std::int64_t row = ticket, col = threadIdx.x;
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g); ++p)
    sum = Right::add(sum, Right::a(g, row, p), Right::b(g, p, col));
  Right::finish(g, sum, row, col);
}
__global__ void reset_tickets(Gemm) { drawn = 0; }
cudaError_t rows_by_ticket(const Gemm& g, cudaStream_t stream) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  if (const cudaError_t error = launch(reset_tickets, 1, 1, 0, stream, g)) return error;
  return launch(row_by_ticket, dim3(static_cast<unsigned>(g.m)), dim3(static_cast<unsigned>(g.n)),
                0, stream, g);
}

constexpr Variant by(const char* name, cudaError_t (*launch)(const Gemm&, cudaStream_t),
                     Needs needs = {}) {
  return {.name = name, .idea = idea, .launch = launch, .needs = needs, .tile = tile};
}
const Registrar registrars[] = {
    by("into_default_stream", into_default_stream),
    by("clears_in_default_stream", clears_in_default_stream),
    by("sums_in_variable", sums_in_variable, {.m_most = 32, .n_most = 32}),
    by("sums_in_four_turns", sums_in_four_turns, {.m_most = 32, .n_most = 32}),
    by("rows_by_ticket", rows_by_ticket, {.n_most = 1024}),
};

}  // namespace
}  // namespace assay::faulty
