#include "ptx/decode/warpgroup/product_registers.h"

#include <algorithm>

namespace ptx {

using Kind = Operand::Kind;

bool is_group_product(const Instruction& i) {
  return i.opcode == "wgmma" && !i.modifiers.empty() && i.modifiers[0] == "mma_async";
}

bool is_plain_move(const Instruction& i) {
  return i.opcode == "mov" && i.operands.size() == 2 && i.operands[0].kind == Kind::reg &&
         i.operands[1].kind != Kind::vector;
}

std::vector<int> product_registers(const Function& f) {
  std::vector<int> number(f.registers.size(), -1);
  int count = 0;
  const auto add = [&](const Operand& o) {
    if (o.kind != Kind::reg || f.registers[static_cast<std::size_t>(o.index)].type == Type::pred)
      return false;
    int& n = number[static_cast<std::size_t>(o.index)];
    const bool is_new = n < 0;
    if (is_new) n = count++;
    return is_new;
  };
  const auto is_in = [&](const Operand& o) {
    return o.kind == Kind::reg && number[static_cast<std::size_t>(o.index)] >= 0;
  };
  std::vector<const Instruction*> moves;
  for (const Instruction& i : f.body) {
    if (is_plain_move(i)) moves.push_back(&i);
    if (!is_group_product(i)) continue;
    for (std::size_t n = 0; n < std::min<std::size_t>(i.operands.size(), 2); ++n)
      for (const Operand& o : i.operands[n].elements) add(o);
  }
  for (bool grew = count != 0; grew;) {
    grew = false;
    for (const Instruction* move : moves) {
      const Operand &to = move->operands[0], &from = move->operands[1];
      if (is_in(to)) grew |= add(from);
      if (is_in(from)) grew |= add(to);
    }
  }
  return number;
}

}  // namespace ptx
