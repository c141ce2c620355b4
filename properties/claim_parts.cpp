#include "properties/claim_parts.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

namespace assay {

Verdict judge_plan(const Entry& entry, const Case& c, Plan plan, int workers) {
  plan.workers = workers;
  return run_trial(entry, c, plan);
}

std::string unless_bound_holds(const Case& c) {
  constexpr float largest = 0x1p64f;
  if (std::abs(c.alpha) > largest || std::abs(c.beta) > largest)
    return "it takes alpha and beta of at most 2^64: with larger ones a right sum may overflow";
  return c.fill == Fill::exact
             ? "the error bound is for zero-mean data: fill=exact belongs to exact_integers"
             : "";
}
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

Verdict compare_outputs(const Case& c, const NamedOutput& first, const NamedOutput& second) {
  const auto judged = static_cast<std::int64_t>(first.output.size());
  for (std::size_t i = 0; i < first.output.size(); ++i) {
    const float x = first.output[i], y = second.output[i];
    const bool both_nan = std::isnan(x) && std::isnan(y);  // which NaN is nobody's promise
    if (both_nan || std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y)) continue;
    const auto at = static_cast<std::int64_t>(i);
    return {.status = Status::wrong,
            .reason = fmt::format("row {}, column {} is {:.9g} {} and {:.9g} {}", at / c.n,
                                  at % c.n, x, first.name, y, second.name),
            .judged = judged};
  }
  return {.judged = judged};
}

bool has_output(const Verdict& verdict, const Output& output) {
  return verdict.status == Status::right || (verdict.status == Status::wrong && !output.empty());
}

}  // namespace assay
