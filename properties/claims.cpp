#include "properties/claims.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>

namespace assay {
namespace {

std::string no_entry_exempt(const Entry&) {
  return "";
}
std::string no_case_left_out(const Case&) {
  return "";
}
Case any_case(Case c, const Entry&) {
  return c;
}

Verdict judge_plan(const Entry& entry, const Case& c, Plan plan, int workers) {
  plan.workers = workers;
  return run_trial(entry, c, plan);
}

// matches the reference within the bound

std::string unless_bound_holds(const Case& c) {
  return c.fill == Fill::exact
             ? "the error bound is for zero-mean data: fill=exact belongs to exact_integers"
             : "";
}
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

std::string unless_fma_chain(const Entry& entry) {
  return entry.variant.order == Order::one_fma_chain
             ? ""
             : "it does not declare one in-order chain of fused multiply-adds";
}
std::string unless_finite(const Case& c) {
  return c.fill == Fill::special ? "NaN has many bit patterns: fill=special belongs to within_bound"
                                 : "";
}
Case without_special(Case c, const Entry&) {
  if (c.fill == Fill::special) c.fill = Fill::uniform;
  return c;
}
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
  Verdict first;
  Output first_output;
  for (const auto& [name, plan] : runs) {
    Output output;
    Verdict verdict = run_trial(entry, c, plan, &output);
    // A result that is wrong, but the same each time, is for other claims to see.
    const bool ended =
        verdict.status == Status::right || (verdict.status == Status::wrong && !output.empty());
    if (!ended) return verdict;
    if (&name == &runs.front().first) {
      first = std::move(verdict);
      first_output = std::move(output);
      first.status = Status::right;
      continue;
    }
    for (std::size_t i = 0; i < output.size(); ++i) {
      if (std::bit_cast<std::uint32_t>(output[i]) == std::bit_cast<std::uint32_t>(first_output[i]))
        continue;
      const auto at = static_cast<std::int64_t>(i);
      return {.status = Status::wrong,
              .reason = fmt::format("row {}, column {} is {:.9g} {} and {:.9g} {}", at / c.n,
                                    at % c.n, first_output[i], runs.front().first, output[i], name),
              .judged = first.judged};
    }
  }
  return {.status = Status::right, .judged = first.judged};
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
    ways.push_back([](Case& x) { x.offset.floats[0] = 1 + static_cast<int>(x.seed % 3); });
  if (needs.b_alignment > 4)
    ways.push_back([](Case& x) { x.offset.floats[1] = 1 + static_cast<int>(x.seed % 3); });
  if (needs.c_alignment > 4)
    ways.push_back([](Case& x) { x.offset.floats[2] = 1 + static_cast<int>(x.seed % 3); });
  if (needs.packed) ways.push_back([](Case& x) { x.ldc.floats += 1; });
  if (needs.alpha_one) ways.push_back([](Case& x) { x.alpha = 2; });
  if (needs.beta_zero) ways.push_back([](Case& x) { x.beta = 1; });
  // One way more: the case stays as it is, and is made malformed when it is judged.
  const auto way = c.seed % (ways.size() + 1);
  if (way < ways.size()) ways[way](c);
  return c;
}
Verdict judge_refusal(const Entry& entry, const Case& c, int workers) {
  constexpr std::array all = {Spoil::negative_m, Spoil::negative_n, Spoil::negative_k,
                              Spoil::short_lda,  Spoil::short_ldb,  Spoil::short_ldc};
  Verdict verdict = judge_plan(entry, c, {.spoil = all[c.seed % all.size()]}, workers);
  const std::int64_t compared = c.m * c.n + c.m * c.k + c.k * c.n;
  if (verdict.status == Status::refused)
    return {.status = Status::right, .judged = std::max<std::int64_t>(1, compared)};
  if (verdict.status == Status::right) {
    return {.status = Status::wrong,
            .reason = "launched a malformed problem",
            .judged = verdict.judged};
  }
  return verdict;
}

}  // namespace

const std::vector<Claim>& claims() {
  static const std::vector<Claim> all = {
      {"within_bound", "matches the reference within the bound", "bound", no_entry_exempt,
       unless_bound_holds, any_case, judge_bounded, true},
      {"exact_integers", "is exact on exact integers", "exact", unless_fp32, unless_exact_integers,
       with_exact_integers, judge_exactly, true},
      {"fma_replay", "equals the fma replay to the bit", "bits", unless_fma_chain, unless_finite,
       without_special, judge_to_the_bit, true},
      {"beta_zero", "beta zero never reads C", "beta=0", no_entry_exempt, unless_beta_zero,
       with_beta_zero, judge_bounded},
      {"no_product", "alpha zero or k zero never reads A or B", "k=0", no_entry_exempt,
       unless_no_product, without_product, judge_with_hidden_inputs},
      {"writes_only_c", "writes C and nothing else", "writes", no_entry_exempt, unless_bound_holds,
       with_gaps, judge_bounded},
      {"reads_only_operands", "reads nothing outside its operands", "reads", no_entry_exempt,
       unless_bound_holds, any_case, judge_between_fences},
      {"thread_order", "does not depend on thread order", "order", unless_threads, no_case_left_out,
       any_case, judge_in_every_order},
      {"same_bits_twice", "gives the same bits twice", "twice", unless_deterministic,
       no_case_left_out, any_case, judge_twice},
      {"refuses", "refuses what it does not accept, and touches nothing", "refuses",
       no_entry_exempt, no_case_left_out, outside_needs, judge_refusal, false, false},
  };
  return all;
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
