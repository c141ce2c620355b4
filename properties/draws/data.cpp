#include "properties/draws/data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

#include "oracle/fills/filling.h"
#include "oracle/fills/magnitude.h"
#include "oracle/fills/pattern.h"
#include "oracle/reference.h"
#include "properties/draws/layout.h"
#include "properties/draws/scalars.h"
#include "properties/fitting.h"
#include "properties/scopes.h"

namespace assay {
namespace {

std::uint64_t any_seed(Dice& dice) { return static_cast<std::uint64_t>(dice.between(0, 65535)); }

template <class Is>
std::uint64_t seed_that(Dice& dice, Is is) {
  std::uint64_t seed = any_seed(dice);
  while (!is(seed)) seed = any_seed(dice);
  return seed;
}

Case small_case(Dice& dice) {
  const auto side = [&] { return dice.between(1, dice.one_in(3) ? 4 : 70); };
  return {.m = side(), .n = side(), .k = dice.between(1, 70)};
}
Case long_case(Dice& dice, const std::vector<std::int64_t>& long_k) {
  const bool takes_hint = !long_k.empty() && dice.one_in(2);
  const std::int64_t k =
      takes_hint ? dice.of(long_k) + dice.between(0, 1) : dice.between(1024, 2200);
  return {.m = dice.between(3, 8), .n = dice.between(3, 8), .k = k};
}

// Short ones come with `structured_cases`, which also have all that is narrow: its long sums show
// no more.
void add_long_patterns(std::vector<Case>& cases, Dice& dice,
                       const std::vector<std::int64_t>& long_k) {
  const auto add = [&](Pattern pattern, Operand o) {
    Case c = long_case(dice, long_k);
    c.fill = Fill::patterned;
    c.seed = seed_that(dice, [&](std::uint64_t seed) { return pattern_of(seed, o) == pattern; });
    std::tie(c.alpha, c.beta) = draw_scalars(dice, {});
    if (dice.one_in(2)) c.beta = 0;  // which hides nothing
    cases.push_back(c);
  };
  constexpr auto first = static_cast<int>(Pattern::plain) + 1,
                 last = static_cast<int>(Pattern::one_sided);
  for (int i = first; i <= last; ++i) {
    const auto pattern = static_cast<Pattern>(i);
    if (is_narrow(pattern)) continue;
    add(pattern, dice.of({Operand::a, Operand::b}));
    if (is_of_both(pattern)) add(pattern, Operand::a);
  }
}

// What a kernel concludes from the first elements of long lines need not hold for the rest: lines
// that are alike up to where it may have looked, and not at the end.
void add_long_rests(std::vector<Case>& cases, Dice& dice, const std::vector<std::int64_t>& long_k) {
  const auto add = [&](Operand o, std::int64_t looked_at) {
    Case c = long_case(dice, long_k);
    c.k = looked_at + looked_at / 8 + dice.between(8, 64);
    c.fill = Fill::patterned;
    const auto are_alike = [&](std::int64_t p) {
      return o == Operand::a ? fill_element(c, o, 0, p) == fill_element(c, o, 1, p)
                             : fill_element(c, o, p, 0) == fill_element(c, o, p, 1);
    };
    c.seed = seed_that(dice, [&](std::uint64_t seed) {
      c.seed = seed;
      return pattern_of(seed, o) == Pattern::equal_lines &&
             exception_of(seed, o) == Exception::rest && are_alike(looked_at) &&
             !are_alike(c.k - 1);
    });
    cases.push_back(c);
  };
  for (const Operand o : {Operand::a, Operand::b}) {
    add(o, dice.between(1024, 2200));
    if (!long_k.empty()) add(o, dice.of(long_k));
  }
}

// Many special values in a tile, in one line or in several.
void add_masked(std::vector<Case>& cases, Dice& dice) {
  for (const Operand of : {Operand::a, Operand::b}) {
    for (const bool is_across : {false, true}) {
      Case c{.m = dice.between(16, 40), .n = dice.between(16, 40), .k = dice.between(16, 70)};
      c.fill = Fill::special;
      c.seed = seed_that(dice, [&](std::uint64_t seed) {
        return run_of_special(seed) == SpecialRun{of, is_across};
      });
      cases.push_back(c);
    }
  }
}

// All of it, but for zeros.
bool is_denormal(const Case& c, Operand o) {
  const auto [rows, columns] = o == Operand::a ? std::pair(c.m, c.k) : std::pair(c.k, c.n);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      if (std::abs(fill_element(c, o, i, j)) >= std::numeric_limits<float>::min()) return false;
  return true;
}

// Which an arithmetic that drops the last bits of its factors keeps as well.
void add_balanced(std::vector<Case>& cases, Dice& dice) {
  for (const auto& [alpha, beta] : all_extreme_scalars(dice)) {
    Case c = small_case(dice);
    c.fill = Fill::balanced, c.alpha = alpha, c.beta = beta, c.seed = any_seed(dice);
    cases.push_back(c);
  }
}

// Which numbers of fewer bits have as well.
void add_scales(std::vector<Case>& cases, Dice& dice) {
  constexpr int scaled = 4;
  for (int i = 0; i < scaled; ++i) {
    Case c = small_case(dice);
    c.fill = Fill::scaled, c.beta = i % 2 == 0 ? 0.0f : 1.0f;
    c.seed = seed_that(dice, [](std::uint64_t seed) { return !scales_to_denormals(seed); });
    cases.push_back(c);
  }
}

void add_magnitudes(std::vector<Case>& cases, Dice& dice) {
  const auto add = [&](Fill fill, float alpha, float beta) {
    Case c = small_case(dice);
    c.fill = fill, c.alpha = alpha, c.beta = beta, c.seed = any_seed(dice);
    cases.push_back(c);
  };
  constexpr int scaled = 3;
  for (int i = 0; i < scaled; ++i) add(Fill::scaled, 1, i % 2 == 0 ? 0.0f : 1.0f);
  // Ordinary sums whose results are denormal: so little that what is rounded in a product with
  // alpha is as little.
  constexpr float least = std::numeric_limits<float>::min();
  add(Fill::uniform, least, 0);
  add(Fill::uniform, -least, least);
  for (const Operand o : {Operand::a, Operand::b}) {
    add(Fill::scaled, 1, 0);
    Case& c = cases.back();
    (o == Operand::a ? c.m : c.n) = 1;
    c.seed = seed_that(dice, [&](std::uint64_t seed) {
      c.seed = seed;
      return is_denormal(c, o) && (o == Operand::a || scales_powers_of_2(seed));
    });
  }
  const auto add_largest = [&](LargestIn where, float alpha, float beta) {
    add(Fill::largest, alpha, beta);
    cases.back().seed =
        seed_that(dice, [&](std::uint64_t seed) { return largest_in(seed, alpha) == where; });
  };
  for (const auto where : {LargestIn::a, LargestIn::b, LargestIn::product, LargestIn::c}) {
    for (const float beta : {0.0f, 1.0f}) add_largest(where, 1, beta);
  }
  for (const float alpha : {0.5f, -0.5f}) {
    for (const float beta : {0.5f, -0.5f}) add_largest(LargestIn::terms, alpha, beta);
  }
  // Finite sums whose results are infinite.
  for (const float alpha : {2.0f, 64.0f, -8.0f}) add_largest(LargestIn::product, alpha, 0);
}

// Zeros of A, or of B, in whole slices, which meet the special values of the other one: a slice of
// zeros might be left out.
void add_slices_of_zeros(std::vector<Case>& cases, Dice& dice,
                         const std::vector<std::int64_t>& distances) {
  constexpr std::int64_t two_slices = 64;
  for (const Operand o : {Operand::a, Operand::a, Operand::b, Operand::b}) {
    Case c = small_case(dice);
    c.k = dice.between(100, 200);
    c.fill = Fill::special;
    draw_layout(dice, c, distances);
    c.seed = seed_that(dice, [&](std::uint64_t seed) {
      c.seed = seed;
      const auto zeros = zeros_at_the_end(c);
      return zeros && zeros->of == o && zeros->from <= c.k - two_slices;
    });
    cases.push_back(c);
  }
}

}  // namespace

Case with_zeros_of(Operand o, Case c) {
  constexpr std::int64_t two_slices = 64;
  const std::int64_t last = std::max<std::int64_t>(1, c.k - two_slices);
  c.fill = Fill::special;
  const auto are_right = [&](const auto& zeros) {
    return zeros && zeros->of == o && zeros->from <= last;
  };
  for (int tries = 0; !are_right(zeros_at_the_end(c)) && tries < 1000; ++tries) ++c.seed;
  return c;
}

Case with_opposite_slopes(Case c) {
  c.fill = Fill::patterned;
  c.alpha = scalar_for(c.fill, c.alpha);
  while (pattern_of(c.seed, Operand::a) != Pattern::opposite_slopes) ++c.seed;
  return c;
}

namespace {

// Where allocations begin, at every remainder of k.
void add_tidy(std::vector<Case>& cases, Dice& dice) {
  for (std::int64_t remainder = 0; remainder < 8; ++remainder) {
    Case c = small_case(dice);
    make_tidy(dice, c);
    const std::int64_t distance = c.k + c.lda.floats;
    c.k = round_up(c.k, 8) + remainder;
    c.lda.floats = round_up(std::max(distance, c.k), 32) - c.k;
    c.seed = any_seed(dice) / 2 * 2;
    cases.push_back(c);
  }
}

// Whole tiles of any kernel's, and many slices: what a path for those makes of data, odd sizes do
// not show.
void make_whole(Dice& dice, Case& c) {
  constexpr std::int64_t tile = 16, slice = 32, least_k = 256;
  c.m = tile * dice.between(1, 4), c.n = tile * dice.between(1, 4);
  c.k = least_k + slice * dice.between(0, 4);
}

}  // namespace

Fill draw_fill(Dice& dice, Arithmetic arithmetic) {
  const std::int64_t way = dice.between(1, 40);
  const bool any = keeps_inputs(arithmetic);
  if (way <= 10) return Fill::uniform;
  if (way <= 16) return Fill::scaled;
  if (way <= 20) return Fill::balanced;
  if (way <= 22) return any ? Fill::largest : Fill::uniform;
  if (way <= 32) return Fill::patterned;
  return dice.of({Fill::small_ints, Fill::small_ints, Fill::identity, Fill::one_hot, Fill::special,
                  Fill::special});
}

void make_square(Dice& dice, Case& c) {
  constexpr std::int64_t least = 2, most = 300;
  std::int64_t& other = dice.one_in(2) ? c.m : c.n;
  const std::int64_t side = std::min(other, c.k);
  if (side < least || side > most) return;
  other = c.k = side;
  if (dice.one_in(3)) c.m = c.n = side;
}

void spare_denormals(Case& c, const Entry& entry) {
  constexpr double few_products = 1 << 20;
  const bool is_slow = entry.backend == Backend::simt || entry.backend == Backend::host;
  const bool takes_long = is_slow && c.multiply_adds() > few_products;
  if (c.fill != Fill::scaled || (keeps_inputs(entry.variant.arithmetic) && !takes_long)) return;
  while (scales_to_denormals(c.seed)) ++c.seed;
}

std::vector<Case> cases_of_all_data(Dice& dice, Arithmetic arithmetic,
                                    const std::vector<std::int64_t>& long_k,
                                    const std::vector<std::int64_t>& distances) {
  std::vector<Case> cases;
  add_long_patterns(cases, dice, long_k);
  add_long_rests(cases, dice, long_k);
  add_balanced(cases, dice);
  if (keeps_inputs(arithmetic))
    add_magnitudes(cases, dice);
  else
    add_scales(cases, dice);
  add_masked(cases, dice);
  constexpr std::size_t one_whole_in = 4;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Case& c = cases[i];
    c.alpha = scalar_for(c.fill, c.alpha);
    draw_layout(dice, c, distances);
    const bool is_line = c.m == 1 || c.n == 1;
    if (c.fill == Fill::patterned || is_line || i % one_whole_in != 0) continue;
    make_whole(dice, c);
    if (dice.one_in(2)) c.lda = c.ldb = c.ldc = {}, c.offset = {};
  }
  add_slices_of_zeros(cases, dice, distances);
  add_tidy(cases, dice);
  return cases;
}

}  // namespace assay
