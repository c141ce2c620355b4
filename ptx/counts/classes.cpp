#include "ptx/counts/classes.h"

#include <algorithm>
#include <initializer_list>

#include "ptx/decode/decoder.h"

namespace ptx {
namespace {

bool is_one_of(const std::string& word, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(), [&](const char* one) { return word == one; });
}

// The first of a real type that is named.
std::string real_type(const Instruction& i) {
  for (const std::string& m : i.modifiers)
    if (is_one_of(m, {"f32", "f64", "f16", "f16x2", "bf16", "bf16x2", "f32x2"})) return m;
  return "";
}

std::string memory_class(const Instruction& i) {
  const std::string op = i.opcode == "ldu" ? "ld" : i.opcode == "red" ? "atom" : i.opcode;
  switch (space_of_access(i)) {
    case Space::generic: return op + ".generic";
    case Space::global: return op + ".global";
    case Space::shared: return op + ".shared";
    case Space::local: return op + ".local";
    case Space::param: return op + ".param";
    case Space::constant: return op + ".const";
  }
  return op;
}

}  // namespace

Space space_of_access(const Instruction& i) {
  for (const std::string& m : i.modifiers) {
    if (m == "global") return Space::global;
    if (m.starts_with("shared")) return Space::shared;
    if (m == "local") return Space::local;
    if (m.starts_with("param")) return Space::param;
    if (m == "const") return Space::constant;
  }
  return Space::generic;
}

int element_bytes(const Instruction& i) { return bytes_of(type_of(i)); }

std::string class_of(const Instruction& i) {
  const std::string& op = i.opcode;
  const std::string real = real_type(i);
  if (is_one_of(op, {"ld", "ldu", "st", "atom", "red"})) return memory_class(i);
  if (op == "cp") return "copy";
  if (op == "ldmatrix") return "ld.shared";
  if (op == "stmatrix") return "st.shared";
  if (is_one_of(op, {"mma", "wmma", "wgmma"})) return "matrix";
  if (is_one_of(op, {"cvt", "cvta"})) return "convert";
  if (op == "mov") return "move";
  if (is_one_of(op, {"setp", "set", "selp", "slct"})) return "compare";
  if (is_one_of(op, {"bra", "brx", "ret", "exit", "call", "trap", "brkpt"})) return "branch";
  if (is_one_of(op, {"bar", "barrier"}))
    return !i.modifiers.empty() && i.modifiers[0] == "warp" ? "warp" : "barrier";
  if (is_one_of(op, {"shfl", "vote", "match", "redux", "elect", "activemask"})) return "warp";
  if (is_one_of(op, {"fence", "membar"})) return "fence";
  if (!real.empty()) {
    if (is_one_of(op, {"fma", "mad"})) return "fma." + real;
    if (is_one_of(op, {"rcp", "sqrt", "rsqrt", "sin", "cos", "ex2", "lg2", "tanh", "div"}))
      return "special." + real;
    return "arithmetic." + real;
  }
  if (is_one_of(op, {"and", "or", "xor", "not", "cnot", "shl", "shr", "shf", "lop3", "bfe", "bfi",
                     "bfind", "popc", "clz", "brev", "fns", "prmt", "bmsk", "szext"}))
    return "bits";
  if (is_one_of(op, {"add", "addc", "sub", "subc", "mul", "mul24", "mad", "mad24", "madc", "sad",
                     "div", "rem", "abs", "neg", "min", "max", "dp4a", "dp2a"}))
    return "integer";
  return op;
}

}  // namespace ptx
