// Which scalar accesses of shared memory the assembler joins: two or four neighbours, from an
// address whose low bits are known, become one load or store of 64 or 128 bits. Between them there
// may be no branch, nothing that lets others write shared memory, and, for loads, no store to it;
// for stores, no load from it and no store by another address. Without that rule there would be
// more accesses in PTX than a GPU executes.
#pragma once

#include <vector>

#include "ptx/reader/module.h"

namespace ptx {

inline constexpr int not_joined = -1;

// For each instruction of the body how many bytes a lane accesses there, as part of a joined
// access: 0 where another instruction accesses them. Where a joined access begins does not matter:
// banks turn round.
std::vector<int> joined_accesses(const Function&, const Module&);

}  // namespace ptx
