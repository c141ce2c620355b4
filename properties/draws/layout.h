// How the matrices of a case lie in memory: the distances between their rows, and where they begin.
#pragma once

#include <vector>

#include "oracle/case.h"
#include "properties/draws/dice.h"

namespace assay {

// Small gaps, and distances at and beside powers of 2 and their multiples; now and then all aligned
// to 16 bytes, or all three distances equal. `hints` are drawn too, with multiples and neighbours.
void draw_layout(Dice&, Case&, const std::vector<std::int64_t>& hints);

// All matrices aligned, and their rows a multiple of 32 floats apart: what the fast path of a
// kernel asks for, all at once.
void make_tidy(Dice&, Case&);

}  // namespace assay
