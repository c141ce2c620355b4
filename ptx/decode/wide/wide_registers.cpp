#include "ptx/decode/wide/wide_registers.h"

#include <map>

namespace ptx {
namespace {

using Upper = std::map<int, int>;  // the half of each register of 128 bits

Operand half(const Operand& whole, int index) {
  Operand one = whole;
  one.index = index;
  return one;
}

void split(Operand& o, const Upper& upper) {
  const auto found = o.kind == Operand::Kind::reg ? upper.find(o.index) : upper.end();
  if (found == upper.end()) {
    for (Operand& element : o.elements) split(element, upper);
    return;
  }
  Operand both;
  both.kind = Operand::Kind::vector;
  both.elements = {half(o, o.index), half(o, found->second)};
  o = both;
}

}  // namespace

Function with_halves(Function f) {
  Upper upper;
  const std::size_t count = f.registers.size();
  for (std::size_t r = 0; r < count; ++r) {
    if (f.registers[r].type != Type::b128) continue;
    f.registers[r].type = Type::b64;
    upper[static_cast<int>(r)] = static_cast<int>(f.registers.size());
    f.registers.push_back({f.registers[r].name + " above", Type::b64});
  }
  if (upper.empty()) return f;
  for (Instruction& i : f.body)
    for (Operand& o : i.operands) split(o, upper);
  return f;
}

}  // namespace ptx
