// What the matrices of a case hold.
#pragma once

#include <vector>

#include "kernels/gemm.h"
#include "kernels/registry.h"
#include "oracle/operands.h"
#include "properties/draws/dice.h"

namespace assay {

// Any fill that the bound is made for, random numbers more often than structured ones.
Fill draw_fill(Dice&, Arithmetic);

// A matrix is symmetric as a whole only where it is square: makes A or B square, or both, where
// that leaves the case small.
void make_square(Dice&, Case&);

// A CPU takes some fifteen times as long for denormals, where it runs the kernel itself: a large
// case gets a seed there that scales to other numbers. So does each one of a kernel whose
// arithmetic does not keep them.
void spare_denormals(Case&, const Entry&);

// Filled with special values, and with zeros of A, or of B, in the last slices of k.
Case with_zeros_of(Operand, Case);
// With elements of A that grow by powers of 2 along k where those of B fall: sums of a magnitude
// that no sum of elements of A or B has.
Case with_opposite_slopes(Case);

// Every kind of data in turn: every structure of A or B with a long k, and in small cases every
// pair of magnitudes of alpha and beta, every place of the largest floats; and tidy problems with
// every remainder of k. Drawn at random, the rarest would be missing in most runs. `long_k` are
// drawn for k beside others, `distances` for those between rows.
std::vector<Case> cases_of_all_data(Dice&, Arithmetic, const std::vector<std::int64_t>& long_k,
                                    const std::vector<std::int64_t>& distances);

}  // namespace assay
