// The problems that are timed, and which variants are timed on them.
#pragma once

#include <string>
#include <vector>

#include "kernels/registry.h"
#include "oracle/case.h"

namespace assay {

// For `assay bench`: the articles' shapes, squares from 128 to 8192, skinny ones, long sums, odd
// sizes and leading dimensions.
std::vector<Case> bench_problems();

// For the gate, which judges every change by them: they take from a few microseconds to a few
// milliseconds.
std::vector<Case> gate_problems();

// The variants for a GPU in the order of the ladder: all, or those of these names.
std::vector<Variant> variants_to_time(const std::vector<std::string>& names);

// Why a variant is not timed on a problem; empty if it is.
std::string not_timed(const Variant&, const Case&);

double tflops(const Case&, double time_us);

}  // namespace assay
