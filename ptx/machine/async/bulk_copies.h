// The two halves of a copy of many bytes into shared memory, which tensor copies share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptx/machine/async/mbarrier.h"
#include "ptx/machine/warp.h"

namespace ptx {

// Appends bytes of global memory. False after a finding.
bool read_into(const Op*, Warp&, int lane, std::uint64_t from, std::size_t bytes, BulkCopy&);
// Looks at the target, and lets it be in flight. False after a finding.
bool start_flight(const Op*, Warp&, int lane, BulkCopy);

}  // namespace ptx
