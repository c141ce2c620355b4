#include "properties/scopes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "oracle/operands.h"

namespace assay {

std::string why_no_bound(const Case& c) {
  if (scalar_for(c.fill, c.alpha) != c.alpha)
    return fmt::format(
        "fill={} takes alpha of 0, or a power of 2 up to 256: else a right product may {}",
        to_string(c.fill), c.fill == Fill::largest ? "overflow" : "underflow");
  if (c.fill != Fill::largest && largest_sum(c) > 0x1p126)
    return "it takes smaller alpha and beta: a right sum may overflow";
  return c.fill == Fill::exact
             ? "the error bound is for zero-mean data: fill=exact belongs to exact_integers"
             : "";
}

float scalar_for(Fill fill, float alpha) {
  if (alpha == 0) return alpha;
  if (fill != Fill::scaled && fill != Fill::patterned && fill != Fill::largest) return alpha;
  const int exponent = std::clamp(std::ilogb(alpha), fill == Fill::scaled ? 0 : -1, 8);
  return std::copysign(std::ldexp(1.0f, exponent), alpha);
}

std::string why_not_finite(const Case& c) {
  return c.fill == Fill::special ? "NaN has many bit patterns: fill=special belongs to within_bound"
                                 : "";
}
Case without_special(Case c, const Entry&) {
  if (c.fill == Fill::special) c.fill = Fill::uniform;
  return c;
}

Case with_zeros_of_both_signs(Case c, const Entry& entry) {
  c = without_special(c, entry);
  if (c.seed % 8 != 5) return c;
  c.fill = Fill::identity;
  c.k = std::min<std::int64_t>(c.k, 3);
  c.m = std::max(c.m, c.k + 1);
  c.alpha = c.alpha == 0 ? -1.0f : -std::abs(c.alpha);
  c.beta = 0;
  return c;
}

std::string why_no_fma_chain(const Entry& entry) {
  return entry.variant.order == Order::one_fma_chain
             ? ""
             : "it does not declare one in-order chain of fused multiply-adds";
}

}  // namespace assay
