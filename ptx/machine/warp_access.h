// What loads and stores of whole warps share.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "ptx/machine/access.h"

namespace ptx {

inline int slot_of_part(const Op* op, const Warp& w, int part) {
  return op->parts == 1 ? op->d : w.lists[op->d + part];
}
}  // namespace ptx
