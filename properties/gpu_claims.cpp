#include <algorithm>
#include <numeric>
#include <utility>

#include "base/errors.h"
#include "oracle/operands.h"
#include "properties/claim_parts.h"
#include "properties/generators.h"

#if defined(ASSAY_CUDA)
#include "oracle/cuda/large_trial.h"
#endif

namespace assay {
namespace {

// is right when C has more than 2^31 elements; is right when a grid would exceed 65535 blocks in y

std::string unless_2_31_elements(const Case& c) {
  if (c.m * c.n <= std::int64_t{1} << 31) return "it takes a C of more than 2^31 elements";
  if (c.beta != 0 || c.ldc.floats != 0) return "it takes beta=0 and no gap in C";
  if (c.k > 256) return "it takes k of 256 at most";
  const std::string why = unless_finite(c);
  return why.empty() ? unless_bound_holds(c) : why;
}
// As small as it can be; with rows of C that need no gap to be as far apart as the variant asks.
Case with_2_31_elements(Case drawn, const Entry& entry) {
  const Needs& needs = entry.variant.needs;
  const std::int64_t step = std::lcm(needs.n_multiple, needs.ldc_multiple);
  return {.m = 32769, .n = (65536 / step + 1) * step, .k = 2, .alpha = 1.5f, .seed = drawn.seed};
}
Verdict judge_large_result([[maybe_unused]] const Entry& entry, [[maybe_unused]] const Case& c,
                           int) {
#if defined(ASSAY_CUDA)
  return run_large_trial(entry, c);
#else
  throw Unavailable(unavailable(Backend::cuda));
#endif
}

std::string unless_tall(const Case& c) {
  return std::max(c.m, c.n) < 65536 ? "it takes a size beyond 65535" : unless_bound_holds(c);
}
Case with_many_tiles(Case c, const Entry& entry) {
  constexpr int usual_tile = 128;  // or less; where a variant says nothing of its own
  const int tile = std::max(entry.variant.tile.m, entry.variant.tile.n);
  c.m = std::int64_t{65536} * (tile > 1 ? tile : usual_tile) + 1;
  c.n = 1 + c.n % 2, c.k = 1 + c.k % 2;
  c.lda = c.ldb = c.ldc = Gap{};
  return c;
}
// In both roles: some kernels number the rows of C along y, others its columns.
Verdict judge_tall_and_wide(const Entry& entry, const Case& c, int workers) {
  Verdict tall = judge_plan(entry, c, {}, workers);
  if (tall.status != Status::right) return tall;
  Case wide = c;
  std::swap(wide.m, wide.n);
  wide = fitted(wide, entry.variant.needs);
  return judge_plan(entry, wide, {}, workers);
}

// claims about launches, which copy operands with the gaps between their rows

std::string unless_something_to_launch(const Case& c) {
  const bool nothing_to_add = c.beta == 1 && (c.alpha == 0 || c.k == 0);
  if (c.m == 0 || c.n == 0 || nothing_to_add) return "it takes a problem that changes C";
  for (const Gap& gap : {c.lda, c.ldb, c.ldc}) {
    if (gap.floats > widest_stored_gap) return "it takes rows that lie closer together";
  }
  return unless_bound_holds(c);
}
Case with_something_to_launch(Case c, const Entry&) {
  c.m = std::max<std::int64_t>(1, c.m);
  c.n = std::max<std::int64_t>(1, c.n);
  c.k = std::max<std::int64_t>(1, c.k);
  if (c.alpha == 0) c.alpha = 1;
  return c;
}
template <Setting setting>
Verdict judge_in_setting(const Entry& entry, const Case& c, int workers) {
  const Rule rule = setting == Setting::broken_stream ? Rule::untouched : Rule::bound;
  return judge_plan(entry, c, {.rule = rule, .setting = setting}, workers);
}

template <Setting setting>
Claim gpu_claim(const char* name, const char* sentence, const char* heading) {
  return {.name = name,
          .sentence = sentence,
          .heading = heading,
          .judge = judge_in_setting<setting>,
          .takes_gpu = true,
          .leaves_out = unless_something_to_launch,
          .aim = with_something_to_launch};
}

// gives the same bits on the GPU as on the CPU executor

Verdict judge_on_both_backends(const Entry& entry, const Case& c, int workers) {
  Output on_gpu, on_cpu;
  if (Verdict v = run_trial(entry, c, {.workers = workers}, &on_gpu); !has_output(v, on_gpu))
    return v;
  const Entry on_simt = entry_named(entry.variant.name, Backend::simt);
  if (Verdict v = run_trial(on_simt, c, {.workers = workers}, &on_cpu); !has_output(v, on_cpu))
    return v;
  return compare_outputs(c, {"on the GPU", on_gpu}, {"on the CPU executor", on_cpu});
}

}  // namespace

std::vector<Claim> gpu_claims() {
  return {
      gpu_claim<Setting::slow_producer>("given_stream", "runs on the stream it was given",
                                        "stream"),
      gpu_claim<Setting::broken_stream>("launch_errors", "reports a launch that fails", "errors"),
      gpu_claim<Setting::two_streams>(
          "two_streams", "two launches on two streams do not disturb each other", "pairs"),
      gpu_claim<Setting::graph>("graph", "can be captured into a CUDA graph and replayed", "graph"),
      gpu_claim<Setting::busy_gpu>(
          "busy_gpu", "keeps its bits while another stream keeps the GPU busy", "busy"),
      {.name = "tall_grid",
       .sentence = "is right when a grid would exceed 65535 blocks in y",
       .heading = "tall",
       .judge = judge_tall_and_wide,
       .takes_gpu = true,
       .leaves_out = unless_tall,
       .aim = with_many_tiles,
       .most_cases = 2},
      {.name = "same_bits_on_cpu",
       .sentence = "gives the same bits on the GPU as on the CPU executor",
       .heading = "=simt",
       .judge = judge_on_both_backends,
       .takes_gpu = true,
       .exempts = unless_fma_chain,
       .leaves_out = unless_finite,
       .aim = without_special},
      {.name = "large_result",
       .sentence = "is right when C has more than 2^31 elements",
       .heading = "large",
       .judge = judge_large_result,
       .takes_gpu = true,
       .leaves_out = unless_2_31_elements,
       .aim = with_2_31_elements,
       .most_cases = 1,
       .gibibytes = 8.3},
  };
}

}  // namespace assay
