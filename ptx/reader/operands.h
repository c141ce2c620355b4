// The operands of an instruction.
#pragma once

#include "ptx/reader/lexer.h"
#include "ptx/reader/module.h"
#include "ptx/reader/names.h"

namespace ptx {

class Operands {
 public:
  Operands(Lexer& in, Names& names, const Function& function)
      : in_(in), names_(names), function_(function) {}

  // Up to the ";", which stays there.
  void read(Instruction&);
  // Of a guard: "%p1" or "!%p1"
  Operand read_register();

 private:
  void read_plain(Instruction&);
  void read_call(Instruction&);
  void read_branch(Instruction&);
  void read_list_of(std::vector<Operand>&, std::string_view end);

  Operand read_operand();
  Operand read_scalar();
  Operand read_address();
  Operand read_vector();
  Operand read_word();
  Operand read_number();

  Lexer& in_;
  Names& names_;
  const Function& function_;
};

}  // namespace ptx
