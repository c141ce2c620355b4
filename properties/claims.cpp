#include "properties/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/errors.h"
#include "base/suggestion.h"
#include "base/text.h"
#include "oracle/machine.h"
#include "properties/draws/wide_gaps.h"
#include "properties/fitting.h"
#include "properties/gpu_claims.h"
#include "properties/judges.h"
#include "properties/judging/parts.h"
#include "properties/judging/repetition.h"
#include "properties/scopes.h"
#include "properties/sight/huge_sizes.h"
#include "properties/sight/sight_claims.h"

// A claim is one entry of the table in claims(). The functions that only this claim needs stand
// under its sentence.
namespace assay {
namespace {

// is exact on exact integers

std::string why_not_exact_integers(const Case& c) {
  if (c.fill != Fill::exact)
    return fmt::format("it takes fill=exact, not fill={}", to_string(c.fill));
  return is_exactly_summable(c) ? ""
                                : "not every order is exact: k is at most 4096, alpha and beta "
                                  "multiples of 0.5 that keep sums below 2^24";
}
std::string why_not_fp32(const Entry& entry) {
  return entry.variant.arithmetic == Arithmetic::fp32
             ? ""
             : fmt::format("it declares {} arithmetic, in which not every product is exact",
                           to_string(entry.variant.arithmetic));
}
Case with_exact_integers(Case c, const Entry&) {
  c.fill = Fill::exact;
  c.k = std::min<std::int64_t>(c.k, 4095);
  if (!is_exactly_summable(c)) c.alpha = c.alpha < 0 ? -1.0f : 1.0f;
  if (!is_exactly_summable(c)) c.beta = c.beta < 0 ? -1.0f : 1.0f;
  return c;
}

// beta zero never reads C: with beta = 0 every trial starts with NaN in C

std::string why_not_beta_zero(const Case& c) {
  return c.beta == 0 ? why_no_bound(c) : "it takes beta=0";
}
Case with_beta_zero(Case c, const Entry&) {
  c.beta = std::copysign(0.0f, c.beta);  // -0 is zero too
  return c;
}

// alpha zero or k zero never reads A or B: both lie on memory that faults

std::string why_a_product(const Case& c) {
  return c.alpha == 0 || c.k == 0 ? why_no_bound(c) : "it takes alpha=0 or k=0";
}
Case without_product(Case c, const Entry& entry) {
  const Needs& needs = entry.variant.needs;
  const bool takes_no_k =
      needs.k_least == 0 && !needs.square;  // a square of size 0 has no elements
  if (takes_no_k && (c.seed % 2 == 0 || needs.alpha_one)) {
    c.k = 0;
  } else {
    c.alpha = std::copysign(0.0f, c.alpha);
  }
  return c;
}

// writes C and nothing else: gaps and guards are compared bit by bit after every trial

Case with_gaps(Case c, const Entry& entry) {
  const int step = entry.variant.needs.ldc_multiple;
  if (!entry.variant.needs.packed && c.ldc.floats == 0)
    c.ldc.floats = static_cast<std::int64_t>(1 + c.seed % 5) * step;
  return c;
}

// reads nothing outside its operands: memory that faults right after the last element, then right
// before the first; for some cases then another operand

bool may_adjoin(const Entry& entry, const Case& c) {
  const auto is_narrow = [](std::int64_t rows, std::int64_t columns, Gap gap) {
    return columns + gap.floats < (std::int64_t{1} << 28) / std::max<std::int64_t>(1, rows);
  };
  const bool on_host = entry.backend == Backend::simt || entry.backend == Backend::host;
  return on_host && c.seed % 4 == 0 && why_no_bound(c).empty() && is_narrow(c.m, c.k, c.lda) &&
         is_narrow(c.k, c.n, c.ldb) && is_narrow(c.m, c.n, c.ldc);
}
Verdict judge_between_fences(const Entry& entry, const Case& c, const Resources& resources) {
  Verdict verdict = run_trial(entry, c, {.placement = Placement::ends_at_fence}, resources);
  if (verdict.status != TrialStatus::right) return verdict;
  verdict = run_trial(entry, c, {.placement = Placement::begins_at_fence}, resources);
  if (verdict.status != TrialStatus::right || !may_adjoin(entry, c)) return verdict;
  Verdict adjoining = run_trial(entry, c, {.placement = Placement::adjoining}, resources);
  if (adjoining.status == TrialStatus::right) return verdict;
  adjoining.reason += ", where B begins right behind A, and C right behind B";
  return adjoining;
}

// does not depend on thread order, gives the same bits twice

std::string why_no_thread_order(const Entry& entry) {
  if (entry.backend == Backend::host) return "a host function has no threads to order";
  return entry.backend == Backend::cuda ? "the hardware chooses the order" : "";
}
Rule rule_of_values(const Case& c) {
  return c.fill == Fill::exact && is_exactly_summable(c) ? Rule::exact : Rule::bound;
}

constexpr Difference in_other_order = {
    Fault::thread_order,
    "it depends on the order of threads: a barrier is missing, or threads write the same place"};

// The build for it computes without fusing, and slowly: so values are judged, of a third of the
// cases, where whole tiles take few steps.
bool can_be_interrupted(const Entry& entry, const Case& c) {
  const Tile& tile = entry.variant.tile;
  const double steps = static_cast<double>(round_up(c.m, tile.m)) *
                       static_cast<double>(round_up(c.n, tile.n)) *
                       static_cast<double>(round_up(c.k, tile.k));
  return entry.backend != Backend::ptx && entry.watched_launch != nullptr && c.seed % 3 == 0 &&
         steps <= 4e5 && (rule_of_values(c) == Rule::exact || why_no_bound(c).empty());
}
Verdict judge_interrupted(Entry entry, const Case& c, const Resources& resources) {
  entry.variant.launch = entry.watched_launch;
  const Rule rule = rule_of_values(c);
  Verdict verdict =
      run_trial(entry, c, {.rule = rule, .order = ThreadOrder::interrupted}, resources);
  if (verdict.status == TrialStatus::right) return verdict;
  const Verdict undisturbed =
      run_trial(entry, c, {.rule = rule, .order = ThreadOrder::forward}, resources);
  if (undisturbed.status != TrialStatus::right) return {.judged = undisturbed.judged};
  verdict.reason += ", with threads interrupted at random places";
  verdict.finding = {in_other_order.fault};
  verdict.diagnosis = in_other_order.words;
  return verdict;
}

// A variant that is not deterministic may give other bits in every order, within its bound.
Verdict judge_in_every_order(const Entry& entry, const Case& c, const Resources& resources) {
  const Rule rule = entry.variant.deterministic ? Rule::bound : rule_of_values(c);
  const std::vector<Run> runs = {
      {"with threads in ascending order", entry, c, {.rule = rule, .order = ThreadOrder::forward}},
      {"in descending order", entry, c, {.rule = rule, .order = ThreadOrder::reverse}},
      {"in random order", entry, c, {.rule = rule, .order = ThreadOrder::shuffled}}};
  Verdict verdict = compare_or_judge(runs, in_other_order, resources);
  if (verdict.status != TrialStatus::right || !can_be_interrupted(entry, c)) return verdict;
  Verdict interrupted = judge_interrupted(entry, c, resources);
  return interrupted.status == TrialStatus::right ? verdict : interrupted;
}

Case inside_bound(Case c, const Entry& entry) {
  if (entry.variant.deterministic || why_no_bound(c).empty()) return c;
  c.fill = Fill::uniform;
  if (!why_no_bound(c).empty() && c.alpha != 0) c.alpha = 1;
  if (!why_no_bound(c).empty() && c.beta != 0) c.beta = 1;
  return c;
}

// refuses what it does not accept, and touches nothing

// The ways to leave the needs of a variant, each by one of them.
std::vector<std::function<void(Case&)>> ways_outside(const Needs& needs) {
  std::vector<std::function<void(Case&)>> ways;
  const auto add = [&](bool needed, const std::function<void(Case&)>& way) {
    if (needed) ways.push_back(way);
  };
  const auto add_for_size = [&](std::int64_t Case::*size, int multiple, std::int64_t least,
                                std::int64_t most) {
    constexpr std::int64_t largest = 1 << 16;  // beside the least of the others it is soon judged
    add(multiple > 1, [=](Case& x) { x.*size += 1; });
    add(least > 0, [=](Case& x) { x.*size = least - 1; });
    add(most < largest, [=](Case& x) {
      x = fitted({.m = 1, .n = 1, .k = 1, .alpha = x.alpha, .beta = x.beta, .seed = x.seed}, needs);
      x.*size = most + 1;
    });
  };
  add_for_size(&Case::m, needs.m_multiple, needs.m_least, needs.m_most);
  add_for_size(&Case::n, needs.n_multiple, needs.n_least, needs.n_most);
  add_for_size(&Case::k, needs.k_multiple, needs.k_least, needs.k_most);
  add(needs.square, [](Case& x) { x.n += 1; });
  for (const auto& [gap, multiple] : {std::pair{&Case::lda, needs.lda_multiple},
                                      {&Case::ldb, needs.ldb_multiple},
                                      {&Case::ldc, needs.ldc_multiple}})
    add(multiple > 1, [gap](Case& x) { (x.*gap).floats += 1; });
  const std::array alignment = {needs.a_alignment, needs.b_alignment, needs.c_alignment};
  for (std::size_t i = 0; i < 3; ++i)
    add(alignment[i] > 4, [i](Case& x) { x.offset.floats[i] = x.seed % 2 == 0 ? 1 : 3; });
  add(needs.packed, [](Case& x) { x.ldc.floats += 1; });
  add(needs.int_indices && !needs.packed && needs.m_most > 1, [=](Case& x) {
    x = fitted({.m = 2, .n = 1, .k = 1, .alpha = x.alpha, .beta = x.beta, .seed = x.seed}, needs);
    x.ldc.floats += std::int64_t{1} << 31;
  });
  add(needs.alpha_one, [](Case& x) { x.alpha = 2; });
  add(needs.beta_zero, [](Case& x) { x.beta = 1; });
  return ways;
}
Case outside_needs(Case c, const Entry& entry) {
  const auto ways = ways_outside(entry.variant.needs);
  // One way more: the case stays as it is, and judge_refusal makes it malformed.
  const auto way = c.seed % (ways.size() + 1);
  if (way < ways.size()) ways[way](c);
  return c;
}
// Makes a case inside the needs malformed, and takes one outside as it is.
Verdict judge_refusal(const Entry& entry, const Case& c, const Resources& resources) {
  constexpr std::array all = {Spoil::negative_m, Spoil::negative_n, Spoil::negative_k,
                              Spoil::short_lda,  Spoil::short_ldb,  Spoil::short_ldc};
  const bool inside = fitted(c, entry.variant.needs) == c;
  Verdict verdict =
      run_trial(entry, c, {.spoil = inside ? all[c.seed % all.size()] : Spoil::none}, resources);
  const std::int64_t compared = c.m * c.n + c.m * c.k + c.k * c.n;
  if (verdict.status == TrialStatus::refused)
    return {.status = TrialStatus::right, .judged = std::max<std::int64_t>(1, compared)};
  if (verdict.status != TrialStatus::right) return verdict;
  return {.status = TrialStatus::wrong,
          .finding = {Fault::not_refused},
          .reason = inside ? "launched a malformed problem"
                           : "launched a problem that it does not accept",
          .judged = verdict.judged};
}

}  // namespace

const std::vector<Claim>& claims() {
  static const std::vector<Claim> all = [] {
    std::vector<Claim> claims = {
        {.name = "within_bound",
         .sentence = "matches the reference within the bound",
         .heading = "bound",
         .judge = by_whole_or_part({}),
         .excludes_case = why_no_bound,
         .takes_large_shapes = true,
         .takes_extreme_sizes = true,
         .on_large_paths = OnLargePaths::odd_and_round_sizes,
         .takes_crowds = true},
        {.name = "any_data",
         .sentence = "is right whatever its matrices hold",
         .heading = "data",
         .judge = by_trial({}),
         .excludes_case = why_no_bound,
         .is_about_data = true,
         .on_large_paths = OnLargePaths::round_sizes,
         .multiprocessors = of_an_rtx_pro_6000},
        {.name = "exact_integers",
         .sentence = "is exact on exact integers",
         .heading = "exact",
         .judge = by_trial({.rule = Rule::exact}),
         .excludes_variant = why_not_fp32,
         .excludes_case = why_not_exact_integers,
         .move_case = with_exact_integers,
         .takes_large_shapes = true,
         .multiprocessors = of_a_slice},
        {.name = "fma_replay",
         .sentence = "equals the fma replay to the bit",
         .heading = "bits",
         .judge = by_trial({.rule = Rule::replay}),
         .excludes_variant = why_no_fma_chain,
         .excludes_case = why_not_finite,
         .move_case = with_zeros_of_both_signs},
        {.name = "beta_zero",
         .sentence = "beta zero never reads C",
         .heading = "beta=0",
         .judge = with_a_look(Forbidden::reading_c, by_trial({})),
         .excludes_case = why_not_beta_zero,
         .move_case = with_beta_zero,
         .share_with_sight = 0.5,
         .multiprocessors = of_a_b200},
        {.name = "no_product",
         .sentence = "alpha zero or k zero never reads A or B",
         .heading = "k=0",
         .judge = by_trial({.hide_inputs = true}),
         .excludes_case = why_a_product,
         .move_case = without_product,
         .multiprocessors = of_a_3070},
        {.name = "writes_only_c",
         .sentence = "writes C and nothing else",
         .heading = "writes",
         .judge = with_a_look(Forbidden::writing_outside, by_trial({})),
         .excludes_case = why_no_bound,
         .move_case = with_gaps,
         .share_with_sight = 0.5,
         .multiprocessors = of_a_3090},
        {.name = "reads_only_operands",
         .sentence = "reads nothing outside its operands",
         .heading = "reads",
         .judge = with_a_look(Forbidden::reading_outside, judge_between_fences),
         .excludes_case = why_no_bound,
         .share_with_sight = 0.5,
         .trials = 2,
         .multiprocessors = of_two_slices},
        {.name = "thread_order",
         .sentence = "does not depend on thread order",
         .heading = "order",
         .judge = judge_in_every_order,
         .excludes_variant = why_no_thread_order,
         .move_case = inside_bound,
         .trials = 3,
         .multiprocessors = of_a_5090},
        {.name = "same_bits_twice",
         .sentence = "gives the same bits twice",
         .heading = "twice",
         .judge = judge_twice,
         .move_case = inside_bound,
         .on_large_paths = OnLargePaths::round_sizes,
         .trials = 5,
         .multiprocessors = of_four_slices},
        {.name = "refuses",
         .sentence = "refuses what it does not accept, and touches nothing",
         .heading = "refuses",
         .judge = judge_refusal,
         .move_case = outside_needs,
         .inside_needs = false},
        {.name = "wide_strides",
         .sentence = "is right when an operand spreads over 2^31 bytes and more",
         .heading = "wide",
         .judge = by_trial({}),
         .excludes_variant = why_packed,
         .excludes_case = why_not_wide,
         .move_case = with_wide_gaps,
         .multiprocessors = of_a_b200},
    };
    for (const Claim& claim : sight_claims()) claims.push_back(claim);
    for (const Claim& claim : gpu_claims()) claims.push_back(claim);
    claims.push_back(claim_about_huge_sizes());
    return claims;
  }();
  return all;
}

// Why the claim says nothing about any case that the variant accepts; empty if it does.
std::string why_no_common_case(const Claim& claim, const Entry& entry) {
  if (!claim.inside_needs) return "";
  const std::string why = claim.excludes_case(nearest_case({.m = 5, .n = 6, .k = 7}, claim, entry));
  return why.empty() ? "" : "no case that it accepts is one of these: " + why;
}

std::optional<Skip> exemption(const Claim& claim, const Entry& entry) {
  const bool on_gpu = entry.backend == Backend::cuda;
  if (claim.takes_gpu && !on_gpu) return Skip{Skip::By::claim, "it takes a GPU"};
  if (std::string why = unmet(entry.variant.needs, entry.backend); !why.empty())
    return Skip{Skip::By::machine, std::move(why)};
  if (std::string why = claim.excludes_variant(entry); !why.empty())
    return Skip{Skip::By::claim, std::move(why)};
  if (std::string why = why_no_common_case(claim, entry); !why.empty())
    return Skip{Skip::By::claim, std::move(why)};
  return std::nullopt;
}

Verdict judge(const Claim& claim, const Entry& entry, const Case& c, const Resources& resources) {
  choose_multiprocessors(claim.multiprocessors);
  Verdict verdict = claim.judge(entry, c, resources);
  if (entry.backend == Backend::ptx && is_failure(verdict))
    verdict.reason += other_multiprocessors();
  return verdict;
}

const Claim& calibration() {
  static const Claim claim = {
      .name = "calibration",
      .sentence = "the references agree with each other",
      .heading = "oracle",
      .judge = [](const Entry& entry, const Case& c, const Resources& resources) -> Verdict {
        std::string disagreement = machine_of(entry.backend, resources).disagreement(c);
        if (disagreement.empty()) return {.judged = c.m * c.n};
        return {.status = TrialStatus::wrong, .reason = std::move(disagreement)};
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
                             suggestion(name, names), joined(names)));
}

}  // namespace assay
