#include "oracle/fills/pattern.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace assay {
namespace {

// Far enough below another product to leave it as it is.
constexpr int out_of_sight = 40;

// A quarter, a half, three quarters or 1, of either sign: sums of products of these are exact up to
// k = 2^20.
float short_number(std::uint64_t random) {
  return sign(random) * static_cast<float>(1 + random % 4) / 4;
}

// Between a half and 1, of either sign.
float ordinary(std::uint64_t random) { return sign(random) * (1 + std::abs(uniform(random))) / 2; }

// `more_bits` than the type has that all of these fit otherwise. 128 and -128 are such that only
// one of them fits.
float narrow_number(std::uint64_t random, Pattern pattern, int more_bits, bool touches_end) {
  const auto whole = [&](int bits) {
    if (touches_end && scramble(random) % 16 == 0) return std::ldexp(sign(random), bits - 1);
    return static_cast<float>(static_cast<std::int64_t>(random) >> (64 - bits - more_bits));
  };
  const auto cut = [&](std::uint32_t lost) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(ordinary(random)) &
                                ~(lost >> more_bits));
  };
  switch (pattern) {
    case Pattern::signs: return sign(random);
    case Pattern::four_bits: return static_cast<float>(8 + random % 8);
    case Pattern::bytes: return whole(8);
    case Pattern::words_of_16_bits: return whole(16);
    case Pattern::bfloat16: return cut(0xffffu);
    case Pattern::tf32: return cut(0x1fffu);
    default: return std::ldexp(sign(random), static_cast<int>(random % 17) - 8);
  }
}

std::int64_t bits_of(std::int64_t k) { return std::bit_width(static_cast<std::uint64_t>(k)); }

// Where a block begins or ends: a half, a multiple of 32 or 16, a few before the end, anywhere.
std::int64_t cut(Choices& choices, std::int64_t size) {
  switch (choices.below(5)) {
    case 0: return size / 2;
    case 1: return size / 2 / 32 * 32;
    case 2: return choices.from(0, size) / 16 * 16;
    case 3: return std::max<std::int64_t>(0, size - choices.from(1, 8));
    default: return choices.from(0, size);
  }
}

}  // namespace

bool is_of_both(Pattern pattern) { return pattern >= Pattern::opposite_slopes; }
bool is_narrow(Pattern pattern) {
  return pattern >= Pattern::signs && pattern <= Pattern::powers_of_two;
}
bool has_zeros(Pattern pattern) {
  switch (pattern) {
    case Pattern::zero_block:
    case Pattern::lone_in_tiles:
    case Pattern::triangular:
    case Pattern::banded:
    case Pattern::diagonal:
    case Pattern::permutation:
    case Pattern::sparse:
    case Pattern::seams:
    case Pattern::pruned: return true;
    default: return false;
  }
}

Pattern pattern_of(std::uint64_t seed, Operand o) {
  Choices choices(seed ^ 0x7061747465726e73u);
  if (choices.below(5) < 2) {
    constexpr Pattern of_both[] = {Pattern::opposite_slopes,
                                   Pattern::parallel_slopes,
                                   Pattern::opposite_levels,
                                   Pattern::levels,
                                   Pattern::dominated,
                                   Pattern::signs,
                                   Pattern::four_bits,
                                   Pattern::bytes,
                                   Pattern::words_of_16_bits,
                                   Pattern::bfloat16,
                                   Pattern::tf32,
                                   Pattern::powers_of_two,
                                   Pattern::one_sided};
    const Pattern pattern = choices.of(of_both);
    return o == Operand::c && pattern != Pattern::one_sided ? Pattern::plain : pattern;
  }
  constexpr Pattern of_one[] = {
      Pattern::zero_block,       Pattern::zero_block,    Pattern::zero_block,
      Pattern::lone_in_tiles,    Pattern::lone_in_tiles, Pattern::equal_beginnings,
      Pattern::equal_beginnings, Pattern::symmetric,     Pattern::symmetric_corner,
      Pattern::symmetric_corner, Pattern::triangular,    Pattern::banded,
      Pattern::diagonal,         Pattern::constant,      Pattern::periodic,
      Pattern::periodic,         Pattern::permutation,   Pattern::toeplitz,
      Pattern::equal_lines,      Pattern::one_exception, Pattern::sparse,
      Pattern::sparse,           Pattern::pruned,        Pattern::counting,
      Pattern::seams,
  };
  constexpr Pattern of_c[] = {Pattern::zero_block, Pattern::zero_block, Pattern::equal_lines,
                              Pattern::equal_lines, Pattern::constant, Pattern::sparse};
  const Pattern of_a = choices.of(of_one), of_b = choices.of(of_one);
  const int plain = choices.below(3);  // often only one has structure, and the other hides nothing
  if (o == Operand::a) return plain == 0 ? Pattern::plain : of_a;
  if (o == Operand::b) return plain == 1 ? Pattern::plain : of_b;
  return choices.below(2) == 0 ? Pattern::plain : choices.of(of_c);
}

