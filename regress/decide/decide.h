// Decides whether kernels got slower, from what several processes measured. The rule is stated in
// numbers here and nowhere else; what it promises (false alarms, power) is asserted by the replay
// of recorded runs.
//
//   screen    a few processes, all cells: which could be slower, or changed at all, go on
//   confirm   many fresh processes, those cells only: `slower` and `faster` are said from these
//   extra     one more such batch for what is still undecided, at half the alpha
//
// What was not measured, or not well enough, is `invalid`: nothing is `same` for want of data.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "regress/decide/replicate.h"

namespace assay {

struct DecisionRule {
  int screen_processes = 3, confirm_processes = 12;
  double usable = 0.75;   // of the processes planned, at least this part must have given data
  double margin = 0.005;  // slower means: by more than this
  double screen_margin = 0.0025, screen_p = 0.10;
  double confirm_p = 0.01;     // family-wise, over all cells confirmed (Holm)
  double unharmed = 0.015;     // the same means: shown to be less than this slower ...
  double unharmed_p = 0.05;    // ... with this p
  double creep_budget = 0.02;  // against the anchor
};

enum class Change { same, faster, slower, undecided, invalid };
const char* to_string(Change);

struct CellData {
  std::string name;        // "VARIANT CASE"
  bool unchanged = false;  // machine code and launch recipe equal the baseline's: proven the same
  std::vector<Replicate> screen, confirm, extra;
};

struct Interval {
  double low = 0, high = 0;
};

struct CellVerdict {
  Change change = Change::invalid;
  bool crept = false;       // over the budget against the anchor, though the last step was small
  std::string reason;       // one sentence
  double ratio = 0;         // head over baseline; 0 where there is none
  Interval interval;        // 99 %, two-sided
  double anchor_ratio = 0;  // head over anchor; 0 where there is none
  double p = 1;  // that head is not slower by more than the margin, adjusted; 1 if not confirmed
  double spread = 0;      // standard deviation of the log-ratio over processes
  double detectable = 0;  // the smallest slowdown that would have been called with 95 % probability
  int processes = 0;      // that the verdict rests on
  int processes_needed = 0;  // of an undecided cell: about how many would settle it
};

// The reason of a cell that was measured without a baseline, and is `invalid` for it.
inline constexpr const char* no_baseline = "no baseline";

// The cells to confirm, and then those for the extra batch, as indices.
std::vector<std::size_t> to_confirm(const std::vector<CellData>&, const DecisionRule& = {});
std::vector<std::size_t> to_repeat(const std::vector<CellData>&, const DecisionRule& = {});

// One verdict for each cell, in order. Judges each cell by the last batch it was given. A cell
// that is `unchanged` and was measured all the same is a live control: a difference in it says
// that the measurement is wrong, not the kernel.
std::vector<CellVerdict> decide(const std::vector<CellData>&, const DecisionRule& = {});

}  // namespace assay
