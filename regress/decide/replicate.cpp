#include "regress/decide/replicate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "regress/decide/statistics.h"

namespace assay {
namespace {

const Sample& of(const Round& round, Arm arm) { return round[static_cast<std::size_t>(arm)]; }

bool was_run(const std::vector<Round>& rounds, Arm arm) {
  return !std::all_of(rounds.begin(), rounds.end(),
                      [&](const Round& r) { return of(r, arm).time_us == 0; });
}

constexpr std::uint64_t power_limit = 4;  // as NVML numbers the reasons

// Whether nothing held the clocks down in a pair of rounds, or the power limit did in every sample
// of it: a card that always runs there compares like with like.
bool is_even(const Round& round, const Round& mirror, const std::vector<Arm>& run) {
  const std::uint64_t reason = of(round, run.front()).throttled;
  return (reason == 0 || reason == power_limit) && std::ranges::all_of(run, [&](Arm arm) {
           return of(round, arm).throttled == reason && of(mirror, arm).throttled == reason;
         });
}

// Also in rounds that will be dropped: a time that cannot be is no less wrong on a slow clock.
std::string impossible_value(const std::vector<Round>& rounds, Arm arm) {
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const Sample& s = of(rounds[i], arm);
    if (!(s.time_us > 0 && std::isfinite(s.time_us)))
      return fmt::format("{}'s time in round {} is {} us", to_string(arm), i, s.time_us);
    if (!(s.clock_mhz >= 0 && std::isfinite(s.clock_mhz)))
      return fmt::format("{}'s clock in round {} is {} MHz", to_string(arm), i, s.clock_mhz);
  }
  return "";
}

std::vector<Round> even_pairs(const std::vector<Round>& rounds, const std::vector<Arm>& run) {
  std::vector<Round> kept;
  for (std::size_t i = 0; i + 1 < rounds.size(); i += 2) {
    if (is_even(rounds[i], rounds[i + 1], run)) kept.insert(kept.end(), {rounds[i], rounds[i + 1]});
  }
  return kept;
}

// Of those that could be read; 0 where none could.
double median_of(const std::vector<Round>& rounds, Arm arm, double Sample::*value) {
  std::vector<double> values;
  for (const Round& r : rounds) {
    if (of(r, arm).*value > 0) values.push_back(of(r, arm).*value);
  }
  return values.empty() ? 0 : median(values);
}

// The mirror cancels what drifts evenly through a pair; the median keeps one disturbed pair from
// counting.
double log_ratio(const std::vector<Round>& rounds, Arm arm) {
  const auto log_of = [&](const Round& r) {
    return std::log(of(r, Arm::head).time_us) - std::log(of(r, arm).time_us);
  };
  std::vector<double> pairs;
  for (std::size_t i = 0; i < rounds.size(); i += 2)
    pairs.push_back((log_of(rounds[i]) + log_of(rounds[i + 1])) / 2);
  return median(pairs);
}

}  // namespace

const char* to_string(Arm arm) {
  static constexpr std::array words = {"head", "twin", "baseline", "anchor"};
  return words.at(static_cast<std::size_t>(arm));
}

Replicate reduce(const std::vector<Round>& rounds) {
  Replicate out;
  out.rounds = static_cast<int>(rounds.size());
  const auto faulty = [&out](std::string why) {
    out.fault = std::move(why);
    return out;
  };
  if (!was_run(rounds, Arm::head)) return faulty("head was not run");
  if (rounds.size() % 2 != 0) return faulty("the last round has no mirror");

  std::vector<Arm> run;
  std::copy_if(arms.begin(), arms.end(), std::back_inserter(run),
               [&](Arm arm) { return was_run(rounds, arm); });
  for (Arm arm : run) {
    if (std::string why = impossible_value(rounds, arm); !why.empty()) return faulty(why);
  }

  const auto kept = even_pairs(rounds, run);
  out.at_power_limit =
      std::ranges::any_of(kept, [](const Round& r) { return of(r, Arm::head).throttled != 0; });
  out.dropped = static_cast<int>(rounds.size() - kept.size());
  if (static_cast<int>(kept.size()) < 2 * fewest_pairs) {
    return faulty(fmt::format("only {} of {} pairs of rounds are left, {} were throttled",
                              kept.size() / 2, rounds.size() / 2, out.dropped / 2));
  }

  out.head_us = median_of(kept, Arm::head, &Sample::time_us);
  out.clock_mhz = median_of(kept, Arm::head, &Sample::clock_mhz);
  for (Arm arm : run) {
    const double clock = median_of(kept, arm, &Sample::clock_mhz);
    if (clock == 0 || out.clock_mhz == 0) continue;
    const double apart = std::abs(clock / out.clock_mhz - 1);
    out.clock_apart = std::max(out.clock_apart, apart);
    // Other code may draw other power, and run at another clock for it: that is part of its speed.
    if (arm == Arm::twin && !(apart <= clocks_apart)) {
      return faulty(fmt::format("{} ran at {:.0f} MHz and head at {:.0f} MHz", to_string(arm),
                                clock, out.clock_mhz));
    }
  }

  for (Arm arm : run) {
    if (arm == Arm::twin) out.to_twin = log_ratio(kept, arm);
    if (arm == Arm::baseline) out.to_baseline = log_ratio(kept, arm);
    if (arm == Arm::anchor) out.to_anchor = log_ratio(kept, arm);
  }
  return out;
}

}  // namespace assay
