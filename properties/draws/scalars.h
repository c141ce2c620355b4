// alpha and beta: mostly those that kernels treat as special, some over the whole range.
#pragma once

#include <utility>
#include <vector>

#include "properties/draws/dice.h"

namespace assay {

// Up to 1e30, so that no right sum overflows. Often of one magnitude, where the smaller would
// otherwise not show in the result. `hints` are drawn too.
std::pair<float, float> draw_scalars(Dice&, const std::vector<float>& hints);

}  // namespace assay
