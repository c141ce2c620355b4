// Registers that products of warpgroups (wgmma) read or write on their own time, and those that
// moves connect with them: a compiler may have copied one before its product is there.
#pragma once

#include <vector>

#include "ptx/reader/module.h"

namespace ptx {

bool is_group_product(const Instruction&);
// Between two single registers, or of a constant into one.
bool is_plain_move(const Instruction&);
// Of each register its number among them, from 0 on; -1: it is none.
std::vector<int> product_registers(const Function&);

}  // namespace ptx
