// What one process measured of one cell, reduced to one number for each pair of arms. The process,
// not the launch, is the statistical unit.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay {

// What is timed side by side: the code now, the same code loaded a second time (the control), the
// code as last accepted, and the code that never moves.
enum class Arm { head, twin, baseline, anchor };
inline constexpr std::array arms = {Arm::head, Arm::twin, Arm::baseline, Arm::anchor};
const char* to_string(Arm);

// One batch of launches of one arm. An arm that is zero in all rounds was not run.
struct Sample {
  double time_us = 0;           // of one launch
  double clock_mhz = 0;         // of the multiprocessors meanwhile; 0 where it could not be read
  std::uint64_t throttled = 0;  // the reasons for which the card held its clocks down, as bits
};

// One sample of every arm. Rounds 2i and 2i + 1 are a pair: the second runs the arms in the reverse
// order of the first.
using Round = std::array<Sample, arms.size()>;

// Natural logarithms of head's time over another arm's. Not set where that arm was not run, and
// where there is a fault.
struct Replicate {
  std::optional<double> to_baseline, to_anchor, to_twin;
  double head_us = 0;
  double clock_mhz = 0;
  double clock_apart = 0;  // the largest relative difference of an arm's median clock from head's
  int rounds = 0, dropped = 0;  // of those measured, the ones dropped because the card throttled
  bool at_power_limit = false;  // in some pair, and in every sample of it
  std::string fault;            // why nothing here may be used, such as a result that was wrong
};

// The median over mirrored pairs of rounds of the mean of the two log-ratios. A pair in which any
// arm was throttled is dropped for all arms, unless all its samples ran at the power limit alone.
// These are faults: head was not run; a time is not a positive number; a round has no mirror; fewer
// than `fewest_pairs` are left; the clocks of head and twin, which run the same code, are further
// apart than `clocks_apart`. An unreadable clock is none.
inline constexpr double clocks_apart = 0.005;
inline constexpr int fewest_pairs = 5;
Replicate reduce(const std::vector<Round>&);

}  // namespace assay
