// Special registers: who a lane is, and what it was launched with.
#pragma once

#include <cstdint>
#include <string>

#include "ptx/machine/warp.h"

namespace ptx {

// The bits of "%tid.x" and the like; of "param:8" the address of a parameter.
std::uint64_t special(const Warp&, int lane, const std::string& name);

}  // namespace ptx
