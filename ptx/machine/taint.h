// Follows values that nobody wrote. Reading one, moving it and computing with it is no fault; it is
// one to go by it: where to go on, where to read or write, or what to leave in global memory.
#pragma once

#include "ptx/machine/block.h"

namespace ptx {

// Called before an operation of a warp that holds such values. False after a finding.
bool follow_taint(const Op*, Warp&);

// That a lane changes in place what it last read that nobody wrote. False after a finding.
bool changes_unwritten(const Op*, Warp&, int lane);

// That the values of some lanes come from what the warp last read that nobody wrote.
void remember_origin(Warp&, int slot, std::uint32_t lanes);

// That a word of shared memory gets such a value: nobody has written it, as far as its readers go.
void remember_where_it_went(Warp&, int slot, int lane, std::uint64_t address);

}  // namespace ptx
