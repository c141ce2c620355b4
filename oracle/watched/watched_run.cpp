#include "oracle/watched/watched_run.h"

#include "oracle/operands.h"
#include "oracle/plan.h"
#include "oracle/watched/sparse.h"
#include "simt/simt.h"

namespace assay {
namespace {

constexpr std::int64_t filled_floats = 1 << 14;
constexpr std::uint64_t calls_to_begin = 3000, calls_of_a_stop = 3;

}  // namespace

std::uint64_t WatchedRun::cost() const {
  return calls + threads + calls_of_a_stop * stops + calls_to_begin;
}

WatchedRun watched_run(const Entry& entry, const Case& c, std::uint64_t most_calls,
                       const simt::Hints& hints) {
  if (is_too_large(c)) return {};
  Sparse a(c.m, c.k + c.lda.floats, c.offset.floats[0]);
  Sparse b(c.k, c.n + c.ldb.floats, c.offset.floats[1]);
  Sparse result(c.m, c.n + c.ldc.floats, c.offset.floats[2]);
  a.fill(c.fill, c.seed, filled_floats);
  b.fill(c.fill, c.seed + 1, filled_floats);
  Given gemm{gemm_of(c, a.first(), b.first(), result.first())};
  if (!refusal(entry.variant, gemm).empty()) return {};
  const auto workspace = give_workspace(entry.variant, gemm);

  simt::Watch watch(most_calls, hints);
  const simt::Settings settings = {
      .order = c.seed % 2 == 0 ? simt::Order::forward : simt::Order::reverse,
      .seed = c.seed,
      .cpu_seconds = 10,
      .ordinary_shared = has_ordinary_shared(c),
      .watch = &watch};
  const simt::Observation seen = simt::observe(settings, [&] {
    try {
      entry.watched_launch(gemm, nullptr, gemm.workspace);
    } catch (const std::exception&) {  // which a trial reports
    }
  });
  const bool was_ended = seen.fault && seen.fault->kind == simt::FaultKind::never_ends;
  return {.comparisons = watch.comparisons(),
          .calls = watch.calls(),
          .threads = seen.threads,
          .stops = seen.stops,
          .timed_out = was_ended && watch.calls() < most_calls};
}

}  // namespace assay
