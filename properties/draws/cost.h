// What it takes to judge a case, in nanoseconds of an ordinary core. It is a model, not a
// measurement: it follows from the case and from counts, so that the same cases are drawn on every
// machine.
#pragma once

#include <set>

#include "properties/claims.h"

namespace assay {

// An operation of a warp on the PTX machine, on average over the ladder.
inline constexpr double per_operation = 20;

// What a variant's kernels take on a CPU, in nanoseconds.
struct Effort {
  bool is_known = false;
  double launch = 0, tile = 0, tile_per_k = 0;
  // Of a tile that has one element: less where its threads are idle, more where what they hold
  // beyond C, which nobody wrote, has to be followed.
  double element_per_k = 0;
  // Beside these, for each tile of the longer side of C: where the grid consists of squares, and
  // where it is one, however long C is.
  double tile_of_line = 0, tile_of_square = 0;
  // Of each element beside these, where C is a row or a column and takes a path of its own.
  double element_of_row = 0, element_of_column = 0;
  // Where sums take another path that is dearer: from which k on, and what a tile takes there for
  // each k.
  std::int64_t long_from = 0;
  double tile_per_long_k = 0;
  bool operator==(const Effort&) const = default;
};

// By what a few small launches did, which is counted and not timed: threads and their stops in the
// watched build, operations of warps on the PTX machine. Not known where there is neither; then a
// thread for each element is supposed, and two barriers for each slice.
Effort effort_of(const Entry&);

// Sums of these lengths may take a path of their own on the PTX machine, which small launches do
// not show. A few of them are looked at.
void look_at_long_sums(const std::set<std::int64_t>& lengths, const Entry&, Effort&);

double cost_of(const Case&, const Claim&, const Entry&, const Effort& = {});

// Entries that are judged in one run: says of those on the CPU executor whether the PTX machine
// judges the same variant among them.
std::vector<Entry> beside_each_other(std::vector<Entry>);

// How many cases of each claim about each variant are asked for, unless somebody says otherwise.
inline constexpr int usual_cases = 100;

// Of the cases that are asked for, how many a claim takes there.
double share_of_cases(const Claim&, const Entry&);

// What a drawn case may cost on average. A GPU is given ten times as many.
double cost_per_case(const Entry&);

}  // namespace assay
