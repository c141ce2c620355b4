// Special registers: who a lane is, and what it was launched with.
#pragma once

#include <cstdint>
#include <string_view>

#include "ptx/machine/warp.h"

namespace ptx {

struct Special {
  std::string_view name;     // "%tid.x"
  bool is_of_block = false;  // each block has its own, while a warp goes from block to block
  std::uint64_t (*value)(const Warp&, unsigned lane, std::uint64_t at) = nullptr;
};
// One whose value is 0 if nothing here has that name.
const Special& special_named(std::string_view);
// The address of byte `at` of the parameters.
extern const Special address_of_param;

}  // namespace ptx