Exception exception_of(std::uint64_t seed, Operand o) {
  const Pattern pattern = pattern_of(seed, o);
  if (pattern == Pattern::plain || is_of_both(pattern)) return Exception::none;
  constexpr Exception all[] = {Exception::none,       Exception::none,        Exception::element,
                               Exception::other_line, Exception::filled_line, Exception::rest,
                               Exception::slight,     Exception::pair};
  return Choices(mix(seed, o, -5)).of(all);
}

bool is_of_second_kind(std::uint64_t seed) { return scramble(seed + 5) % 2 == 0; }

namespace {
// Three quarters of a power of two, or that, so that their sums are exact.
float for_large_sum(std::uint64_t random, std::int64_t k) {
  constexpr double mean_square = 0.8;  // of these, and less
  int bits = 1;
  while (std::ldexp(mean_square * static_cast<double>(k), 2 * bits) < 0x1p31) ++bits;
  return std::ldexp(random % 4 == 0 ? -0.75f : -1.0f, bits);
}
}  // namespace

Patterned::Patterned(const Case& c, Operand o)
    : seed_(c.seed),
      o_(o),
      k_(c.k),
      rows_(o == Operand::b ? c.k : c.m),
      columns_(o == Operand::a ? c.k : c.n),
      pattern_(pattern_of(c.seed, o)),
      seams_(pattern_ == Pattern::seams ? c.k : 0) {
  // What both share must be chosen alike for both.
  Choices choices(is_of_both(pattern_) ? c.seed : mix(c.seed, o, -3));
  inverted_ = choices.below(8) == 0;
  constexpr std::int64_t tiles[] = {8, 16, 16, 32}, corners[] = {4, 8, 16, 32},
                         periods[] = {2, 4, 8, 16, 32}, lengths[] = {1, 4, 16, 32, 48, 64},
                         bands[] = {1, 2, 8, 16}, shares[] = {2, 8, 32};
  switch (pattern_) {
    case Pattern::zero_block: choose_block(choices); break;
    case Pattern::lone_in_tiles: side_ = choices.of(tiles); break;
    case Pattern::symmetric_corner: side_ = choices.of(corners); break;
    case Pattern::periodic: side_ = choices.of(periods); break;
    case Pattern::banded: side_ = choices.of(bands); break;
    case Pattern::sparse: side_ = choices.of(shares); break;
    case Pattern::opposite_levels:
    case Pattern::levels: side_ = choices.of(lengths); [[fallthrough]];
    case Pattern::dominated: inverted_ = choices.below(2) == 0; break;
    case Pattern::equal_beginnings:
      side_ = choices.below(4) == 0 ? k_ : std::int64_t{16} << choices.below(3);
      break;
    case Pattern::triangular: inverted_ = choices.below(2) == 0; break;
    case Pattern::opposite_slopes:
    case Pattern::parallel_slopes:
      inverted_ = choices.below(2) == 0;
      range_ = 30 + choices.below(pattern_ == Pattern::parallel_slopes ? 20 : 70);
      // Nearly to the largest and the smallest float, with room for those that are split into
      // parts.
      if (pattern_ == Pattern::opposite_slopes && choices.below(3) == 0) range_ = 220;
      break;
    default: break;
  }
  if (is_narrow(pattern_)) narrow_ = narrow_of(c.seed, o);
  const bool is_lone = pattern_ == Pattern::diagonal || pattern_ == Pattern::permutation;
  of_ones_ = choices.below(is_lone ? 4 : 2) != 0;
  choose_exception(choices);
}

