// What is right: alpha*A*B + beta*C in FP64, the scale of its rounding error element by element,
// and the bit pattern that one in-order chain of fused multiply-adds gives.
#pragma once

#include <string>
#include <vector>

#include "oracle/operands.h"

namespace assay {

// One unit of rounding error of FP32.
inline constexpr double unit_roundoff = 0x1p-24;

struct Reference {
  std::int64_t m = 0, n = 0;
  std::vector<double> c;      // m x n, packed
  std::vector<double> gauge;  // |alpha| * |A| |B| + |beta| * |C|; an error of u * gauge is one gulp
};

// By Eigen in double, except for fills with NaN and infinities: these by plain loops.
Reference make_reference(const Case&, const Operands&);

// The same by plain loops: what Eigen is checked against.
Reference make_plain_reference(const Case&, const Operands&);

// What two references may differ by in an element: rounding errors of double precision, for every
// order of summation.
double reference_slack(std::int64_t k, double gauge);
bool agree(const Reference&, const Reference&, std::int64_t k);

// Compares the corners of a reference and some blocks between them with plain loops: which element
// is wrong, as in "row 3, column 0 is 1.5 instead of -2"; empty if none is.
std::string wrong_sample(const Case&, const Operands&, const Reference&);

// What a variant with Order::one_fma_chain must return, m x n, packed.
std::vector<float> replay_fma_chain(const Case&, const Operands&);

// How many gulps of error a result may have.
double allowed_gulps(Arithmetic, std::int64_t k);

}  // namespace assay
