// Words by which the two halves of a sum meet. Of each launch's own, in its workspace, that is
// right. The faulty twins have them in variables of the file, where the halves of two launches that
// are under way at the same time meet as well.
#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

constexpr int threads = 64;
constexpr std::int64_t most_rows = 64, most_columns = 4096, most = most_rows * most_columns;
__device__ unsigned turns_of_all[most / threads];
using Box = unsigned long long;  // a sum and, above it, 1; or 0
__device__ Box boxes_of_all[most];

std::int64_t tiles(const Gemm& g) { return ceil_div(g.m * g.n, threads); }

// Half of the sum, of the tile that both have.
__device__ float half_of(const Gemm& g, std::int64_t at) {
  const std::int64_t middle = depth(g) / 2;
  return blockIdx.x % 2 == 0 ? sum_of(g, at, 0, middle) : sum_of(g, at, middle, depth(g));
}

// The first half goes to C, and the second is added when its turn comes, which is then the first's.
// Without a fence the turn may be seen before the sum.
template <bool fences = true>
__global__ void in_turns(Gemm g, unsigned* turns) {
  const std::int64_t tile = blockIdx.x / 2, at = tile * threads + threadIdx.x;
  const unsigned half = blockIdx.x % 2;
  const float sum = at < g.m * g.n ? half_of(g, at) : 0;
  if (turns == nullptr) turns = turns_of_all;
  if (threadIdx.x == 0) {
    while (atomicAdd(&turns[tile], 0u) != half) {
    }
    __threadfence();
  }
  __syncthreads();
  if (at < g.m * g.n) {
    volatile float* const c = &g.c[at / g.n * g.ldc + at % g.n];
    const float kept = half == 1 ? *c : g.beta == 0 ? 0.0F : g.beta * *c;
    *c = g.alpha * sum + kept;
  }
  if (fences) __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) atomicExch(&turns[tile], 1 - half);
}

// Whoever finds the other half in the box finishes.
__global__ void by_boxes(Gemm g, Box* boxes) {
  const std::int64_t at = std::int64_t{blockIdx.x} / 2 * threads + threadIdx.x;
  if (at >= g.m * g.n) return;
  if (boxes == nullptr) boxes = boxes_of_all;
  const float sum = half_of(g, at);
  const Box other = atomicExch(&boxes[at], Box{1} << 32 | __float_as_uint(sum));
  if (other == 0) return;
  atomicExch(&boxes[at], Box{0});
  const float all = sum + __uint_as_float(static_cast<unsigned>(other));
  Right::finish(g, all, at / g.n, at % g.n);
}

template <auto kernel, class Word, int words, bool is_own>
cudaError_t launch(const Gemm& g, cudaStream_t stream, void* workspace) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  if (is_own) {
    const auto bytes = sizeof(Word) * static_cast<std::size_t>(words * tiles(g));
    if (const cudaError_t error = cudaMemsetAsync(workspace, 0, bytes, stream)) return error;
  }
  Word* const own = is_own ? static_cast<Word*>(workspace) : nullptr;
  kernel<<<static_cast<unsigned>(2 * tiles(g)), threads, 0, stream>>>(g, own);
  return cudaGetLastError();
}

template <auto kernel, class Word, int words, bool is_own>
Variant meeting(const char* name) {
  Variant made = named(name, launch<kernel, Word, words, is_own>);
  made.needs = {.m_most = most_rows, .n_most = most_columns};
  if (is_own)
    made.workspace = [](const Gemm& g) {
      return static_cast<std::int64_t>(sizeof(Word)) * words * tiles(g);
    };
  return made;
}

const Registrar registrars[] = {
    meeting<in_turns<>, unsigned, 1, true>("right_turns_of_a_launch"),
    meeting<in_turns<>, unsigned, 1, false>("turns_of_all_launches"),
    meeting<in_turns<false>, unsigned, 1, true>("turns_without_a_fence"),
    meeting<by_boxes, Box, threads, true>("right_boxes_of_a_launch"),
    meeting<by_boxes, Box, threads, false>("boxes_of_all_launches"),
};

}  // namespace
}  // namespace assay::faulty
