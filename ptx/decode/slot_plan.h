// Which slots the registers of a function take. Registers that are never alive at the same time
// share a slot: a kernel that declares thousands then stays within a processor's caches.
#pragma once

#include <vector>

#include "ptx/reader/module.h"

namespace ptx {

// What an instruction reads and writes. A guarded instruction also reads what it writes.
struct Access {
  std::vector<int> reads, writes;  // registers
};
Access access_of(const Instruction&);

struct SlotPlan {
  std::vector<int> slot;      // of each register, or its number as a predicate; -1: unused
  std::vector<bool> is_read;  // each register, anywhere
  int slots = 0, predicates = 0;
  // Of a register that a product of a warpgroup touches, or moves connect with such, its number
  // among them; else -1. They share no slots: until somebody waits, nobody knows when one is free.
  std::vector<int> product_register;
  int product_registers = 0;
  std::vector<int> unset;  // registers that may be read before they are written
  int sums = 0;  // real numbers that a loop needs again in its next round, in registers of 32 bits
};
SlotPlan plan_slots(const Function&);

}  // namespace ptx
