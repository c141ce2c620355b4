// Trials of problems that are far too large for the memory of a computer, on the PTX machine: some
// blocks of each large grid are run, on operands that cost only what is touched of them.
#pragma once

#include <cstdint>

#include "oracle/verdict.h"

namespace assay {

struct Case;
struct Entry;

// How much memory of the device a launch has at hand: its workspace, what it allocates, and what was
// allocated before and kept. Nothing is run.
std::int64_t memory_of_launch(const Entry&, const Case&);

// Refused where the blocks that were run say nothing: they depend on others, or take too long.
Verdict run_vast_trial(const Entry&, const Case&);

}  // namespace assay
