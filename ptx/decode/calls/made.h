// Instructions and operands that flattening makes, and what it changes of those that it copies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "ptx/reader/reader.h"

namespace ptx {

using Names = std::map<std::string, std::string>;

inline Operand reg(int index) { return {.kind = Operand::Kind::reg, .index = index}; }
inline Operand number(std::uint64_t bits) { return {.kind = Operand::Kind::integer, .bits = bits}; }
// An instruction that stands where another one did.
inline Instruction like(const Instruction& i, const char* opcode) {
  Instruction made;
  made.opcode = opcode;
  made.place = i.place;
  made.line = i.line;
  return made;
}

inline bool has_label(const Instruction& i) {
  return std::any_of(i.operands.begin(), i.operands.end(),
                     [](const Operand& o) { return o.kind == Operand::Kind::label; });
}

inline void rename(Operand& o, int registers, const Names& names) {
  using Kind = Operand::Kind;
  if ((o.kind == Kind::reg || o.kind == Kind::address) && o.index >= 0) o.index += registers;
  if (o.kind == Kind::symbol || o.kind == Kind::address) {
    if (const auto at = names.find(o.text); at != names.end()) o.text = at->second;
  }
  for (Operand& element : o.elements) rename(element, registers, names);
}

}  // namespace ptx
