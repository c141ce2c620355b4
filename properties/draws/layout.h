// How the matrices of a case lie in memory: the distances between their rows, and where they begin.
#pragma once

#include <vector>

#include "oracle/case.h"
#include "properties/draws/dice.h"

namespace assay {

// Small gaps, and distances at and beside powers of 2 and their multiples; now and then all aligned
// to 16 bytes, or all three distances equal. `hints` are drawn too, with multiples and neighbours.
void draw_layout(Dice&, Case&, const std::vector<std::int64_t>& hints);

// All matrices aligned, C of multiples of 32, and rows a multiple of 32 floats apart: what the fast
// path of a kernel asks for, all at once, at a k that it may not have been tried with.
void make_tidy(Dice&, Case&);

}  // namespace assay
