#include "properties/fitting.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace assay {

namespace {

// The multiples that sizes must have. Where matrices are packed, a distance is the length of a row.
struct Multiples {
  std::int64_t m, n, k;
};
Multiples multiples_of(const Needs& needs) {
  Multiples of{needs.m_multiple, needs.n_multiple, needs.k_multiple};
  if (needs.packed) {
    of.n = std::lcm(of.n, std::lcm<std::int64_t>(needs.ldb_multiple, needs.ldc_multiple));
    of.k = std::lcm<std::int64_t>(of.k, needs.lda_multiple);
  }
  return of;
}

// The next multiple, or the last one that is no more than `most`.
std::int64_t fitted_size(std::int64_t size, std::int64_t of, std::int64_t least,
                         std::int64_t most) {
  const std::int64_t at_least = std::max(size, least);
  return at_least > most - of ? std::min(most / of * of, (at_least + of - 1) / of * of)
                              : (at_least + of - 1) / of * of;
}

void fit_sizes(Case& c, const Needs& needs) {
  const auto [m, n, k] = multiples_of(needs);
  if (!needs.square) {
    c.m = fitted_size(c.m, m, needs.m_least, needs.m_most);
    c.n = fitted_size(c.n, n, needs.n_least, needs.n_most);
    c.k = fitted_size(c.k, k, needs.k_least, needs.k_most);
    return;
  }
  const std::int64_t middle = std::max(std::min(c.m, c.n), std::min(std::max(c.m, c.n), c.k));
  c.m = c.n = c.k = fitted_size(middle, std::lcm(m, std::lcm(n, k)),
                                std::max({needs.m_least, needs.n_least, needs.k_least}),
                                std::min({needs.m_most, needs.n_most, needs.k_most}));
}

void fit_gaps(Case& c, const Needs& needs) {
  const auto fit = [&](Gap& gap, std::int64_t rows, std::int64_t row, int multiple) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const bool too_wide = needs.int_indices && rows > 1 && (row + gap.floats) > most / rows;
    const std::int64_t wanted = needs.packed || too_wide ? 0 : gap.floats;
    gap.floats = needs.packed ? 0 : round_up(row + wanted, multiple) - row;
  };
  fit(c.lda, c.m, c.k, needs.lda_multiple);
  fit(c.ldb, c.k, c.n, needs.ldb_multiple);
  fit(c.ldc, c.m, c.n, needs.ldc_multiple);
}

}  // namespace

std::int64_t round_up(std::int64_t value, int to) { return (value + to - 1) / to * to; }

Case fitted(Case c, const Needs& needs) {
  fit_sizes(c, needs);
  fit_gaps(c, needs);
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
  const bool has_own_rules = c.fill == Fill::exact || c.fill == Fill::scaled ||
                             c.fill == Fill::largest || c.fill == Fill::patterned;
  if (!claim.excludes_case(result).empty() && has_own_rules) {
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
