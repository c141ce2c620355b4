// The right result: alpha*A*B + beta*C in FP64, the scale of each element's rounding error, and the
// bits that one in-order chain of fused multiply-adds gives.
#pragma once

#include <string>
#include <vector>

#include "oracle/operands.h"

namespace assay {

// One unit of rounding error of FP32.
inline constexpr double unit_roundoff = 0x1p-24;

struct Reference {
  std::int64_t m = 0, n = 0;
  std::vector<double> c;  // m x n, packed
  // |alpha| * |A| |B| + weight_of_c * |beta| * |C|; an error of u * gauge is one gulp.
  std::vector<double> gauge;
  double underflow = 0x1p-149;  // the error that any element may have besides
  std::int64_t first_row = 0;   // of the matrix, where this is the reference of some of its rows
};

// The error that a right result may have where products or sums are too small for full precision:
// a unit of the smallest number for every product, with alpha applied before or after the sum.
double underflow_of(const Case&);

// 1 up to k = 14, about sqrt(k) / 4 for a long k: a sum may begin at beta * C, and then each of its
// k roundings is of that size. With patterned data all of them may go one way.
double weight_of_c(const Case&);
void add_beta_c(const Case&, const Image& c, Reference&);

// By Eigen in double; by plain loops for a fill with NaN and infinities.
Reference make_reference(const Case&, const Operands&);
// Of rows [first, first + count), by Eigen.
Reference make_reference(const Case&, const Operands&, std::int64_t first, std::int64_t count);

// The same by plain loops, to check Eigen against.
Reference make_plain_reference(const Case&, const Operands&);

// How much two references may differ in an element: the rounding errors of double precision, in any
// order of summation.
double reference_slack(std::int64_t k, double gauge);
bool agree(const Reference&, const Reference&, std::int64_t k);

// Compares the corners of a reference and some blocks between them with plain loops. Returns the
// first wrong element, as in "row 3, column 0 is 1.5 instead of -2"; empty if there is none.
std::string wrong_sample(const Case&, const Operands&, const Reference&);

// The result that a variant with Order::one_fma_chain must leave, m x n, packed.
std::vector<float> replay_fma_chain(const Case&, const Operands&);

// Whether it keeps the last bits of A and B, and their whole range: if not, data in which these
// decide are not for it.
bool keeps_inputs(Arithmetic);

// How many gulps of error a result may have: for zero-mean data, and for those of a case.
double allowed_gulps(Arithmetic, std::int64_t k);
double allowed_gulps(Arithmetic, const Case&);

}  // namespace assay
