#include "properties/claims.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "base/errors.h"
#include "base/suggestion.h"
#include "oracle/machine.h"
#include "properties/claim_parts.h"
#include "properties/generators.h"

namespace assay {
namespace {

// matches the reference within the bound

Verdict judge_bounded(const Entry& entry, const Case& c, int workers) {
  return judge_plan(entry, c, {}, workers);
}

// is exact on exact integers

std::string unless_exact_integers(const Case& c) {
  if (c.fill != Fill::exact)
    return fmt::format("it takes fill=exact, not fill={}", to_string(c.fill));
  return is_exactly_summable(c) ? ""
                                : "not every order is exact: k is at most 4096, alpha and beta "
                                  "multiples of 0.5 that keep sums below 2^24";
}
std::string unless_fp32(const Entry& entry) {
  return entry.variant.arithmetic == Arithmetic::fp32
             ? ""
             : fmt::format("it declares {} arithmetic, which rounds its inputs",
                           to_string(entry.variant.arithmetic));
}
Case with_exact_integers(Case c, const Entry&) {
  c.fill = Fill::exact;
  c.k = std::min<std::int64_t>(c.k, 4095);
  if (!is_exactly_summable(c)) c.alpha = c.alpha < 0 ? -1.0f : 1.0f;
  if (!is_exactly_summable(c)) c.beta = c.beta < 0 ? -1.0f : 1.0f;
  return c;
}
Verdict judge_exactly(const Entry& entry, const Case& c, int workers) {
  return judge_plan(entry, c, {.rule = Rule::exact}, workers);
}

// equals the fma replay to the bit

Verdict judge_to_the_bit(const Entry& entry, const Case& c, int workers) {
  return judge_plan(entry, c, {.rule = Rule::replay}, workers);
}

// beta zero never reads C: with beta = 0 every trial starts with NaN in C

std::string unless_beta_zero(const Case& c) {
  return c.beta == 0 ? unless_bound_holds(c) : "it takes beta=0";
}
Case with_beta_zero(Case c, const Entry&) {
  c.beta = 0;
  return c;
}

// alpha zero or k zero never reads A or B: both lie on memory that faults

std::string unless_no_product(const Case& c) {
  return c.alpha == 0 || c.k == 0 ? unless_bound_holds(c) : "it takes alpha=0 or k=0";
}
Case without_product(Case c, const Entry& entry) {
  if (c.seed % 2 == 0 || entry.variant.needs.alpha_one) {
    c.k = 0;
  } else {
    c.alpha = 0;
  }
  return c;
}
Verdict judge_with_hidden_inputs(const Entry& entry, const Case& c, int workers) {
  return judge_plan(entry, c, {.hide_inputs = true}, workers);
}

// writes C and nothing else: gaps and guards are compared bit by bit after every trial

Case with_gaps(Case c, const Entry& entry) {
  const int step = entry.variant.needs.ldc_multiple;
  if (!entry.variant.needs.packed && c.ldc.floats == 0)
    c.ldc.floats = static_cast<std::int64_t>(1 + c.seed % 5) * step;
  return c;
}

// reads nothing outside its operands: memory that faults right after the last element, then right
// before the first

Verdict judge_between_fences(const Entry& entry, const Case& c, int workers) {
  Verdict at_end = judge_plan(entry, c, {.placement = Placement::ends_at_fence}, workers);
  if (at_end.status != Status::right) return at_end;
  return judge_plan(entry, c, {.placement = Placement::begins_at_fence}, workers);
}

// does not depend on thread order, gives the same bits twice

Verdict compare_runs(const Entry& entry, const Case& c,
                     const std::vector<std::pair<const char*, Plan>>& runs) {
  Output first;
  if (Verdict verdict = run_trial(entry, c, runs.front().second, &first);
      !has_output(verdict, first))
    return verdict;
  Verdict verdict;
  for (std::size_t i = 1; i < runs.size() && verdict.status == Status::right; ++i) {
    Output other;
    verdict = run_trial(entry, c, runs[i].second, &other);
    if (!has_output(verdict, other)) return verdict;
    verdict = compare_outputs(c, {runs.front().first, first}, {runs[i].first, other});
  }
  return verdict;
}

std::string unless_threads(const Entry& entry) {
  if (entry.backend == Backend::host) return "a host function has no threads to order";
  return entry.backend == Backend::cuda ? "the hardware chooses the order" : "";
}
Verdict judge_in_every_order(const Entry& entry, const Case& c, int workers) {
  return compare_runs(
      entry, c,
      {{"with threads in ascending order", {.order = ThreadOrder::forward, .workers = workers}},
       {"in descending order", {.order = ThreadOrder::reverse, .workers = workers}},
       {"in random order", {.order = ThreadOrder::shuffled, .workers = workers}}});
}

std::string unless_deterministic(const Entry& entry) {
  return entry.variant.deterministic ? "" : "it does not claim to be deterministic";
}
Verdict judge_twice(const Entry& entry, const Case& c, int workers) {
  // Other addresses, other neighbours in memory.
  return compare_runs(
      entry, c,
      {{"the first time", {.workers = workers}},
       {"the second time", {.placement = Placement::ends_at_fence, .workers = workers}}});
}

// refuses what it does not accept, and touches nothing

Case outside_needs(Case c, const Entry& entry) {
  const Needs& needs = entry.variant.needs;
  std::vector<void (*)(Case&)> ways;
  if (needs.m_multiple > 1) ways.push_back([](Case& x) { x.m += 1; });
  if (needs.n_multiple > 1) ways.push_back([](Case& x) { x.n += 1; });
  if (needs.k_multiple > 1) ways.push_back([](Case& x) { x.k += 1; });
  if (needs.lda_multiple > 1) ways.push_back([](Case& x) { x.lda.floats += 1; });
  if (needs.ldb_multiple > 1) ways.push_back([](Case& x) { x.ldb.floats += 1; });
  if (needs.ldc_multiple > 1) ways.push_back([](Case& x) { x.ldc.floats += 1; });
  if (needs.a_alignment > 4)
    ways.push_back([](Case& x) { x.offset.floats[0] = x.seed % 2 == 0 ? 1 : 3; });
  if (needs.b_alignment > 4)
    ways.push_back([](Case& x) { x.offset.floats[1] = x.seed % 2 == 0 ? 1 : 3; });
  if (needs.c_alignment > 4)
    ways.push_back([](Case& x) { x.offset.floats[2] = x.seed % 2 == 0 ? 1 : 3; });
  if (needs.packed) ways.push_back([](Case& x) { x.ldc.floats += 1; });
  if (needs.alpha_one) ways.push_back([](Case& x) { x.alpha = 2; });
  if (needs.beta_zero) ways.push_back([](Case& x) { x.beta = 1; });
  // One way more: the case stays as it is, and is made malformed when it is judged.
  const auto way = c.seed % (ways.size() + 1);
  if (way < ways.size()) ways[way](c);
  return c;
}
// A case inside the needs is made malformed; one outside is refused as it is.
Verdict judge_refusal(const Entry& entry, const Case& c, int workers) {
  constexpr std::array all = {Spoil::negative_m, Spoil::negative_n, Spoil::negative_k,
                              Spoil::short_lda,  Spoil::short_ldb,  Spoil::short_ldc};
  const bool inside = fitted(c, entry.variant.needs) == c;
  Verdict verdict =
      judge_plan(entry, c, {.spoil = inside ? all[c.seed % all.size()] : Spoil::none}, workers);
  const std::int64_t compared = c.m * c.n + c.m * c.k + c.k * c.n;
  if (verdict.status == Status::refused)
    return {.status = Status::right, .judged = std::max<std::int64_t>(1, compared)};
  if (verdict.status != Status::right) return verdict;
  return {.status = Status::wrong,
          .reason = inside ? "launched a malformed problem"
                           : "launched a problem that it does not accept",
          .judged = verdict.judged};
}

// is right when an operand spreads over more than 2^31 elements: rows lie 2^30 and more apart, and
// only rows are memory

std::string unless_wide(const Case& c) {
  const auto wide = [](std::int64_t rows, std::int64_t ld) {
    return (rows - 1) * ld >= std::int64_t{1} << 31;
  };
  const bool any = wide(c.m, c.k + c.lda.floats) || wide(c.k, c.n + c.ldb.floats) ||
                   wide(c.m, c.n + c.ldc.floats);
  return any ? unless_bound_holds(c) : "it takes an operand that spreads over 2^31 elements";
}
std::string unless_distances_are_free(const Entry& entry) {
  return entry.variant.needs.packed ? "it takes packed matrices only" : "";
}
// Five rows: the last begins beyond 2^32, where an unsigned index wraps too. Always as many: a GPU
// keeps them mapped from case to case.
Case with_wide_gaps(Case c, const Entry&) {
  c.m = 5, c.k = 5, c.n = std::max<std::int64_t>(1, c.n);
  const auto widen = [&](Gap& gap, int bit) {
    if (c.seed % 4 == 0 || static_cast<int>(c.seed % 4) == bit) gap.floats += std::int64_t{1} << 30;
  };
  widen(c.lda, 1), widen(c.ldb, 2), widen(c.ldc, 3);
  return c;
}

}  // namespace

const std::vector<Claim>& claims() {
  static const std::vector<Claim> all = [] {
    std::vector<Claim> claims = {
        {.name = "within_bound",
         .sentence = "matches the reference within the bound",
         .heading = "bound",
         .judge = judge_bounded,
         .leaves_out = unless_bound_holds,
         .takes_large_shapes = true},
        {.name = "exact_integers",
         .sentence = "is exact on exact integers",
         .heading = "exact",
         .judge = judge_exactly,
         .exempts = unless_fp32,
         .leaves_out = unless_exact_integers,
         .aim = with_exact_integers,
         .takes_large_shapes = true},
        {.name = "fma_replay",
         .sentence = "equals the fma replay to the bit",
         .heading = "bits",
         .judge = judge_to_the_bit,
         .exempts = unless_fma_chain,
         .leaves_out = unless_finite,
         .aim = without_special,
         .takes_large_shapes = true},
        {.name = "beta_zero",
         .sentence = "beta zero never reads C",
         .heading = "beta=0",
         .judge = judge_bounded,
         .leaves_out = unless_beta_zero,
         .aim = with_beta_zero},
        {.name = "no_product",
         .sentence = "alpha zero or k zero never reads A or B",
         .heading = "k=0",
         .judge = judge_with_hidden_inputs,
         .leaves_out = unless_no_product,
         .aim = without_product},
        {.name = "writes_only_c",
         .sentence = "writes C and nothing else",
         .heading = "writes",
         .judge = judge_bounded,
         .leaves_out = unless_bound_holds,
         .aim = with_gaps},
        {.name = "reads_only_operands",
         .sentence = "reads nothing outside its operands",
         .heading = "reads",
         .judge = judge_between_fences,
         .leaves_out = unless_bound_holds},
        {.name = "thread_order",
         .sentence = "does not depend on thread order",
         .heading = "order",
         .judge = judge_in_every_order,
         .exempts = unless_threads},
        {.name = "same_bits_twice",
         .sentence = "gives the same bits twice",
         .heading = "twice",
         .judge = judge_twice,
         .exempts = unless_deterministic},
        {.name = "refuses",
         .sentence = "refuses what it does not accept, and touches nothing",
         .heading = "refuses",
         .judge = judge_refusal,
         .aim = outside_needs,
         .inside_needs = false},
        {.name = "wide_strides",
         .sentence = "is right when an operand spreads over more than 2^31 elements",
         .heading = "wide",
         .judge = judge_bounded,
         .exempts = unless_distances_are_free,
         .leaves_out = unless_wide,
         .aim = with_wide_gaps},
    };
    for (const Claim& claim : gpu_claims()) claims.push_back(claim);
    return claims;
  }();
  return all;
}

std::string exemption(const Claim& claim, const Entry& entry) {
  if (claim.takes_gpu && entry.backend != Backend::cuda) return "it takes a GPU";
  std::string why = entry.backend == Backend::cuda ? unmet(entry.variant.needs) : "";
  return why.empty() ? claim.exempts(entry) : why;
}

const Claim& calibration() {
  static const Claim claim = {.name = "calibration",
                              .sentence = "the references agree with each other",
                              .heading = "oracle",
                              .judge = [](const Entry& entry, const Case& c, int) -> Verdict {
                                std::string disagreement =
                                    machine_of(entry.backend).disagreement(c);
                                if (disagreement.empty()) return {.judged = c.m * c.n};
                                return {.status = Status::wrong, .reason = std::move(disagreement)};
                              }};
  return claim;
}

const Claim& claim_named(std::string_view name) {
  std::vector<std::string> names;
  for (const Claim& claim : claims()) {
    if (name == claim.name) return claim;
    names.push_back(claim.name);
  }
  throw BadInput(fmt::format("there is no claim '{}'{}; there are {}", name,
                             suggestion(name, names), fmt::join(names, ", ")));
}

}  // namespace assay
