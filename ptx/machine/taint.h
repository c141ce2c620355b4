// Follows values that nobody wrote, or not all bits of. Reading one, moving it and computing with
// it is no fault; it is one to go by it: where to go on, where to read or write, or what to leave
// in global memory. What was shifted out or masked away by then is not gone by: see bits/rules.h.
#pragma once

#include "ptx/machine/block.h"

namespace ptx {

// Called before an operation of a warp that holds such values. False after a finding.
bool follow_taint(const Op*, Warp&);

// That a lane changes in place what it last read that nobody wrote. False after a finding.
bool changes_unwritten(const Op*, Warp&, int lane);

// Whether a lane has no value there that nobody wrote, which it would leave in memory that others
// see. A finding if it has.
bool leaves_what_was_written(const Op*, Warp&, int lane, int slot);

// That a lane's value lacks these bits of what the warp last read, or none.
void mark_unwritten(Warp&, int slot, int lane, std::uint64_t bits);

}  // namespace ptx
