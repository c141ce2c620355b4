// Watching nvcc's output, which the PTX machine runs.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "oracle/host/device_loan.h"
#include "oracle/host/sites.h"
#include "oracle/machine.h"
#include "oracle/plan.h"
#include "oracle/watched/sparse.h"
#include "oracle/watched/watched_run.h"
#include "ptx/runtime/observe.h"
#include "simt/simt.h"

namespace assay {
namespace {

constexpr std::int64_t filled_floats = 1 << 14;
constexpr std::uint64_t calls_of_a_launch = 1000;  // that it takes as long as, whatever it does
constexpr int most_launches_to_count = 2000;

// The two ways of a comparison: any two addresses of its own.
const void* way_of(const ptx::Comparison& c, bool outcome) {
  return static_cast<const char*>(c.where) + (outcome ? 1 : 2);
}

Comparison as_watched(const ptx::Comparison& c, std::uint64_t earlier_calls) {
  const bool is_whole = !c.is_of_floats;
  Comparison made{.where = c.where,
                  .kind = is_whole ? Comparison::Kind::whole_numbers : Comparison::Kind::floats,
                  .bytes = c.bytes,
                  .with_constant = is_whole && c.with_constant,
                  .constant = c.constant,
                  .labels = {},
                  .least = c.least,
                  .greatest = c.greatest,
                  .below = c.below,
                  .above = c.above,
                  .equal = c.equal,
                  .first_call = earlier_calls + c.first_call};
  if (!made.with_constant) made.least_other = c.least_other, made.greatest_other = c.greatest_other;
  std::size_t ways = 0;
  if (c.was_true) made.ways[ways++] = way_of(c, true);
  if (c.was_false) made.ways[ways++] = way_of(c, false);
  return made;
}

Placed placed(const Sparse& memory, std::int64_t rows, std::int64_t columns, std::int64_t ld) {
  return {reinterpret_cast<const std::byte*>(memory.first()), rows, columns, ld};
}

// The comparisons of all launches, those of a kernel that was launched twice each by itself, and
// those of the host, whose places are known.
WatchedRun run_of(const ptx::Observation& seen, const std::optional<simt::Watch>& host) {
  WatchedRun run;
  if (host) run = {.comparisons = host->comparisons(), .calls = host->calls()};
  run.places.resize(run.comparisons.size());
  for (const ptx::Watched& launch : seen.watched) {
    for (const ptx::Comparison& c : launch.comparisons) {
      run.comparisons.push_back(as_watched(c, run.calls));
      const bool has_place = !c.lines.empty();
      run.places.push_back(has_place ? SourcePlace{shown_path(c.lines[0].file), c.lines[0].line}
                                     : SourcePlace{});
    }
    run.calls += launch.calls;
    run.threads += launch.threads;
  }
  return run;
}

// What a launch of this case does, if the variant takes it.
std::optional<ptx::Observation> observed(const Entry& entry, const Case& c,
                                         const ptx::Request& request, simt::Watch* host) {
  if (is_too_large(c)) return std::nullopt;
  Sparse a(c.m, c.k + c.lda.floats, c.offset.floats[0]);
  Sparse b(c.k, c.n + c.ldb.floats, c.offset.floats[1]);
  Sparse result(c.m, c.n + c.ldc.floats, c.offset.floats[2]);
  a.fill(c.fill, c.seed, filled_floats);
  b.fill(c.fill, c.seed + 1, filled_floats);
  Given gemm{gemm_of(c, a.first(), b.first(), result.first())};
  if (!refusal(entry.variant, gemm).empty()) return std::nullopt;
  const auto workspace = give_workspace(entry.variant, gemm);

  const DeviceLoan loan(
      {placed(a, c.m, c.k, gemm.lda), placed(b, c.k, c.n, gemm.ldb),
       placed(result, c.m, c.n, gemm.ldc), workspace ? workspace->placed() : Placed{}},
      gemm.beta != 0);
  ptx::Observation seen;
  simt::observe({.watch = host}, [&] {
    seen = ptx::observe(request, [&] {
      thrown_by([&] { static_cast<void>(entry.variant.launch(gemm, nullptr, gemm.workspace)); });
    });
  });
  return seen;
}

}  // namespace

WatchedRun watched_run_of_ptx(const Entry& entry, const Case& c, std::uint64_t most_calls,
                              const simt::Hints& hints) {
  std::optional<simt::Watch> host;
  if (!hints.branches.empty()) host.emplace(std::numeric_limits<std::uint64_t>::max(), hints);
  const auto most_launches = static_cast<int>(1 + most_calls / calls_of_a_launch);
  const auto seen =
      observed(entry, c,
               {.settings = {.order = c.seed % 2 == 0 ? ptx::Order::forward : ptx::Order::reverse,
                             .seed = c.seed,
                             .cpu_seconds = 10,
                             .most_watched = most_calls},
                .most_launches = most_launches},
               host ? &*host : nullptr);
  if (!seen) return {};
  WatchedRun run = run_of(*seen, host);
  const int further = std::clamp(seen->launches, 1, most_launches) - 1;
  run.calls += calls_of_a_launch * static_cast<std::uint64_t>(further);
  const bool was_ended = seen->finding && seen->finding->fault == ptx::Fault::never_ends;
  const bool is_enough = run.calls >= most_calls || seen->launches > most_launches;
  run.timed_out = was_ended && !is_enough;
  return run;
}

std::uint64_t hash_of_kept_memory_on_ptx() { return ptx::hash_of_kept_memory(); }

std::optional<WorkOnPtx> work_on_ptx(const Entry& entry, const Case& c) {
  const auto seen = observed(
      entry, c,
      {.settings = {.cpu_seconds = 2, .counts = true}, .most_launches = most_launches_to_count},
      nullptr);
  if (!seen || seen->finding) return std::nullopt;
  WorkOnPtx work{.operations = seen->extra_time};
  for (const ptx::LaunchCounts& launch : seen->counts) {
    work.operations += launch.total.instructions.warps;
    work.blocks += launch.blocks;
  }
  return work;
}

}  // namespace assay
