// Calls a variant's launch function without running a kernel, a million times a second: for what it
// compares, where it is built to be watched. Operands are addresses that nobody may touch.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "kernels/registry.h"
#include "oracle/case.h"
#include "simt/watch.h"

namespace assay {

struct DryLaunch {
  Case c;
  bool adjoining = false;      // B begins where A ends, and C where B does
  std::optional<int> refused;  // the launch of several that fails, counted from 0
  bool captured = false;       // on the machine: into a graph, which is launched then
  bool operator==(const DryLaunch&) const = default;
};

struct Dry {
  bool accepted = false;  // by its needs; else nothing was called
  bool too_long = false;  // it was ended
  bool at_fault = false;  // it touched an operand, or divided by zero
  bool gave_up = false;   // it returned an error
  // A launch of it, by the device, as none could be there; or it returned an error though nothing
  // was refused on purpose, nor lacked memory.
  bool fails = false;
  // Equal for equal sides of the same comparisons, the same kernels, and a like number of tiles for
  // each block.
  std::uint64_t path = 0;
  bool took_new_side = false;  // of a comparison
  std::uint64_t kernels = 0;   // equal for the same ones, however often each is launched
  std::map<const void*, std::uint64_t> blocks_of;  // of each
  std::uint64_t blocks = 0;                        // of all of them
  // Equal where the same kernels would run, in grids of the same size, with the same arguments.
  std::uint64_t launched = 0;
  std::uint64_t cost = 0;  // in calls of the watch, the same on any machine
};

class DryLaunches {
 public:
  // Takes an entry with a `watched_launch`, or one for the backend `ptx`.
  DryLaunches(const Entry&, const simt::Hints&);

  Dry launch(const DryLaunch&);
  // Of all launches.
  std::vector<simt::Comparison> comparisons() const { return watch_.comparisons(); }
  // The same launch again, and what it alone compares.
  std::vector<simt::Comparison> compared_in(const DryLaunch&);

 private:
  Dry launch(const DryLaunch&, simt::Watch&);

  const Entry& entry_;
  const simt::Hints hints_;
  simt::Watch watch_;
};

}  // namespace assay
