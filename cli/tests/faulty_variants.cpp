// Variants that do what a kernel must not do. The tests require that the command reports them.
#include <cuda_runtime.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "kernels/gemm.h"
#include "oracle/trial.h"

namespace assay {
namespace {

cudaError_t multiply(const Gemm& g, bool with_beta) {
  const std::int64_t k = g.alpha == 0 ? 0 : g.k;
  for (std::int64_t row = 0; row < g.m; ++row) {
    for (std::int64_t column = 0; column < g.n; ++column) {
      float sum = 0;
      for (std::int64_t p = 0; p < k; ++p)
        sum = std::fma(g.a[row * g.lda + p], g.b[p * g.ldb + column], sum);
      float* c = &g.c[row * g.ldc + column];
      *c = g.beta == 0 || !with_beta ? g.alpha * sum : std::fma(g.beta, *c, g.alpha * sum);
    }
  }
  return cudaSuccess;
}

cudaError_t launch_right(const Gemm& g, cudaStream_t) { return multiply(g, true); }
cudaError_t launch_without_beta(const Gemm& g, cudaStream_t) { return multiply(g, false); }
cudaError_t launch_crashing(const Gemm& g, cudaStream_t) {
  if (g.m > 2) std::abort();
  return multiply(g, true);
}

// Prints, as its author does to find a mistake.
cudaError_t launch_chatty(const Gemm& g, cudaStream_t) {
  std::puts("printed by a variant");
  std::fflush(stdout);
  return multiply(g, true);
}

// Is right, but leaves its process too little room for a case that spreads over gigabytes.
cudaError_t launch_cramping(const Gemm& g, cudaStream_t) {
  if (std::max({g.lda, g.ldb, g.ldc}) < 1 << 25) return multiply(g, true);
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit addresses;
  getrlimit(RLIMIT_AS, &addresses);
  addresses.rlim_cur = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
  setrlimit(RLIMIT_AS, &addresses);
  return multiply(g, true);
}

// With BROKEN_WORKERS set, every worker process ends before it can report anything.
const bool is_a_broken_worker = [] {
  if (std::getenv("BROKEN_WORKERS") == nullptr) return false;
  std::ifstream words("/proc/self/cmdline", std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(words), {}};
  if (all.find("--worker") != all.npos) std::abort();
  return true;
}();

// Registered, and so judged, before the others: what it does to its process must not reach them.
const Registrar cramping{
    {.name = "cramping", .idea = "Takes memory away.", .launch = launch_cramping}, Backend::host};
const Registrar right{{.name = "right",
                       .idea = "The triple loop.",
                       .launch = launch_right,
                       .needs = {.lda_multiple = 4}},
                      Backend::host};
// Throws what is hard to write in any format: quotes, brackets, a control character, no UTF-8.
cudaError_t launch_odd(const Gemm&, cudaStream_t) {
  throw std::runtime_error("odd \"<&>'\x01\xff");
}

const Registrar without_beta{
    {.name = "without_beta", .idea = "Forgets beta.", .launch = launch_without_beta},
    Backend::host};
const Registrar chatty{{.name = "chatty", .idea = "Prints.", .launch = launch_chatty},
                       Backend::host};
const Registrar crashing{
    {.name = "crashing", .idea = "Gives up on the third row.", .launch = launch_crashing},
    Backend::host};
const Registrar odd{{.name = "odd", .idea = "Throws an odd text.", .launch = launch_odd},
                    Backend::host};

}  // namespace
}  // namespace assay
