#include "properties/draws/structures.h"

#include <algorithm>
#include <functional>
#include <string>

#include "oracle/fills/pattern.h"
#include "properties/draws/dice.h"
#include "properties/fitting.h"
#include "properties/scopes.h"

namespace assay {
namespace {

// Of 100 drawn cases.
constexpr int times_each = 3, times_each_along_k = 4, most_times = 8;

// A seed that gives this structure to this operand, and none to the other.
std::uint64_t seed_of(Dice& dice, Pattern pattern, Operand o) {
  const Operand other = o == Operand::a ? Operand::b : Operand::a;
  while (true) {
    const auto seed = static_cast<std::uint64_t>(dice.between(0, 65535));
    if (pattern_of(seed, o) != pattern) continue;
    if (is_of_both(pattern) || pattern_of(seed, other) == Pattern::plain) return seed;
  }
}

// Larger than a symmetric corner, a period or an equal beginning, of whatever length.
Case case_with(Dice& dice, Pattern pattern, Operand o) {
  constexpr std::int64_t longest_corner = 32;
  const auto few = [&] { return dice.of<std::int64_t>({1, 3, 6, 20, 40, 72}); };
  Case c{.m = few(), .n = few(), .k = dice.between(65, 160)};
  const bool is_square = pattern == Pattern::symmetric || pattern == Pattern::symmetric_corner;
  if (is_square) c.k = (o == Operand::a ? c.m : c.n) = longest_corner + dice.between(1, 16);
  if (is_of_both(pattern)) c.m = dice.between(1, 20), c.n = dice.between(1, 20), c.k += 100;
  c.fill = Fill::patterned;
  c.alpha = scalar_for(c.fill, dice.of({1.0f, -1.0f, 2.0f, 0.5f}));
  c.beta = dice.of({0.0f, 0.0f, 1.0f, -0.5f});
  c.seed = seed_of(dice, pattern, o);
  return c;
}

}  // namespace

std::vector<Case> structured_cases(const Claim& claim, const Entry& entry, int drawn,
                                   std::uint64_t seed) {
  std::vector<Case> cases;
  if (!claim.is_about_data || entry.backend == Backend::ptx) return cases;
  Dice dice(seed + std::hash<std::string>{}(entry.variant.name));
  const auto add = [&](Pattern pattern, Operand o) {
    cases.push_back(nearest_case(case_with(dice, pattern, o), claim, entry));
  };
  for (auto p = static_cast<int>(Pattern::plain) + 1; p <= static_cast<int>(Pattern::one_sided);
       ++p) {
    const auto pattern = static_cast<Pattern>(p);
    const int times = is_of_both(pattern) ? times_each_along_k : times_each;
    for (int i = 0; i < std::min(most_times, times * drawn / 100); ++i) {
      add(pattern, Operand::a);
      if (!is_of_both(pattern)) add(pattern, Operand::b);
    }
  }
  return cases;
}

}  // namespace assay