void Patterned::choose_exception(Choices& choices) {
  exception_ = exception_of(seed_, o_);
  const auto any = [&](std::int64_t size) {
    return choices.from(0, std::max<std::int64_t>(1, size) - 1);
  };
  const bool is_along_k = choices.below(4) != 0, is_row = is_along_k == (o_ == Operand::a);
  const bool is_one = exception_ == Exception::element || exception_ == Exception::pair;
  if (is_row || is_one) odd_row_ = any(rows_);
  if (!is_row || is_one) odd_column_ = any(columns_);
  if (exception_ == Exception::pair)  // beside the diagonal, where most of what has one looks
    odd_column_ = std::clamp<std::int64_t>(odd_row_ + choices.from(-6, 5), 0,
                                           std::max<std::int64_t>(0, columns_ - 2));
  if (exception_ == Exception::rest) rest_from_ = cut(choices, o_ == Operand::c ? rows_ : k_);
  if (exception_ == Exception::slight) little_ = std::ldexp(1.0f, -9 - choices.below(10));
}

void Patterned::choose_block(Choices& choices) {
  const std::int64_t length = o_ == Operand::c ? rows_ : k_;
  std::int64_t from = cut(choices, length), to = length;
  if (choices.below(4) == 0) from = cut(choices, length), to = std::min(length, from + 16);
  if (o_ == Operand::c && choices.below(2) == 0) from = 0, to = cut(choices, length);
  const std::int64_t width = o_ == Operand::a ? rows_ : columns_;
  std::int64_t side_from = 0, side_to = width;
  const int way = choices.below(6);
  if (way < 3) side_to = cut(choices, width);
  if (way == 3 || way == 4) side_from = cut(choices, width);
  if (o_ == Operand::a) std::swap(from, side_from), std::swap(to, side_to);
  rows_from_ = from, rows_to_ = to, columns_from_ = side_from, columns_to_ = side_to;
}

// Of the power of 2 that scales A at this place of k. B has its opposite or the same.
int Patterned::exponent(std::int64_t p) const {
  const std::int64_t last = std::max<std::int64_t>(1, k_ - 1);
  const auto slope = static_cast<int>(range_ * (inverted_ ? p : last - p) / last);  // range to 0
  switch (pattern_) {
    case Pattern::opposite_slopes:
      return o_ == Operand::a ? slope - range_ / 2 : range_ / 2 - slope;
    case Pattern::parallel_slopes: return slope - range_;
    default: break;
  }
  const bool tiny = scramble(seed_ + static_cast<std::uint64_t>(p / side_) * 3) % 2 == 0;
  if (pattern_ == Pattern::levels)
    return tiny && (o_ == Operand::a) != inverted_ ? -out_of_sight : 0;
  const int level = tiny ? -out_of_sight / 2 : out_of_sight / 2;
  return o_ == Operand::a ? level : -level;
}

bool Patterned::is_last(std::int64_t p, std::int64_t line) const {
  const std::int64_t lines = o_ == Operand::a ? rows_ : columns_;
  if (is_of_second_kind(seed_)) return line == lines - 1;
  const auto odd_line = static_cast<std::int64_t>(mix(seed_, o_, -12) >> 1) % lines;
  return p == k_ - 1 && line == odd_line;
}

// Where elements are equal: the one that this is equal to.
float Patterned::equal_to(std::int64_t i, std::int64_t j) const {
  const auto at = [&](std::int64_t row, std::int64_t column) {
    return short_number(mix(seed_, o_, row, column));
  };
  const std::int64_t p = o_ == Operand::a ? j : i, line = o_ == Operand::a ? i : j;
  if (pattern_ == Pattern::constant) return at(0, 0);
  if (pattern_ == Pattern::toeplitz) return at(is_of_second_kind(seed_) ? i + j : i - j, -7);
  std::int64_t first = p;
  if (pattern_ == Pattern::periodic) first = inverted_ ? p / side_ : p % side_;
  if (pattern_ == Pattern::equal_beginnings && p < side_) first = 0;
  if (pattern_ == Pattern::one_exception && p != place_in(line)) first = place_in(line) + 1;
  return o_ == Operand::a ? at(i, first) : at(first, j);
}

