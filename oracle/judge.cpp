#include "oracle/judge.h"

#include <bit>
#include <cmath>
#include <limits>

namespace assay {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

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

Judgement judge_bound(const Image& c, const Reference& reference, double allowed) {
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
  return judge(c, reference, [&](const Element& e, std::size_t at) {
    // The zeros that fill up a tile make +0 of a sum that underflowed to -0.
    if (e.got == 0 && wanted[at] == 0 && e.wanted != 0) return true;
    return std::bit_cast<std::uint32_t>(e.got) == std::bit_cast<std::uint32_t>(wanted[at]);
  });
}

}  // namespace assay
