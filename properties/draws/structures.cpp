#include "properties/draws/structures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>

#include "oracle/fills/filling.h"
#include "properties/draws/cost.h"
#include "properties/draws/dice.h"
#include "properties/fitting.h"
#include "properties/scopes.h"

namespace assay {
namespace {

// Of 100 drawn cases.
constexpr int times_with_zeros = 5, times_each = 3, times_along_k = 4, times_narrow = 3,
              times_at_end = 2, times_alone = 1, times_long = 2, times_with_runs = 8,
              times_of_second_kind = 2;
constexpr int most_times = 8;

// What has structure, and how it ends.
struct Structure {
  Pattern pattern;
  Operand o;
  Exception exception;
  int bits_too_many = 0;  // where it is narrow
};

// The seed of the data of a case, drawn until they are as wanted.
std::uint64_t seed_where(Dice& dice, const std::function<bool(std::uint64_t)>& is_it) {
  while (true) {
    const auto seed = static_cast<std::uint64_t>(dice.between(0, 65535));
    if (is_it(seed)) return seed;
  }
}

// A seed that gives it to its operand, and none to the other.
std::uint64_t seed_of(Dice& dice, const Structure& structure) {
  const auto& [pattern, o, exception, bits] = structure;
  const Operand other = o == Operand::a ? Operand::b : Operand::a;
  return seed_where(dice, [&](std::uint64_t seed) {
    if (pattern_of(seed, o) != pattern || exception_of(seed, o) != exception) return false;
    if (is_narrow(pattern) && bits_too_many(seed) != bits) return false;
    return is_of_both(pattern) || pattern_of(seed, other) == Pattern::plain;
  });
}

// Larger than a symmetric corner, a period or an equal beginning, of whatever length. Numbers of
// few bits are also summed so shortly that each rounding shows.
Case case_with(Dice& dice, const Structure& structure, bool is_short) {
  const auto& [pattern, o, exception, bits] = structure;
  constexpr std::int64_t longest_corner = 32;
  const auto few = [&] { return dice.of<std::int64_t>({1, 3, 6, 20, 40, 72}); };
  Case c{.m = few(), .n = few(), .k = dice.between(65, 230)};
  const bool is_square = pattern == Pattern::symmetric || pattern == Pattern::symmetric_corner ||
                         (pattern == Pattern::diagonal && !dice.one_in(4));
  if (is_square) c.k = (o == Operand::a ? c.m : c.n) = longest_corner + dice.between(1, 16);
  if (is_of_both(pattern)) c.m = dice.between(1, 20), c.n = dice.between(1, 20), c.k += 100;
  if (is_short) c.k = dice.between(2, 12);
  c.fill = Fill::patterned;
  c.alpha = scalar_for(c.fill, dice.of({1.0f, -1.0f, 2.0f, 0.5f}));
  c.beta = dice.of({0.0f, 0.0f, 1.0f, -0.5f});
  c.seed = seed_of(dice, structure);
  return c;
}

// In lines that are longer than what a list of the elements that are not 0 may hold.
Case long_case_with(Dice& dice, Pattern pattern, Operand o) {
  Case c = case_with(dice, {pattern, o, Exception::none}, false);
  c.m = std::min<std::int64_t>(c.m, 3), c.n = std::min<std::int64_t>(c.n, 3);
  c.k = dice.between(20'000, 24'000);
  return c;
}

// Infinities and NaN opposite structure without an exception, or in it.
Case special_case(Dice& dice, Pattern pattern, Operand o, bool has_values) {
  Case c = case_with(dice, {pattern, o, Exception::none}, false);
  c.fill = Fill::special;
  const auto is_it = [&] {
    const auto structure = structure_of_special(c);
    return structure && structure->of == o && structure->has_values == has_values &&
           pattern_of(c.seed, o) == pattern && exception_of(c.seed, o) == Exception::none;
  };
  while (!is_it()) c.seed = static_cast<std::uint64_t>(dice.between(0, 65535));
  return c;
}

// Of rows of A or columns of B beside each other.
std::int64_t longest_run_of_nan(const Case& c, Operand o) {
  const Filling filling(c, o);
  const std::int64_t lines = o == Operand::a ? c.m : c.n;
  std::int64_t longest = 0;
  for (std::int64_t p = 0; p < c.k; ++p)
    for (std::int64_t line = 0, run = 0; line < lines; ++line) {
      run = std::isnan(o == Operand::a ? filling.at(line, p) : filling.at(p, line)) ? run + 1 : 0;
      longest = std::max(longest, run);
    }
  return longest;
}

// All sums that a warp has of some become NaN, beside those that others have.
Case case_with_run(Dice& dice, Operand o, std::int64_t length, const Tile& tile) {
  constexpr int least = 48;
  const auto some_tiles = [&](int side) {
    side = std::max(side, least);
    return 2 * side + dice.between(1, side);
  };
  Case c{.m = some_tiles(tile.m),
         .n = some_tiles(tile.n),
         .k = dice.between(40, 80),
         .fill = Fill::special};
  const auto is_it = [&] {
    return run_of_special(c.seed) == SpecialRun{o, true} && !structure_of_special(c) &&
           longest_run_of_nan(c, o) == length;
  };
  while (!is_it()) c.seed = static_cast<std::uint64_t>(dice.between(0, 65535));
  return c;
}

// In whole tiles and slices.
Case whole_case(Dice& dice) {
  const auto few = [&] { return dice.of<std::int64_t>({40, 72}); };
  return {.m = few(), .n = few(), .k = dice.between(65, 230), .fill = Fill::patterned};
}

Case whole_case(Dice& dice, const std::function<bool(std::uint64_t)>& has_wanted_data) {
  Case c = whole_case(dice);
  c.seed = seed_where(dice, has_wanted_data);
  return c;
}

// Whole numbers that just do not fit.
Case case_at_end(Dice& dice, Pattern pattern) {
  return whole_case(dice, [&](std::uint64_t seed) {
    return pattern_of(seed, Operand::a) == pattern && touches_end(seed);
  });
}

// Numbers of few bits in one operand alone, and lines of all scales in the other, which are summed
// so shortly that what is lost of them shows.
Case case_alone(Dice& dice, Pattern pattern, Operand o, Scale scale) {
  Case c = whole_case(dice, [&](std::uint64_t seed) {
    return pattern_of(seed, o) == pattern && bits_too_many(seed) == 0 && narrow_alone(seed) == o &&
           scale_beside_narrow(seed) == scale;
  });
  c.k = dice.between(2, 12);
  return c;
}

// Of both operands, with no exception.
bool all_fit(std::uint64_t seed) {
  return bits_too_many(seed) == 0 && !touches_end(seed) && !leaves_32_bits(seed) &&
         !narrow_alone(seed) && !last_does_not_fit(seed) && !half_fits(seed);
}

// A NaN, which a greatest number may leave out, among numbers that fit: in lines that are long
// enough to be worth a look.
Case narrow_special_case(Dice& dice, Pattern pattern, Operand o) {
  Case c = whole_case(dice);
  c.n = 12;  // for which there is one of them
  c.k = dice.between(260, 600);
  c.fill = Fill::special;
  c.seed = seed_where(dice, [&](std::uint64_t seed) {
    c.seed = seed;
    const auto structure = structure_of_special(c);
    return structure && structure->of == o && pattern_of(seed, o) == pattern && all_fit(seed) &&
           longest_run_of_nan(c, o) > 0;
  });
  return c;
}

// Behind the middle of k other numbers fit than before it; with lines for several tiles.
Case case_of_halves(Dice& dice, Pattern pattern, Operand o) {
  Case c = whole_case(dice, [&](std::uint64_t seed) {
    return pattern_of(seed, o) == pattern && bits_too_many(seed) == 0 && !narrow_alone(seed) &&
           half_fits(seed) == o;
  });
  c.m = c.n = 3, c.k = dice.between(2100, 2300);
  (o == Operand::a ? c.n : c.m) = 140;
  return c;
}

// Which tensor cores multiply without an error, while they cut the sums.
Case case_of_one_sign(Dice& dice) {
  Case c = whole_case(dice, [](std::uint64_t seed) {
    return pattern_of(seed, Operand::a) == Pattern::tf32 && all_fit(seed) && has_one_sign(seed);
  });
  c.m = dice.between(1, 3), c.n = dice.between(1, 3), c.k = dice.between(2500, 3500);
  return c;
}

// With exponents that types of 16 bits have no room for.
Case case_from_afar(Dice& dice, Pattern pattern, bool is_tiny) {
  return whole_case(dice, [&](std::uint64_t seed) {
    const int exponent = narrow_exponent(seed);
    return pattern_of(seed, Operand::a) == pattern && all_fit(seed) && exponent != 0 &&
           (exponent < 0) == is_tiny;
  });
}

// The identity as far as its first corner and its last element say, and no further.
Case case_of_near_identity(Dice& dice, Operand o, Exception exception) {
  constexpr std::int64_t corner = 4;
  const std::int64_t side = dice.between(33, 48), other = dice.between(1, 40);
  Case c{.m = other, .n = other, .k = side, .fill = Fill::patterned};
  (o == Operand::a ? c.m : c.n) = side;
  const auto has_ones = [&](const Filling& filling, std::int64_t from, std::int64_t end) {
    for (std::int64_t i = from; i < end; ++i)
      for (std::int64_t j = from; j < end; ++j)
        if (filling.at(i, j) != static_cast<float>(i == j)) return false;
    return true;
  };
  c.seed = seed_where(dice, [&](std::uint64_t seed) {
    if (pattern_of(seed, o) != Pattern::diagonal || exception_of(seed, o) != exception)
      return false;
    c.seed = seed;
    const Filling filling(c, o);
    return has_ones(filling, 0, corner) && has_ones(filling, side - 1, side) &&
           !has_ones(filling, 0, side);
  });
  return c;
}

// In whose length no group of elements fits that a look may take at once.
Case case_but_for_the_last(Dice& dice, Pattern pattern, Operand o) {
  Case c = whole_case(dice, [&](std::uint64_t seed) {
    return pattern_of(seed, o) == pattern && bits_too_many(seed) == 0 && !narrow_alone(seed) &&
           last_does_not_fit(seed) == o;
  });
  c.k |= 1;
  if (is_of_second_kind(c.seed)) c.m |= 1, c.n |= 1;
  return c;
}

// Skew-symmetric, equal along the other diagonals, with a B that is A's transpose, and the like.
Case case_of_second_kind(Dice& dice, Pattern pattern, Operand o) {
  Case c = whole_case(dice, [&](std::uint64_t seed) {
    return pattern_of(seed, o) == pattern && exception_of(seed, o) == Exception::none &&
           is_of_second_kind(seed);
  });
  if (pattern == Pattern::one_sided) c.m = c.n = 72;
  if (pattern == Pattern::symmetric || pattern == Pattern::symmetric_corner ||
      pattern == Pattern::triangular || pattern == Pattern::diagonal)
    c.k = o == Operand::a ? c.m : c.n;
  c.beta = dice.of({0.0f, 0.5f});
  return c;
}

// What a look at the data may take for numbers of a type of fewer bits.
std::vector<Case> narrow_cases(Dice& dice) {
  std::vector<Case> cases = {case_of_one_sign(dice)};
  for (const Pattern pattern :
       {Pattern::signs, Pattern::bytes, Pattern::words_of_16_bits, Pattern::bfloat16, Pattern::tf32,
        Pattern::four_bits, Pattern::powers_of_two})
    for (const Operand o : {Operand::a, Operand::b})
      cases.push_back(narrow_special_case(dice, pattern, o));
  for (const Pattern pattern : {Pattern::bfloat16, Pattern::tf32}) {
    for (const Operand o : {Operand::a, Operand::b})
      cases.push_back(case_of_halves(dice, pattern, o));
    for (const bool is_tiny : {false, true})
      cases.push_back(case_from_afar(dice, pattern, is_tiny));
  }
  return cases;
}

}  // namespace

std::vector<Case> structured_cases(const Claim& claim, const Entry& entry, int drawn,
                                   std::uint64_t seed, const Effort& effort) {
  std::vector<Case> cases;
  if (!claim.is_about_data || entry.is_on_ptx_too) return cases;
  Dice dice(seed + std::hash<std::string>{}(entry.variant.name));
  const auto add = [&](const Structure& structure, bool is_short) {
    cases.push_back(nearest_case(case_with(dice, structure, is_short), claim, entry));
  };
  const auto is_affordable = [&](const Case& c, double most_nanoseconds) {
    return cost_of(c, claim, entry, effort) < most_nanoseconds;
  };
  const auto add_long = [&](Pattern pattern, Operand o) {
    const Case c = nearest_case(long_case_with(dice, pattern, o), claim, entry);
    if (is_affordable(c, 5e7)) cases.push_back(c);
  };
  constexpr std::array exceptions = {
      Exception::none, Exception::element, Exception::other_line, Exception::filled_line,
      Exception::rest, Exception::slight,  Exception::pair};
  for (auto p = static_cast<int>(Pattern::plain) + 1; p <= static_cast<int>(Pattern::one_sided);
       ++p) {
    const auto pattern = static_cast<Pattern>(p);
    const int usual = is_narrow(pattern)    ? times_narrow
                      : is_of_both(pattern) ? times_along_k
                      : has_zeros(pattern)  ? times_with_zeros
                                            : times_each;
    const int times = std::min(most_times, usual * drawn / 100);
    if (is_of_both(pattern)) {
      for (int i = 0; i < times; ++i)
        add({pattern, Operand::a, Exception::none, i % 3}, is_narrow(pattern) && i % 2 == 0);
      const bool is_whole = pattern == Pattern::bytes || pattern == Pattern::words_of_16_bits;
      for (int i = 0; is_whole && i < std::min(times, times_at_end); ++i)
        cases.push_back(nearest_case(case_at_end(dice, pattern), claim, entry));
      for (int i = 0; is_narrow(pattern) && i < std::min(times, times_alone); ++i)
        for (const Operand o : {Operand::a, Operand::b}) {
          cases.push_back(nearest_case(case_but_for_the_last(dice, pattern, o), claim, entry));
          for (const Scale scale : {Scale::ordinary, Scale::tiny, Scale::large})
            cases.push_back(nearest_case(case_alone(dice, pattern, o, scale), claim, entry));
        }
      continue;
    }
    for (const Operand o : {Operand::a, Operand::b}) {
      const auto first = static_cast<std::size_t>(dice.between(0, exceptions.size() - 1));
      for (std::size_t i = first; i < first + static_cast<std::size_t>(times); ++i)
        add({pattern, o, exceptions[i % exceptions.size()]}, false);
      const int kinds = pattern == Pattern::sparse ? 3 : pattern == Pattern::pruned ? 2 : 1;
      const int of_long = kinds * times_long;
      for (int i = 0; has_zeros(pattern) && i < std::min(times, of_long); ++i) add_long(pattern, o);
      for (const bool has_values : {false, true})
        if (times > 1 && pattern != Pattern::counting)
          cases.push_back(nearest_case(special_case(dice, pattern, o, has_values), claim, entry));
    }
  }
  constexpr std::pair<Operand, int> runs[] = {
      {Operand::a, 64}, {Operand::b, 64}, {Operand::a, 32}, {Operand::b, 32}};
  for (int i = 0; i < std::min(most_times, times_with_runs * drawn / 100); ++i) {
    const auto& [o, length] = runs[i % std::ssize(runs)];
    cases.push_back(nearest_case(case_with_run(dice, o, length, entry.variant.tile), claim, entry));
  }
  for (const Pattern pattern : {Pattern::symmetric, Pattern::symmetric_corner, Pattern::toeplitz,
                                Pattern::one_sided, Pattern::triangular, Pattern::diagonal,
                                Pattern::equal_lines, Pattern::sparse, Pattern::pruned})
    for (const Operand o : {Operand::a, Operand::b})
      for (int i = 0; i < std::min(most_times, times_of_second_kind * drawn / 100); ++i)
        cases.push_back(nearest_case(case_of_second_kind(dice, pattern, o), claim, entry));
  for (const Operand o : {Operand::a, Operand::b})
    for (const Exception exception : {Exception::element, Exception::filled_line, Exception::pair})
      cases.push_back(nearest_case(case_of_near_identity(dice, o, exception), claim, entry));
  for (const Case& c : narrow_cases(dice))
    if (const Case it = nearest_case(c, claim, entry); is_affordable(it, 2e8)) cases.push_back(it);
  return cases;
}

}  // namespace assay
