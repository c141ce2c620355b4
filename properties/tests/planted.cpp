#include "properties/tests/planted.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#undef NDEBUG  // one of these fails an assertion, in every build
#include <cassert>

#include "oracle/deadline.h"
#include "oracle/machine.h"
#include "oracle/trial.h"

namespace assay_test {

using namespace assay;

cudaError_t multiply(const Gemm& g, cudaStream_t) {
  for (std::int64_t i = 0; i < g.m; ++i) {
    for (std::int64_t j = 0; j < g.n; ++j) {
      float sum = 0;
      for (std::int64_t p = 0; g.alpha != 0 && p < g.k; ++p)
        sum = std::fmaf(g.a[i * g.lda + p], g.b[p * g.ldb + j], sum);
      float& c = g.c[i * g.ldc + j];
      c = g.beta == 0 ? g.alpha * sum : std::fmaf(g.beta, c, g.alpha * sum);
    }
  }
  return cudaSuccess;
}

cudaError_t multiply_wrongly(const Gemm& g, cudaStream_t stream) {
  multiply(g, stream);
  if (g.m > 0 && g.n > 7 && g.k % 16 != 0) g.c[g.n - 1] += 1;
  return cudaSuccess;
}

Entry host_entry(Launch launch, const Needs& needs, const Tile& tile) {
  return {{.name = "planted", .idea = "", .launch = launch, .needs = needs, .tile = tile},
          Backend::host};
}

Claim claim_that(std::function<Verdict(const Entry&, const Case&, const Resources&)> judge) {
  return {.name = "planted", .sentence = "is planted", .heading = "planted", .judge = judge};
}

const Claim& planted_or_claim_named(std::string_view name) {
  static const Claim planted = [] {
    Claim claim = claim_that([](const Entry&, const Case&, const Resources& r) {
      return Verdict{.status = r.watchdog_seconds == 7 && r.gpu == 5 && r.in_worker
                                   ? TrialStatus::right
                                   : TrialStatus::wrong,
                     .judged = 1};
    });
    claim.name = "planted_resources";
    return claim;
  }();
  return name == planted.name ? planted : claim_named(name);
}

std::vector<Entry> ladder() {
  std::vector<Entry> entries = registered();
  std::erase_if(entries, [](const Entry& entry) {
    return std::string_view(entry.variant.name).starts_with("planted") ||
           !unavailable(entry.backend).empty();
  });
  return entries;
}

std::string refusal_of(const Entry& entry, const Case& c) {
  const auto at = [](int offset) {  // never read
    return reinterpret_cast<float*>((std::uintptr_t{1} << 30) + sizeof(float) * offset);
  };
  const auto& offset = c.offset.floats;
  return refusal(entry.variant, gemm_of(c, at(offset[0]), at(offset[1]), at(offset[2])));
}

namespace {

Variant named(const char* name, Launch launch) {
  return {.name = name, .idea = "Planted by a test.", .launch = launch};
}

const Registrar planted[] = {
    {named("planted_right", multiply), Backend::host},
    {named("planted_wrong", multiply_wrongly), Backend::host},
    {named("planted_killed",
           [](const Gemm& g, cudaStream_t stream) {
             if (g.m > 3) raise(SIGKILL);
             return multiply(g, stream);
           }),
     Backend::host},
    {named("planted_overrun",
           [](const Gemm& g, cudaStream_t stream) {
             std::vector<int> rows(static_cast<std::size_t>(g.m));
             std::iota(rows.begin(), rows.end(), 0);
             if (g.m % 2 == 1) rows.data()[g.m] = 1;
             return multiply(g, stream);
           }),
     Backend::host},
    {named("planted_zeros",
           [](const Gemm& g, cudaStream_t stream) {
             const std::unique_ptr<int, void (*)(void*)> skipped(
                 static_cast<int*>(std::malloc(100 * sizeof(int))), std::free);
             return *skipped == 0 ? multiply(g, stream) : cudaErrorInvalidValue;
           }),
     Backend::host},
    {named("planted_assertion",
           [](const Gemm& g, cudaStream_t stream) {
             assert(g.m <= 3);
             return multiply(g, stream);
           }),
     Backend::host},
    {named("planted_exit", [](const Gemm&, cudaStream_t) -> cudaError_t { _exit(42); }),
     Backend::host},
    {named("planted_never_back",
           [](const Gemm&, cudaStream_t) -> cudaError_t {
             Deadline deadline(true);
             deadline.set(0.2);
             while (true) pause();
           }),
     Backend::host},
    {named("planted_busy",
           [](const Gemm&, cudaStream_t) -> cudaError_t {
             const std::atomic<bool> goes_on = true;
             while (goes_on) {
             }
             return cudaSuccess;
           }),
     Backend::host},
    {named("planted_throw",
           [](const Gemm&, cudaStream_t) -> cudaError_t {
             throw std::runtime_error("thrown by a variant");
           }),
     Backend::host},
    {named("planted_ticket",
           [](const Gemm& g, cudaStream_t stream) {
             static int launches = 0;  // never reset
             return ++launches == 1 ? multiply(g, stream) : cudaErrorInvalidValue;
           }),
     Backend::host},
    {named("planted_first_size",
           [](const Gemm& g, cudaStream_t stream) {
             static const std::int64_t rows = g.m;  // of a workspace for the first problem
             Gemm first = g;
             first.m = std::min(g.m, rows);
             return multiply(first, stream);
           }),
     Backend::host},
    {named("planted_talkative",
           [](const Gemm&, cudaStream_t) -> cudaError_t {
             throw std::runtime_error(std::string(100'000, 'x'));
           }),
     Backend::host},
};

}  // namespace
}  // namespace assay_test
