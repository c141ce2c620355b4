#include "oracle/judge.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace assay {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest_float = std::numeric_limits<float>::max();

// Beyond what underflow may do. 0 where both agree (NaN with NaN, an infinity with itself),
// infinite where no number says how far they are apart.
double error_gulps(float got, double wanted, const Reference& reference, std::size_t at) {
  if (std::isnan(wanted) && std::isnan(got)) return 0;
  const auto nearest = static_cast<float>(wanted);
  if (double{got} == wanted || (std::isinf(got) && got == nearest)) return 0;
  const double error = std::abs(got - wanted);
  if (error <= reference.underflow && !std::isinf(nearest)) return 0;
  const double gulps = (error - reference.underflow) / (unit_roundoff * reference.gauge[at]);
  return std::isnan(gulps) ? infinity : gulps;
}

template <class IsRight>
Judgement judge(const Image& c, const Reference& reference, const IsRight& is_right) {
  Judgement judgement;
  for (std::int64_t i = 0; i < reference.m; ++i) {
    for (std::int64_t j = 0; j < reference.n; ++j) {
      const auto at = static_cast<std::size_t>(i * reference.n + j);
      const Element element{i, j, c.row(i)[j], reference.c[at],
                            error_gulps(c.row(i)[j], reference.c[at], reference, at)};
      const bool right = is_right(element, at);
      const bool first_wrong = !right && judgement.wrong == 0;
      if (!right) {
        if (judgement.wrong++ == 0) judgement.wrong_mask.resize(reference.c.size());
        judgement.wrong_mask[at] = 1;
      }
      const bool comparable =
          right == (judgement.wrong == 0);  // once something is wrong, only wrong ones count
      if (first_wrong || judgement.judged == 0 ||
          (comparable && element.error_gulps > judgement.worst.error_gulps)) {
        judgement.worst = element;
      }
      ++judgement.judged;
    }
  }
  return judgement;
}

}  // namespace

// Without branches, so that the compiler can have several elements judged at a time; numbers that
// are not negative have the order of their bits.
std::optional<Judgement> clearly_right(const Image& c, const Reference& reference, double allowed) {
  if (reference.m == 0 || reference.n == 0) return std::nullopt;
  std::vector<std::int64_t> gulps(static_cast<std::size_t>(reference.n));
  Judgement judgement{.judged = reference.m * reference.n};
  std::int64_t worst = -1;
  for (std::int64_t i = 0; i < reference.m; ++i) {
    const float* const got = c.row(reference.first_row + i);
    const double* const wanted = reference.c.data() + i * reference.n;
    const double* const gauge = reference.gauge.data() + i * reference.n;
    std::int64_t worst_of_row = 0;
    for (std::int64_t j = 0; j < reference.n; ++j) {
      const double error = std::abs(got[j] - wanted[j]);
      const double beyond = (error - reference.underflow) / (unit_roundoff * gauge[j]);
      const double counted = error <= reference.underflow ? 0 : beyond;
      const bool is_clear = (std::abs(wanted[j]) <= largest_float) & (counted <= allowed);
      const auto bits = std::bit_cast<std::int64_t>(is_clear ? counted : infinity);
      gulps[static_cast<std::size_t>(j)] = bits;
      worst_of_row = std::max(worst_of_row, bits);
    }
    if (worst_of_row == std::bit_cast<std::int64_t>(infinity)) return std::nullopt;
    if (worst_of_row <= worst) continue;
    worst = worst_of_row;
    const auto j = std::find(gulps.begin(), gulps.end(), worst) - gulps.begin();
    judgement.worst = {reference.first_row + i, j, got[j], wanted[j], std::bit_cast<double>(worst)};
  }
  return judgement;
}

Judgement judge_bound(const Image& c, const Reference& reference, double allowed) {
  if (std::optional<Judgement> clear = clearly_right(c, reference, allowed)) return *clear;
  return judge(c, reference, [&](const Element& e, std::size_t) {
    if (std::isnan(e.got) || std::isnan(e.wanted)) return std::isnan(e.got) == std::isnan(e.wanted);
    const auto nearest = static_cast<float>(e.wanted);
    if (std::isinf(nearest)) return e.got == nearest;
    return e.error_gulps <= allowed;
  });
}

Judgement judge_exact(const Image& c, const Reference& reference) {
  return judge(c, reference,
               [](const Element& e, std::size_t) { return double{e.got} == e.wanted; });
}

Judgement judge_bits(const Image& c, const Reference& reference, const std::vector<float>& wanted) {
  constexpr double whole = 0x1p-90;  // far more than products that denormals cut
  return judge(c, reference, [&](const Element& e, std::size_t at) {
    // The zeros that fill up a tile make +0 of a sum that underflowed to -0, also where the exact
    // sum is 0.
    const double gauge = reference.gauge[at];
    const bool may_underflow = e.wanted != 0 || (gauge > 0 && gauge < whole);
    if (e.got == 0 && wanted[at] == 0 && may_underflow) return true;
    return std::bit_cast<std::uint32_t>(e.got) == std::bit_cast<std::uint32_t>(wanted[at]);
  });
}

}  // namespace assay
