// What copies of many bytes share: those of pieces, and those of boxes of tensors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptx/machine/async/adds.h"
#include "ptx/machine/async/mbarrier.h"
#include "ptx/machine/warp.h"

namespace ptx {

// Tells the counter, if there is one, of bytes of global memory that a copy moves.
void count_bulk(const Op*, Warp&, std::uint64_t address, std::uint64_t bytes);

// Lets a copy be in flight to wherever in its cluster the places are: of one block, or at the same
// offsets of all that a slot names (-1: none does). False after a finding.
bool start_flights(const Op*, Warp&, int lane, std::uint64_t to, std::uint64_t barrier, int mask,
                   BulkCopy);
// The same within the block itself.
bool start_flight(const Op*, Warp&, int lane, BulkCopy);

// What a warp knows that other blocks of its cluster wrote in their own shared memory is fenced for
// such copies.
void fence_proxy_of_peers(const Warp&);
// The mbarriers of its block that a warp knows of are initialised for such copies.
void fence_mbarriers(const Warp&);
// Whether a copy that signals an mbarrier finds it initialised. False after a finding.
bool finds_mbarrier(const Op*, Warp&, int lane, Block& owner, std::uint32_t at);

// Copies up to 16 bytes of shared memory to global memory, or adds them to what is there, where
// they are in flight then. False after a finding.
bool write_out(const Op*, Warp&, int lane, std::uint64_t from, std::uint64_t to, int bytes,
               Adds adds);
// Nobody may write there until the lane has waited for its copies.
void hold_source(Warp&, int lane, std::uint64_t from, std::uint64_t bytes);

}  // namespace ptx
