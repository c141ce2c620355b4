#include "oracle/fills/narrow.h"

#include <algorithm>

#include "oracle/fills/randomness.h"

namespace assay {

int bits_too_many(std::uint64_t seed) {
  return std::max(0, Choices(seed ^ 0x62697473u).below(4) - 1);
}
bool touches_end(std::uint64_t seed) { return bits_too_many(seed) == 0 && scramble(seed) % 2 == 0; }
bool leaves_32_bits(std::uint64_t seed) { return scramble(seed + 1) % 8 == 0; }

namespace {
// One seed in `of_seeds` picks A, and another one B. None does where numbers touch the end of their
// type or leave 32 bits.
std::optional<Operand> one_of_two(std::uint64_t seed, std::uint64_t salt, std::uint64_t of_seeds) {
  const std::uint64_t which = scramble(seed + salt) % of_seeds;
  if (which > 1 || touches_end(seed) || leaves_32_bits(seed)) return std::nullopt;
  return which == 0 ? Operand::a : Operand::b;
}
}  // namespace

std::optional<Operand> narrow_alone(std::uint64_t seed) { return one_of_two(seed, 2, 4); }
std::optional<Operand> last_does_not_fit(std::uint64_t seed) { return one_of_two(seed, 4, 8); }
std::optional<Operand> half_fits(std::uint64_t seed) {
  return last_does_not_fit(seed) ? std::nullopt : one_of_two(seed, 6, 8);
}
bool has_one_sign(std::uint64_t seed) { return scramble(seed + 8) % 4 == 0; }
int narrow_exponent(std::uint64_t seed) {
  Choices choices(scramble(seed + 7));
  const bool is_far = choices.below(4) == 0 && !narrow_alone(seed);
  return !is_far ? 0 : choices.below(2) == 0 ? -15 - choices.below(8) : 15 + choices.below(20);
}
Scale scale_beside_narrow(std::uint64_t seed) { return static_cast<Scale>(scramble(seed + 3) % 3); }

Narrow narrow_of(std::uint64_t seed, Operand o) {
  return {.bits_too_many = bits_too_many(seed),
          .exponent = narrow_exponent(seed),
          .touches_end = touches_end(seed),
          .leaves_32_bits = leaves_32_bits(seed),
          .has_one_sign = has_one_sign(seed),
          .is_beside = narrow_alone(seed).value_or(o) != o,
          .last_does_not_fit = last_does_not_fit(seed) == o,
          .half_fits = half_fits(seed) == o};
}

}  // namespace assay