// All elements but those that a distance just beside a power of 2 are apart, or these alone.
bool Patterned::is_in_runs(std::int64_t p, std::int64_t line) const {
  const std::uint64_t random = mix(seed_, o_, line, -14);
  const auto beside = static_cast<std::int64_t>(random / 64 % 3) - 1;
  const std::int64_t distance = (std::int64_t{8} << random % 8) + beside;
  return (p % distance == 0) == (random / 32 % 2 == 0);
}

// Along k, of what is unlike the rest of a line.
std::int64_t Patterned::place_in(std::int64_t line) const {
  return static_cast<std::int64_t>(mix(seed_, o_, line, -4) >> 1) % std::max<std::int64_t>(1, k_);
}

float Patterned::structured(std::uint64_t random, std::int64_t i, std::int64_t j) const {
  const auto kept = [&](bool keep) { return !keep ? 0.0f : of_ones_ ? 1.0f : uniform(random); };
  const std::int64_t p = o_ == Operand::a ? j : i, line = o_ == Operand::a ? i : j;
  const auto mirrored = [&](bool mirror) {
    const float above = uniform(mirror && i > j ? mix(seed_, o_, j, i) : random);
    if (!mirror || i < j || !is_of_second_kind(seed_)) return above;
    return i == j ? 0.0f : -above;
  };
  switch (pattern_) {
    case Pattern::zero_block: {
      const bool inside = i >= rows_from_ && i < rows_to_ && j >= columns_from_ && j < columns_to_;
      return kept(inside == inverted_);
    }
    case Pattern::lone_in_tiles: {
      const std::uint64_t place = mix(seed_, o_, i / side_, j / side_);
      const auto tall = static_cast<std::uint64_t>(std::min(side_, rows_));
      const auto wide = static_cast<std::uint64_t>(std::min(side_, columns_));
      return kept(i % side_ == static_cast<std::int64_t>(place % tall) &&
                  j % side_ == static_cast<std::int64_t>((place >> 20) % wide) &&
                  (!inverted_ || (place >> 40) % 4 == 0));
    }
    case Pattern::symmetric: return mirrored(i < columns_ && j < rows_);
    case Pattern::symmetric_corner: return mirrored(std::max(i, j) < side_);
    case Pattern::triangular:
      if (i == j && is_of_second_kind(seed_)) return 1;
      return kept(inverted_ ? i <= j : i >= j);
    case Pattern::banded: return kept(std::abs(i - j) <= side_);
    case Pattern::diagonal:
      return kept(is_of_second_kind(seed_) ? i + j == std::min(rows_, columns_) - 1 : i == j);
    case Pattern::permutation: {
      return kept(p == (line + place_in(0)) % std::max<std::int64_t>(1, k_));
    }
    case Pattern::sparse:
      if (side_ == 2 && is_of_second_kind(seed_)) return kept((i + j) % 2 == 0);
      return kept(scramble(random) % static_cast<unsigned>(side_) == 0);
    case Pattern::pruned: {  // the first of two is any of four, the second another one
      if (is_of_second_kind(seed_)) return kept(is_in_runs(p, line));
      const std::uint64_t which = mix(seed_, o_, line, -8 - p / 4);
      const auto first = static_cast<std::int64_t>(which % 4);
      const auto second = (first + 1 + static_cast<std::int64_t>(which / 4 % 3)) % 4;
      return kept(p % 4 == first || p % 4 == second);
    }
    case Pattern::counting: return static_cast<float>(p % 8 + 1);
    case Pattern::seams: return seams_.are_beside(p) ? ordinary(random) : 0.0f;
    case Pattern::equal_lines: {
      const bool of_rows = o_ == Operand::c && !inverted_;
      const float element = uniform(mix(seed_, o_, of_rows ? line : p, -6));
      if (!is_of_second_kind(seed_)) return element;
      const std::uint64_t multiple = mix(seed_, o_, of_rows ? p : line, -13);
      return std::ldexp(sign(multiple), static_cast<int>(multiple % 3) - 1) * element;
    }
    case Pattern::toeplitz:
    case Pattern::one_exception:
    case Pattern::constant:
    case Pattern::equal_beginnings:
    case Pattern::periodic: return equal_to(i, j);
    default: return uniform(random);
  }
}

