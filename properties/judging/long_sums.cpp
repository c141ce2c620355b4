#include "properties/judging/long_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "kernels/registry.h"
#include "properties/claims.h"
#include "properties/draws/cost.h"
#include "properties/fitting.h"

namespace assay {
namespace {

// Of a process: what it takes to run them.
constexpr double most_nanoseconds = 1.2e10;

bool may_meet(const Entry& entry, const Case& c) {
  constexpr std::int64_t long_k = 1 << 16;
  const bool has_orders = entry.backend == Backend::simt || entry.backend == Backend::ptx;
  if (!has_orders || !entry.variant.deterministic || c.k < long_k) return false;
  return workspace_of(entry.variant, gemm_of(c, nullptr, nullptr, nullptr)) > 0;
}

// With a few elements: other orders of a few terms often leave the same bits in one.
Case of_some_elements(Case c, const Entry& entry) {
  c.m = std::max<std::int64_t>(c.m, std::min(entry.variant.tile.m, 2));
  c.n = std::max<std::int64_t>(c.n, std::min(entry.variant.tile.n, 3));
  return fitted(c, entry.variant.needs);
}

bool same_bits(const Output& x, const Output& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

}  // namespace

Verdict judge_in_two_orders(const Entry& entry, const Case& c, const Plan& plan,
                            const Resources& resources) {
  thread_local double spent = 0;
  const Verdict verdict = run_trial(entry, c, plan, resources);
  if (verdict.status != TrialStatus::right || !may_meet(entry, c)) return verdict;
  const Case its = of_some_elements(c, entry);
  const double cost = 2 * cost_of(its, claim_named("within_bound"), entry, effort_of(entry));
  if (spent + cost > most_nanoseconds) return verdict;
  spent += cost;
  Output in_order, in_reverse;
  Plan other = plan;
  other.order = ThreadOrder::forward;
  if (run_trial(entry, its, other, resources, &in_order).status != TrialStatus::right)
    return verdict;
  other.order = ThreadOrder::reverse;
  const Verdict reverse = run_trial(entry, its, other, resources, &in_reverse);
  if (reverse.status != TrialStatus::right || same_bits(in_order, in_reverse)) return verdict;
  return {.status = TrialStatus::wrong,
          .finding = {Fault::thread_order},
          .reason = fmt::format(
              "it leaves other bits with threads in descending than in ascending order, "
              "at {}",
              to_string(its)),
          .diagnosis = "the order in which its blocks come decides how their sums are added up",
          .judged = reverse.judged};
}

}  // namespace assay
