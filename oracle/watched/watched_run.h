// Runs the watched build of a variant, for what its comparisons see. Judges nothing, and so costs
// little even where an operand is huge: memory that nobody touches is never made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/registry.h"
#include "oracle/case.h"
#include "simt/watch.h"

namespace assay {

using simt::Comparison;

struct SourcePlace {
  std::string file;  // empty where it is not known
  int line = 0;
};

struct WatchedRun {
  std::vector<Comparison> comparisons;              // that were reached, in the order of the code
  std::vector<SourcePlace> places;                  // of each in a kernel that nvcc compiled
  std::uint64_t calls = 0, threads = 0, stops = 0;  // calls of the watch
  bool timed_out = false;                           // after 10 s of CPU time

  // In calls of the watch, the same on any machine.
  std::uint64_t cost() const;
};

// Launches once on the executor, and ends the kernel after `most_calls` calls of the watch. A fault
// ends the run like a return. Takes an entry with a `watched_launch` and a case that it accepts. An
// operand of more than 2^40 bytes is refused: nothing is reached then. The hints are
// about its watched build.
WatchedRun watched_run(const Entry&, const Case&, std::uint64_t most_calls,
                       const simt::Hints& hints = {});

// The same of an entry for the backend `ptx`, as nvcc compiled it: what its kernels compare, and
// its launch function where that is built to be watched. Most comparisons of kernels decide no
// branch there, but what is done.
WatchedRun watched_run_of_ptx(const Entry&, const Case&, std::uint64_t most_calls,
                              const simt::Hints& hints = {});

// A hash of what its device keeps between launches, as `Machine` tells it, which this asks for
// none.
std::uint64_t hash_of_kept_memory_on_ptx();

// What a launch does there.
struct WorkOnPtx {
  std::uint64_t operations = 0;  // of warps; a slow operation counts as several
  std::uint64_t blocks = 0;      // of all its kernels
};
// None if it is refused, has a fault, or does not end within 2 s of CPU time.
std::optional<WorkOnPtx> work_on_ptx(const Entry&, const Case&);

}  // namespace assay
