// What a seed says of patterns whose numbers fit a type of fewer bits, and of those that do not.
#pragma once

#include <cstdint>
#include <optional>

#include "oracle/operands.h"

namespace assay {

// By how many bits some of them just do not, 0 to 2.
int bits_too_many(std::uint64_t seed);
// Of whole numbers under it: whether they fit their type but for the first one that does not, such
// as 128 among bytes.
bool touches_end(std::uint64_t seed);
// Whether words of 16 bits are all negative, and just large enough for the sum of k products to
// overflow 32 bits.
bool leaves_32_bits(std::uint64_t seed);
// Of numbers that fit a type of fewer bits: which operand alone has such, as weights do, while the
// other one has numbers of all bits; none where both have.
std::optional<Operand> narrow_alone(std::uint64_t seed);
// The lines along k of that other operand: around 1, or each of a scale of its own.
enum class Scale { ordinary, tiny, large };
Scale scale_beside_narrow(std::uint64_t seed);
// Of this operand, if any, the last element of one line along k does not fit; for half of the seeds
// the last line instead.
std::optional<Operand> last_does_not_fit(std::uint64_t seed);
// Of this operand, if any, only the elements behind the middle of k fit; for half of the seeds
// those before it.
std::optional<Operand> half_fits(std::uint64_t seed);
// The power of 2 that numbers with an exponent of their own are multiplied by: mostly none, else
// one that takes them to where 16 bits have denormals, or nothing any more.
int narrow_exponent(std::uint64_t seed);
// Whether those of TF32 are all positive.
bool has_one_sign(std::uint64_t seed);

// All of that for one operand, so that it need not be asked for each element.
struct Narrow {
  int bits_too_many, exponent;
  bool touches_end, leaves_32_bits, has_one_sign;
  bool is_beside;  // the other operand alone has such numbers
  bool last_does_not_fit, half_fits;
};
Narrow narrow_of(std::uint64_t seed, Operand);

}  // namespace assay
