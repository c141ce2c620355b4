// Faults in workspace: a kernel that sums each half of k there, and another that adds the halves.
#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

constexpr int Threads = 128;

// Each step as it should be.
struct RightHalves {
  static std::int64_t floats(const Gemm& g) { return 2 * g.m * g.n; }
  static void* place(void* workspace) { return workspace; }
  static __device__ bool is_done(const Gemm&, const float*) { return false; }
  static __device__ void store(const Gemm&, float* sums, std::int64_t at, float sum) {
    sums[at] = sum;
  }
  static __device__ void end(const Gemm&, float*) {}
};

template <class Fault>
__global__ void sum_halves(Gemm g, float* sums) {
  const std::int64_t at = std::int64_t{blockIdx.x} * Threads + threadIdx.x, all = g.m * g.n;
  if (at >= 2 * all || Fault::is_done(g, sums)) return;
  const std::int64_t row = at % all / g.n, col = at % g.n, k = depth(g);
  float sum = 0;
  for (std::int64_t p = at < all ? 0 : k / 2, end = at < all ? k / 2 : k; p < end; ++p)
    sum = fmaf(g.a[row * g.lda + p], g.b[p * g.ldb + col], sum);
  Fault::store(g, sums, at, sum);
}

template <class Fault>
__global__ void add_halves(Gemm g, float* sums) {
  const std::int64_t at = std::int64_t{blockIdx.x} * Threads + threadIdx.x, all = g.m * g.n;
  if (at >= all) return;
  float* const c = &g.c[at / g.n * g.ldc + at % g.n];
  *c = blend(g, sums[at] + sums[at + all], c);
  if (at == 0) Fault::end(g, sums);
}

template <class Fault>
cudaError_t launch_halves(const Gemm& g, cudaStream_t stream, void* workspace) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  auto* const sums = static_cast<float*>(Fault::place(workspace));
  const auto blocks = [&](std::int64_t threads) {
    return dim3(static_cast<unsigned>(ceil_div(threads, Threads)));
  };
  const cudaError_t failed =
      launch(sum_halves<Fault>, blocks(2 * g.m * g.n), dim3(Threads), 0, stream, g, sums);
  if (failed != cudaSuccess) return failed;
  return launch(add_halves<Fault>, blocks(g.m * g.n), dim3(Threads), 0, stream, g, sums);
}

// It asks for as much as one half.
struct TooLittle : RightHalves {
  static std::int64_t floats(const Gemm& g) { return g.m * g.n; }
};
struct OneFloatOver : RightHalves {
  static __device__ void store(const Gemm& g, float* sums, std::int64_t at, float sum) {
    sums[at] = sum;
    if (at == 2 * g.m * g.n - 1) sums[at + 1] = sum;
  }
};
struct CountsOnZeros : RightHalves {
  static __device__ void store(const Gemm&, float* sums, std::int64_t at, float sum) {
    sums[at] += sum;
  }
};
// Where a launch finds its mark, it takes the halves that lie there for its own.
struct KeepsItsSums : RightHalves {
  static constexpr float Mark = 0x5eed;
  static std::int64_t floats(const Gemm& g) { return 2 * g.m * g.n + 1; }
  static __device__ bool is_done(const Gemm& g, const float* sums) {
    return sums[2 * g.m * g.n] == Mark;
  }
  static __device__ void end(const Gemm& g, float* sums) { sums[2 * g.m * g.n] = Mark; }
};
// All launches use the workspace that the first one was given.
struct FirstForAll : RightHalves {
  static void* place(void* workspace) {
    static void* const first = workspace;
    return first;
  }
};

template <class Fault>
constexpr Variant in_halves(const char* name) {
  return {
      .name = name,
      .idea = idea,
      .launch = launch_halves<Fault>,
      .tile = {1, 1, 1},
      .workspace = [](const Gemm& g) { return Fault::floats(g) * std::int64_t{sizeof(float)}; }};
}

const Registrar all[] = {
    in_halves<TooLittle>("too_little_workspace"),
    in_halves<OneFloatOver>("one_float_past_its_workspace"),
    in_halves<CountsOnZeros>("counts_on_zeros_in_workspace"),
    in_halves<KeepsItsSums>("keeps_sums_in_workspace"),
    in_halves<FirstForAll>("first_workspace_for_all"),
};

}  // namespace
}  // namespace assay::faulty
