// Decides whether kernels got slower, from what several processes measured. The numbers of the rule
// stand here and nowhere else; replay_test asserts what it promises (false alarms, power) on
// recorded runs.
//
//   screen    a few processes, of cells that are proven unchanged: picks those that differ
//   confirm   many fresh processes, of those and of every cell that changed: decides
//   extra     one more batch for what is still undecided, at half the alpha: as many processes as
//             its noise asks for to tell what lies midway between slower and the same
//
// A cell that was not measured, or not well enough, is `invalid`: missing data never makes a cell
// `same`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "regress/decide/replicate.h"
#include "regress/decide/statistics.h"

namespace assay {

struct DecisionRule {
  int screen_processes = 3, confirm_processes = 12;
  double usable = 0.75;   // of the processes planned, at least this part must have given data
  double margin = 0.005;  // slower means: by more than this
  double screen_margin = 0.0025, screen_p = 0.10;
  double confirm_p = 0.01;     // family-wise, over all cells confirmed (Holm)
  double unharmed = 0.015;     // the same means: shown to be less than this slower ...
  double unharmed_p = 0.05;    // ... with this p; what looks slower with this p is looked at again
  double creep_budget = 0.02;  // against the anchor
};

// For what a launch does on the host, beside some 180 ns of empty launches: its margins stand for
// 18 and 45 ns. Noise has no part in them, nor has it in those of kernels; it is in the tests. They
// are what hosts and builds differ by, and less than most needless calls.
DecisionRule rule_for_host(const DecisionRule&);

// Whether the time over the anchor's, as it was measured, is beyond the budget.
bool is_over_budget(const Ratio& to_anchor, const DecisionRule& = {});

// What became of a cell, the worst first. A cell is `wrong` if its result was: whoever ran it
// knows, not the rule. What is printed for each stands in decide.cpp: to_string, and the sentence
// of CellVerdict.
enum class CellOutcome { wrong, slower, undecided, invalid, no_baseline, faster, same };
const char* to_string(CellOutcome);

// What the rule decides upon: one replicate for each process of each batch.
struct CellBatches {
  bool unchanged = false;  // machine code and launch recipe equal the baseline's: proven the same
  std::vector<Replicate> screen, confirm, extra;
};

struct Interval {
  double low = 0, high = 0;
};

struct CellVerdict {
  CellOutcome outcome = CellOutcome::invalid;
  bool crept = false;       // slower than the anchor by more than the budget, in small steps
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

// The outcome, and "slower by creep" for slow steps that added up.
const char* outcome_text(const CellVerdict&);

// The cells to confirm, and then those for the extra batch, as indices.
std::vector<std::size_t> to_confirm(const std::vector<CellBatches>&, const DecisionRule& = {});
std::vector<std::size_t> to_repeat(const std::vector<CellBatches>&, const DecisionRule& = {});

// How many processes that batch takes: once to three times as many as the one before.
int processes_to_repeat(const std::vector<CellBatches>&, const DecisionRule& = {});

// One verdict for each cell, in order, from the last batch that it has. An `unchanged` cell that
// was measured all the same is a live control: a difference in it shows a fault of the measurement,
// not of the kernel.
std::vector<CellVerdict> decide(const std::vector<CellBatches>&, const DecisionRule& = {});

}  // namespace assay
