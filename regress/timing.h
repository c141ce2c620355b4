// What a timing process is asked to measure, what it measured, and whether that may be used.
// Comparisons fail on NaN: what was not shown to be sound is not.
//
// `assay` starts a copy of itself for each replicate, gives it a TimingJob, and reads a
// ProcessTiming from it (processes.h). The copy measures in device/timing_process.h.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "regress/cell.h"
#include "regress/decide/replicate.h"
#include "regress/store/recipe.h"

namespace assay {

struct CellJob {
  Cell cell;
  std::string rival;         // a variant of this program to time in place of the baseline
  int launches = 0;          // in one sample; with 0 the first process chooses
  int planted_launches = 0;  // extra launches in each of head's samples that are not counted: a
                             // slowdown of known cost
};

struct TimingJob {
  std::vector<CellJob> cells;
  std::string baselines;   // the folder of stored baselines; empty for none
  std::uint64_t seed = 0;  // of the operands and of the order of arms
  int rounds = 20;         // with 0 the process only looks at what would be launched
  bool warm = false;       // operands may stay in the L2 cache
  bool control = true;     // times head's twin too
};

struct CellTiming {
  Cell cell;
  std::string fault;       // why it was not measured, or may not be used; empty if it may
  bool wrong = false;      // the code under test gave a wrong result: `fault` describes it
  Recipe recipe;           // of head; empty where there is none, as for a library's kernels
  std::string cubin;       // SHA-256 of its machine code
  std::string no_recipe;   // why there is no recipe
  bool unchanged = false;  // machine code and recipe equal the stored baseline's
  std::string cause;       // how they differ from the stored baseline's, in words
  int launches = 0;        // in one sample
  double first_us = 0;     // of the first launches, on a clock that may still be low
  double cold = 0;         // latency of the next operands over that of operands in the L2 cache
  std::vector<Round> rounds;
};

struct ProcessTiming {
  std::map<std::string, std::string> device;  // facts of the card, by name; "key" is the baseline's
  std::map<std::string, double> canaries;     // figures of kernels that are never edited
  std::string unfit;                          // why this machine cannot be measured on now
  std::vector<CellTiming> cells;
  double seconds = 0;
};

// Called as a long measurement advances: with a sentence, and the share done, from 0 to 1.
using TimingProgress = std::function<void(const std::string& step, double done)>;

// How gate, bench and accept get their timings: from processes_started_with(..), or from a
// stand-in.
using TimeInProcesses = std::function<std::vector<ProcessTiming>(const TimingJob&, int processes,
                                                                 const TimingProgress&)>;

// Puts cells of one problem side by side, so that its reference is computed once. Cells of one
// problem keep their order.
void sort_by_problem(std::vector<CellJob>&);

// The queue of a held stream takes no more launches than this in one sample.
inline constexpr int most_launches = 400;

// How many launches make a sample, if one takes `launch_us`.
int launches_for(double launch_us);

// Throws UnfitEnvironment with the reason if the process says that it could not measure.
void require_fit(const ProcessTiming&);

// How far a kernel that is never edited may be off before nothing beside it is believed.
inline constexpr double canaries_apart = 0.03;

// Why a process as a whole may not be used; empty if it may. `known` are the canaries at
// acceptance, or none.
std::string why_unusable(const ProcessTiming&, const std::map<std::string, double>& known);

// Operands count as cold if they take this many times as long to reach as those in the L2 cache.
// On an H200 it was 2.1 times or more.
inline constexpr double least_coldness = 1.3;

// Reduces the rounds of one cell. Operands that were not shown to be cold are a fault, unless they
// may be warm, as they may for the host's time. With `anchor_is_baseline` the baseline's ratio is
// the anchor's too.
Replicate replicate_of(const CellTiming&, bool anchor_is_baseline, bool may_be_warm = false);

}  // namespace assay
