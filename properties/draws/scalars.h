// alpha and beta: mostly those that kernels treat as special, some over the whole range.
#pragma once

#include <utility>
#include <vector>

#include "properties/draws/dice.h"

namespace assay {

// Now and then a tiny alpha, down to 1e-7, with a beta of 1. Up to 1e30, so that no right sum
// overflows. Often of one magnitude, where the smaller would otherwise not show in the result.
// `hints` are drawn too.
std::pair<float, float> draw_scalars(Dice&, const std::vector<float>& hints);

// For fill=balanced: over all floats but 0, denormal ones and those near the largest more often;
// beta is 0 now and then. Often one of them is ordinary, often they are so far apart that beta /
// alpha or alpha / beta overflows.
std::pair<float, float> draw_extreme_scalars(Dice&, const std::vector<float>& hints);

// For fill=balanced too: a pair for each pair of magnitudes, from denormal to beside the largest,
// and each with a beta of 0, but for those so far apart that no data make both of them show.
std::vector<std::pair<float, float>> all_extreme_scalars(Dice&);

}  // namespace assay
