// What arithmetics other than FP32 make of a case: the products that a GPU's matrix units can form,
// computed on the host. They show how far from right a wrong arithmetic falls.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "oracle/operands.h"

namespace assay {

enum class Emulation {
  tf32,    // each factor rounded to 11 bits
  tf32x3,  // each factor as the sum of two TF32, and three of the four products
  bf16x3,  // each factor as the sum of two BF16, and three of the four products
  bf16x9,  // each factor as the sum of three BF16, which hold its 24 bits, and all nine products
};
inline constexpr std::array emulations = {Emulation::tf32, Emulation::tf32x3, Emulation::bf16x3,
                                          Emulation::bf16x9};
std::string_view to_string(Emulation);

// C after the launch, m x n, packed. Sums are FP32, one chain for each pair of parts.
std::vector<float> emulate(Emulation, const Case&, const Operands&);

}  // namespace assay
