// Calls that differ in one thing from the one that follows: whoever goes by what was kept of them
// has to notice.
#pragma once

#include <array>

#include "kernels/registry.h"
#include "oracle/plan.h"
#include "oracle/verdict.h"

namespace assay {

// The first six change the shape of a problem, the others its scalars; the last one clears C.
enum class Other { lda, ldb, ldc, m, k, n, alpha, beta, cleared };
inline constexpr int others_in_shape = 6;

// With rows of one operand closer or farther apart; or with one size less, and rows as far apart as
// before; or with a scalar of the other sign, or none. What finds a plan again by its operands and
// some of these may leave out any of them.
Case with_one_other(Case, const Entry&, Other);

struct Alteration {
  Altered altered;
  const char* words;
};
inline constexpr std::array alterations = {
    Alteration{Altered::element_of_a, "with another element in A"},
    Alteration{Altered::element_of_b, "with another element in B"},
    Alteration{Altered::row_of_a, "with two elements of a row of A exchanged"},
    Alteration{Altered::column_of_b, "with two elements of a column of B exchanged"},
    Alteration{Altered::column_of_a, "with two elements of a column of A exchanged"},
    Alteration{Altered::row_of_b, "with two elements of a row of B exchanged"},
    Alteration{Altered::columns_of_b, "with two columns of B exchanged"},
    Alteration{Altered::rows_of_a, "with two rows of A exchanged"},
    Alteration{Altered::rows_of_b, "with two rows of B exchanged"},
    Alteration{Altered::columns_of_a, "with two columns of A exchanged"}};
// A look may go by where an element lies in its tile, or count rows as columns.
inline constexpr std::array alterations_from_afar = {
    Alteration{Altered::far_rows_of_a, "with two distant rows of A exchanged"},
    Alteration{Altered::far_columns_of_a, "with two distant columns of A exchanged"},
    Alteration{Altered::far_rows_of_b, "with two distant rows of B exchanged"},
    Alteration{Altered::far_columns_of_b, "with two distant columns of B exchanged"}};
inline constexpr std::array alterations_of_squares = {
    Alteration{Altered::transposed_a, "with A transposed in place"},
    Alteration{Altered::transposed_b, "with B transposed in place"}};

// Whether a call is right behind each of these, and each of these behind that call; of a square,
// too, which two of these are about.
inline constexpr int launches_with_calls_before =
    2 + 2 * (1 + static_cast<int>(Other::cleared) + static_cast<int>(alterations.size()) +
             static_cast<int>(alterations_from_afar.size()) +
             static_cast<int>(alterations_of_squares.size()));
Verdict judge_calls_before(const Entry&, const Case&, const Resources&);

}  // namespace assay
