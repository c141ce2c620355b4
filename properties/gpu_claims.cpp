#include "properties/gpu_claims.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "oracle/machine.h"
#include "properties/fitting.h"
#include "properties/judges.h"
#include "properties/judging/kept.h"
#include "properties/judging/launches_in_flight.h"
#include "properties/judging/no_memory.h"
#include "properties/scopes.h"

namespace assay {
namespace {

// is right when C has more than 2^31 elements; is right with more than 65535 tiles in a line

std::string why_not_2_31_elements(const Case& c) {
  if (c.m * c.n <= std::int64_t{1} << 31) return "it takes a C of more than 2^31 elements";
  if (c.beta != 0 || c.ldc.floats != 0) return "it takes beta=0 and no gap in C";
  if (c.k > 256) return "it takes k of 256 at most";
  if (c.fill == Fill::largest || c.fill == Fill::balanced)
    return "it is judged on the GPU, which allows for no underflow and no infinity";
  const std::string why = why_not_finite(c);
  return why.empty() ? why_no_bound(c) : why;
}
// The smallest such case. Its rows of C need no gap to lie as far apart as the variant demands.
Case with_2_31_elements(Case drawn, const Entry& entry) {
  const Needs& needs = entry.variant.needs;
  const std::int64_t step = std::lcm(needs.n_multiple, needs.ldc_multiple);
  return {.m = 32769, .n = (65536 / step + 1) * step, .k = 2, .alpha = 1.5f, .seed = drawn.seed};
}

std::string why_nothing_launched(const Entry& entry) {
  return entry.backend == Backend::host ? "a host function launches nothing" : "";
}
std::string why_not_tall(const Case& c) {
  return std::max(c.m, c.n) < 65536 ? "it takes a size beyond 65535" : why_no_bound(c);
}
Case with_many_tiles(Case c, const Entry& entry) {
  constexpr int usual_tile = 128;  // at most, where a variant declares none
  const int tile = std::max(entry.variant.tile.m, entry.variant.tile.n);
  c.m = std::int64_t{65536} * (tile > 1 ? tile : usual_tile) + 1;
  c.n = 1 + c.n % 2, c.k = 1 + c.k % 2;
  c.lda = c.ldb = c.ldc = Gap{};
  return c;
}
// In both roles: some kernels number the rows of C along y, others its columns. Without a GPU that
// would take minutes: there, what hardware says to the launch is judged.
Verdict judge_tall_and_wide(const Entry& entry, const Case& c, const Resources& resources) {
  const auto judge = [&](const Case& x) {
    return entry.backend == Backend::cuda ? run_trial(entry, x, {}, resources)
                                          : run_dry_trial(entry, x, resources);
  };
  Verdict tall = judge(c);
  if (tall.status != TrialStatus::right) return tall;
  Case wide = c;
  std::swap(wide.m, wide.n);
  return judge(fitted(wide, entry.variant.needs));
}

// claims about launches: they copy whole operands, so the gaps between rows must be stored

std::string why_nothing_to_launch(const Case& c) {
  const bool nothing_to_add = c.beta == 1 && (c.alpha == 0 || c.k == 0);
  if (c.m == 0 || c.n == 0 || nothing_to_add) return "it takes a problem that changes C";
  for (const Gap& gap : {c.lda, c.ldb, c.ldc}) {
    if (gap.floats > widest_stored_gap) return "it takes rows that lie closer together";
  }
  return why_no_bound(c);
}
Case with_something_to_launch(Case c, const Entry&) {
  c.m = std::max<std::int64_t>(1, c.m);
  c.n = std::max<std::int64_t>(1, c.n);
  c.k = std::max<std::int64_t>(1, c.k);
  if (c.alpha == 0) c.alpha = 1;
  for (Gap* gap : {&c.lda, &c.ldb, &c.ldc})
    gap->floats = std::min(gap->floats, widest_stored_gap / 2);  // it may grow to fit the needs
  return c;
}
// Then there is no memory for what it allocates, and each launch of several fails alone, where that
// can be chosen.
Verdict judge_errors(const Entry& entry, const Case& c, const Resources& resources) {
  constexpr int most_launches = 16;
  if (is_large_without_memory(entry, c)) return judge_large_without_memory(entry, c, resources);
  const Machine& machine = machine_of(entry.backend, resources);
  if (const Verdict first = judge_first_launch(entry, c, resources); is_failure(first))
    return first;
  const bool has_allocated = machine.allocations() > 0;
  Plan plan{.rule = Rule::untouched, .setting = Setting::broken_stream};
  Verdict verdict = run_trial(entry, c, plan, resources);
  const bool may_choose = entry.backend != Backend::cuda;
  if (verdict.status != TrialStatus::right || !may_choose) return verdict;
  if (const Verdict keeps = judge_what_failures_keep(entry, c, plan, resources); is_failure(keeps))
    return keeps;
  if (machine.asked_what_is_free()) {
    const Verdict with_little = judge_told_of_little_memory(entry, c, resources);
    if (is_failure(with_little)) return with_little;
  }
  if (has_allocated || machine.allocations() > 0) {
    const Verdict without_memory = judge_without_memory(entry, c, resources);
    if (is_failure(without_memory)) return without_memory;
  }
  run_dry_trial(entry, c, resources);  // which tells how many there are
  const int launches = machine.operations();
  plan.rule = Rule::anything;
  for (int i = 0; launches > 1 && i < std::min(launches, most_launches); ++i) {
    plan.broken_launch = i;
    const Verdict alone = run_trial(entry, c, plan, resources);
    if (alone.status != TrialStatus::right) return alone;
  }
  return verdict;
}
std::string why_not_captured(const Entry& entry) {
  const bool has_graphs = entry.backend == Backend::cuda || entry.backend == Backend::ptx;
  if (!has_graphs) return "it takes a GPU, or the backend ptx";
  return entry.variant.in_legacy_stream
             ? "it declares that it launches in the legacy stream, which cannot be captured"
             : why_nothing_launched(entry);
}
Claim claim_about(Setting setting, const char* name, const char* sentence, const char* heading) {
  return {.name = name,
          .sentence = sentence,
          .heading = heading,
          .judge = by_trial({.setting = setting}),
          .takes_gpu = setting >= Setting::busy_gpu,
          .excludes_variant = why_nothing_launched,
          .excludes_case = why_nothing_to_launch,
          .move_case = with_something_to_launch};
}
Claim claim_about_errors() {
  Claim claim =
      claim_about(Setting::broken_stream, "launch_errors", "reports a launch that fails", "errors");
  claim.judge = judge_errors;
  claim.large_case = large_without_memory;
  return claim;
}
// Every trial of the executor and of the PTX machine sees work in other streams.
Claim claim_about_its_stream() {
  Claim claim = claim_about(Setting::slow_producer, "given_stream",
                            "runs on the stream it was given", "stream");
  claim.share_without_gpu = 0.1;
  return claim;
}
Claim claim_about_two_streams() {
  Claim claim = claim_about(Setting::two_streams, "two_streams",
                            "two launches on two streams do not disturb each other", "pairs");
  claim.judge = judge_two_streams;
  claim.takes_crowds = true;
  claim.share_without_gpu = 0.4;
  claim.trials = 2;
  return claim;
}

Verdict judge_graphs(const Entry& entry, const Case& c, const Resources& resources) {
  Verdict verdict = run_trial(entry, c, {.setting = Setting::graph}, resources);
  if (verdict.status != TrialStatus::right || entry.backend != Backend::ptx) return verdict;
  Verdict pair = run_trial(entry, c, {.setting = Setting::graph_pair}, resources);
  if (!is_failure(pair)) return verdict;
  pair.reason += ", where two calls are captured side by side in one graph";
  return pair;
}
Claim claim_about_graphs() {
  Claim claim = claim_about(Setting::graph, "graph",
                            "can be captured into a CUDA graph and replayed", "graph");
  claim.judge = judge_graphs;
  claim.excludes_variant = why_not_captured;
  claim.takes_capture = true;
  claim.share_without_gpu = 0.05;
  claim.trials = 3;
  return claim;
}

// gives the same bits on the GPU as on the CPU executor

std::string why_no_bits_of_cpu(const Entry& entry) {
  try {
    static_cast<void>(entry_named(entry.variant.name, Backend::simt));
  } catch (const std::out_of_range&) {
    return "it has no build for the CPU executor";
  }
  return why_no_fma_chain(entry);
}

Verdict judge_on_both_backends(const Entry& entry, const Case& c, const Resources& resources) {
  const Entry on_simt = entry_named(entry.variant.name, Backend::simt);
  return compare_runs({{"on the GPU", entry, c}, {"on the CPU executor", on_simt, c}},
                      {Fault::wrong_values, "the GPU and the CPU executor differ"}, resources);
}

}  // namespace

std::vector<Claim> gpu_claims() {
  return {
      claim_about_its_stream(),
      claim_about_errors(),
      claim_about_two_streams(),
      claim_about_graphs(),
      claim_about(Setting::busy_gpu, "busy_gpu",
                  "keeps its bits while another stream keeps the GPU busy", "busy"),
      {.name = "tall_grid",
       .sentence = "is right with more than 65535 tiles in a line, where a grid takes no more in y",
       .heading = "tall",
       .judge = judge_tall_and_wide,
       .excludes_variant = why_nothing_launched,
       .excludes_case = why_not_tall,
       .move_case = with_many_tiles,
       .most_cases = 2,
       .trials = 0},  // that cost anything, without a GPU
      {.name = "same_bits_on_cpu",
       .sentence = "gives the same bits on the GPU as on the CPU executor",
       .heading = "=simt",
       .judge = judge_on_both_backends,
       .takes_gpu = true,
       .excludes_variant = why_no_bits_of_cpu,
       .excludes_case = why_not_finite,
       .move_case = without_special},
      {.name = "large_result",
       .sentence = "is right when C has more than 2^31 elements",
       .heading = "large",
       .judge = run_large_trial,
       .takes_gpu = true,
       .excludes_case = why_not_2_31_elements,
       .move_case = with_2_31_elements,
       .most_cases = 1,
       .gibibytes = 8.3},
  };
}

}  // namespace assay
