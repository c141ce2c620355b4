#include "properties/fitting.h"

#include <array>
#include <numeric>

namespace assay {

std::int64_t round_up(std::int64_t value, int to) { return (value + to - 1) / to * to; }

Case fitted(Case c, const Needs& needs) {
  const bool packed = needs.packed;  // then a distance between rows is the length of a row
  c.m = round_up(c.m, needs.m_multiple);
  c.n = round_up(
      c.n, packed ? std::lcm(needs.n_multiple, std::lcm(needs.ldb_multiple, needs.ldc_multiple))
                  : needs.n_multiple);
  c.k = round_up(c.k, packed ? std::lcm(needs.k_multiple, needs.lda_multiple) : needs.k_multiple);
  const auto fit_gap = [&](Gap& gap, std::int64_t row, int multiple) {
    gap.floats = needs.packed ? 0 : round_up(row + gap.floats, multiple) - row;
  };
  fit_gap(c.lda, c.k, needs.lda_multiple);
  fit_gap(c.ldb, c.n, needs.ldb_multiple);
  fit_gap(c.ldc, c.n, needs.ldc_multiple);
  const std::array alignment = {needs.a_alignment, needs.b_alignment, needs.c_alignment};
  for (std::size_t i = 0; i < 3; ++i) {
    int& floats = c.offset.floats[i];
    floats -= floats % (alignment[i] / static_cast<int>(sizeof(float)));
  }
  if (needs.alpha_one) c.alpha = 1;
  if (needs.beta_zero) c.beta = 0;
  return c;
}

Case nearest_case(const Case& given, const Claim& claim, const Entry& entry) {
  const Needs& needs = entry.variant.needs;
  const auto moved = [&](const Case& c) {
    const Case result = claim.move_case(fitted(c, needs), entry);
    return claim.inside_needs ? fitted(result, needs) : result;
  };
  Case c = given, result = moved(c);
  // Where the claim excludes a fill or a size: another fill, then less and less.
  if (!claim.excludes_case(result).empty() && c.fill == Fill::exact) {
    c.fill = Fill::uniform;
    result = moved(c);
  }
  while (!claim.excludes_case(result).empty() && c.k > 1) {
    c.k /= 2;
    result = moved(c);
  }
  return result;
}

}  // namespace assay
