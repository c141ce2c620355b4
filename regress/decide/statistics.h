// The statistics of the timing gate: Student's t on one number for each process, and what follows
// from it. The spread is always that of the numbers at hand, without a prior: a spread borrowed
// from other cells would be wrong for a cell that settles in two states.
//
// A statistic that cannot be computed (fewer than two numbers, NaN) supports no claim: its p is 1
// and its bounds are infinite. A spread of exactly zero is a certainty.
#pragma once

#include <span>
#include <vector>

namespace assay {

double median(std::vector<double>);  // of an even count, the mean of the middle two; NaN of none

struct Summary {
  int count = 0;
  double mean = 0;
  double deviation = 0;  // of the sample: over count - 1
};
Summary summarize(std::span<const double>);

// A ratio of times, its 95 % interval, and how many processes it rests on. Without processes there
// is no ratio.
struct Ratio {
  double value = 0, low = 0, high = 0;
  int processes = 0;
  bool operator==(const Ratio&) const = default;
};

// The geometric mean over processes of the ratio whose logarithms are `logs`. One process alone
// gives an interval without width, as if it were certain.
Ratio ratio_of(const std::vector<double>& logs);

// One-sided p that the true mean is not above `bound`, or not below it.
double p_above(const Summary&, double bound);
double p_below(const Summary&, double bound);

// One-sided bounds of the true mean. lower_bound(s, 1 - p) > x says p_above(s, x) < p, at less
// cost.
double upper_bound(const Summary&, double confidence);
double lower_bound(const Summary&, double confidence);

// Holm's adjusted p: calling all below `a` makes one false call or more with probability `a` at
// most, whatever the dependence.
std::vector<double> holm(const std::vector<double>& p);

// The smallest true mean that p_above(.., bound) < p calls with probability `power`, for `count`
// numbers with that true deviation.
double detectable_mean(int count, double deviation, double bound, double p, double power);

// About how many numbers it takes to tell a true mean from a bound `gap` away: one million at most.
int count_needed(double deviation, double gap, double p, double power);

}  // namespace assay