float Patterned::with_exception(std::uint64_t random, std::int64_t i, std::int64_t j) const {
  const float regular = structured(random, i, j);
  const bool is_in_line = odd_row_ < 0 || i == odd_row_;
  switch (exception_) {
    case Exception::none: return regular;
    case Exception::rest:
      return (o_ == Operand::a ? j : i) < rest_from_ ? regular : uniform(scramble(random));
    case Exception::slight:
      return random % 2 == 0 ? regular : regular + regular * little_ * uniform(scramble(random));
    case Exception::pair:
      if (!is_in_line || j < odd_column_ || j > odd_column_ + 1) return regular;
      return (j == odd_column_ ? 1 : -1) * uniform(mix(seed_, o_, -10));
    default: break;
  }
  const bool is_odd = is_in_line && (odd_column_ < 0 || j == odd_column_);
  if (!is_odd) return regular;
  const bool stays_zero = exception_ == Exception::other_line && regular == 0;
  return stays_zero ? 0.0f : uniform(scramble(random));
}

// Tiny ones leave room for products that are no denormals, large ones for sums that are no
// infinities.
float Patterned::beside_narrow(std::uint64_t random, std::int64_t line) const {
  const auto within = [&](int least, int most) {
    const std::uint64_t any = mix(seed_, o_, line, -11);
    return least + static_cast<int>(any % static_cast<std::uint64_t>(most - least + 1));
  };
  switch (scale_beside_narrow(seed_)) {
    case Scale::tiny: return std::ldexp(ordinary(random), within(-116, -60));
    case Scale::large: return std::ldexp(ordinary(random), within(30, 90));
    default: return ordinary(random);
  }
}

float Patterned::narrow(std::uint64_t random, std::int64_t p, std::int64_t line) const {
  if (narrow_->is_beside) return beside_narrow(random, line);
  if (narrow_->last_does_not_fit && is_last(p, line)) return uniform(random);
  if (narrow_->half_fits && (p < k_ / 2) == is_of_second_kind(seed_)) return uniform(random);
  const auto number = [&](bool touches_end) {
    return narrow_number(random, pattern_, narrow_->bits_too_many, touches_end);
  };
  if (pattern_ == Pattern::four_bits && k_ > (1 << 16))
    return sign(random << 8) * number(false);
  if (pattern_ != Pattern::bfloat16 && pattern_ != Pattern::tf32)
    return number(narrow_->touches_end);
  const float scaled = std::ldexp(number(false), narrow_->exponent);
  return pattern_ == Pattern::tf32 && narrow_->has_one_sign ? std::abs(scaled) : scaled;
}

float Patterned::value(std::uint64_t random, std::int64_t i, std::int64_t j) const {
  if (pattern_ == Pattern::one_sided)
    return std::abs(uniform(o_ == Operand::b && is_of_second_kind(seed_)
                                ? mix(seed_, Operand::a, j, i)
                                : random));
  // Where no sum cancels it has to be exact: what is rounded of whole numbers may go one way.
  if (pattern_ == Pattern::bytes && k_ > longest_sum_of_bytes)
    return random % 4 == 0 ? -96.0f : -128.0f;
  if (pattern_ == Pattern::bytes && k_ > longest_sum_without_signs)
    return random % 4 == 0 ? 224.0f : 240.0f;
  if (pattern_ == Pattern::signs && k_ > longest_sum_of_signs)
    return random % 32 == 0 ? 0.0f : 1.0f;
  if (pattern_ == Pattern::words_of_16_bits && narrow_->leaves_32_bits)
    return for_large_sum(random, std::max<std::int64_t>(k_, 8));
  const std::int64_t p = o_ == Operand::a ? j : i, line = o_ == Operand::a ? i : j;
  if (narrow_) return narrow(random, p, line);
  if (!is_of_both(pattern_)) return with_exception(random, i, j);
  if (pattern_ != Pattern::dominated) return std::ldexp(uniform(random), exponent(p));
  // A row of A where inverted, else a column of B, and the other matrix has no small elements.
  if (p == place_in(line) || (o_ == Operand::a) == inverted_) return ordinary(random);
  return std::ldexp(uniform(random), static_cast<int>(-28 - bits_of(k_)));
}

}  // namespace assay
