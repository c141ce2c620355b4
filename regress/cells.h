// The problems that are timed.
#pragma once

#include <vector>

#include "kernels/registry.h"
#include "oracle/case.h"

namespace assay {

// The articles' shapes, squares from 128 to 8192, skinny ones, long sums, odd sizes and leading
// dimensions.
std::vector<Case> bench_problems();

// The ones that every change is gated on: from a few microseconds to a few milliseconds.
std::vector<Case> gate_problems();

// Why a variant is not timed on a problem; empty if it is.
std::string not_timed(const Variant&, const Case&);

}  // namespace assay
