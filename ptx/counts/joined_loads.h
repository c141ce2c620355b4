// Which scalar loads of shared memory the assembler joins: two or four neighbours, from an address
// whose low bits are known, with nothing between them that may write shared memory or branch,
// become one load of 64 or 128 bits. Without that rule there would be more loads in PTX than a GPU
// executes.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/reader/module.h"

namespace ptx {

// Of an instruction: how many bytes a lane loads there, and how far before the address that it
// names itself they begin. 0 bytes: another instruction loads them. -1: not a load that is joined.
struct JoinedLoad {
  int bytes = -1;
  std::int64_t begins_before = 0;
};

// For each instruction of the body.
std::vector<JoinedLoad> joined_loads(const Function&, const Module&);

}  // namespace ptx
