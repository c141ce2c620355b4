// What a fresh process is asked to time, and what it answers. A program that times starts copies of
// itself, one for each replicate, and talks to them in this form.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "regress/decide/replicate.h"
#include "regress/store/recipe.h"

namespace assay {

struct CellJob {
  std::string variant, problem;  // the problem in the text form of a case
  std::string rival;             // a variant of this program, in the place of the baseline
  int launches = 0;              // in one sample; 0 is for the first process to choose
  int planted_launches = 0;  // so many more in each of head's samples, billed as if they were not:
                             // a slowdown of known cost
};

struct TimingJob {
  std::vector<CellJob> cells;
  std::string baselines;   // the folder of stored baselines; empty for none
  std::uint64_t seed = 0;  // of the operands and of the order of arms
  int rounds = 20;         // 0: only look at what would be launched
  bool warm = false;       // operands may stay in the L2 cache
  bool control = true;     // times head's twin too
};

struct CellTiming {
  std::string variant, problem;
  std::string fault;       // why it was not measured, or may not be used; empty if it may
  bool wrong = false;      // an arm's result was wrong: `fault` says which
  Recipe recipe;           // of head; empty where it cannot be told, as for a library's kernels
  std::string cubin;       // SHA-256 of its machine code
  std::string no_recipe;   // why not
  bool unchanged = false;  // the same machine code and recipe as the stored baseline's
  std::string cause;       // what differs from the stored baseline, in words
  int launches = 0;        // in one sample
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

// In this process. Throws std::runtime_error where the harness itself cannot go on.
ProcessTiming time_here(const TimingJob&);

// Reads a job from stdin and writes what was timed to stdout: the whole of a fresh process.
int serve_timing();

// Tells how far a long measurement is: a sentence, and the share that is done, from 0 to 1.
using TimingProgress = std::function<void(const std::string& step, double done)>;

// In so many fresh processes of this program, started with `argument`, one after the other on each
// GPU; a GPU that is unfit, or another model than the first, leaves them to the others. A process
// that dies, or answers nothing for too long, leaves an `unfit` that says so.
std::vector<ProcessTiming> time_in_processes(const TimingJob&, int processes,
                                             const std::string& argument,
                                             const TimingProgress& = {}, int gpus = 1);

// How gate, bench and accept get at timings.
using TimeInProcesses = std::function<std::vector<ProcessTiming>(const TimingJob&, int processes,
                                                                 const TimingProgress&)>;
TimeInProcesses processes_started_with(const std::string& argument);

}  // namespace assay
