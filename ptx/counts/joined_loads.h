// Which scalar loads of shared memory the assembler joins: two or four neighbours, from an address
// whose low bits are known, with nothing between them that may write shared memory or branch,
// become one load of 64 or 128 bits. Without that rule there would be more loads in PTX than a GPU
// executes.
#pragma once

#include <vector>

#include "ptx/reader/module.h"

namespace ptx {

inline constexpr int not_joined = -1;

// For each instruction of the body how many bytes a lane loads there, as part of a joined load: 0
// where another instruction loads them. Where a joined load begins does not matter: banks turn
// round.
std::vector<int> joined_loads(const Function&, const Module&);

}  // namespace ptx
