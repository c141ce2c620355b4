// Arithmetic on numbers of 16 bits, one or two in a word, and conversions to them and to TF32.
#include <fmt/format.h>

#include "ptx/decode/decoder.h"
#include "ptx/machine/halves.h"
#include "ptx/machine/reals.h"

namespace ptx {
namespace {

using Kind = Operand::Kind;

bool is_half(Type t) {
  return t == Type::f16 || t == Type::f16x2 || t == Type::bf16 || t == Type::bf16x2;
}
bool is_pair(Type t) { return t == Type::f16x2 || t == Type::bf16x2; }
// The format of a type in the names of handlers.
const char* format_of(Type t) { return t == Type::f16 || t == Type::f16x2 ? "f16" : "bf16"; }

std::uint16_t flags_of(const Instruction& i) {
  return static_cast<std::uint16_t>(
      (has(i, "ftz") ? flush_denormals : 0) | (has(i, "sat") ? saturate : 0) |
      (has(i, "relu") ? clamp_below : 0) | (has(i, "satfinite") ? stays_finite : 0));
}

// -1 if no modifier is a comparison.
int comparison_of(const Instruction& i) {
  static const std::map<std::string, HalfComparison> names = {
      {"eq", HalfComparison::eq},   {"ne", HalfComparison::ne},  {"lt", HalfComparison::lt},
      {"le", HalfComparison::le},   {"gt", HalfComparison::gt},  {"ge", HalfComparison::ge},
      {"num", HalfComparison::num}, {"nan", HalfComparison::nan}};
  for (const std::string& m : i.modifiers) {
    if (const auto found = names.find(m); found != names.end())
      return static_cast<int>(found->second);
    if (m.size() != 3 || m.back() != 'u') continue;  // true for a NaN as well
    if (const auto found = names.find(m.substr(0, 2)); found != names.end())
      return static_cast<int>(found->second) | 16;
  }
  return -1;
}

}  // namespace

bool Decoder::decode_halves(const Instruction& i) {
  if (i.opcode == "setp") return is_half(type_of(i)) && decode_half_comparison(i);
  if (i.opcode == "set") return is_half(type_of(i, 1)) && decode_half_comparison(i);
  if (i.opcode == "cvt") return decode_half_conversion(i);
  const Type type = type_of(i);
  if (!is_half(type)) return false;
  std::string name = i.opcode;
  for (const std::string& m : i.modifiers)
    if (m != "rn" && m != "ftz" && m != "sat" && m != "relu" && m != name_of(type)) name += "." + m;
  const Handling* handling = handling_of(name + "." + format_of(type));
  if (handling == nullptr || std::string(handling->operands).size() != i.operands.size())
    return false;
  int operands[4] = {};
  for (std::size_t n = 0; n < i.operands.size(); ++n) operands[n] = slot(i.operands[n], false);
  Op* op = nullptr;
  switch (i.operands.size()) {
    case 2: op = &emit_table(*handling, {operands[0], operands[1]}); break;
    case 3: op = &emit_table(*handling, {operands[0], operands[1], operands[2]}); break;
    default:
      op = &emit_table(*handling, {operands[0], operands[1], operands[2], operands[3]});
      break;
  }
  op->flags |= flags_of(i);
  op->parts = is_pair(type) ? 2 : 1;
  return true;
}

// setp.lt.f16 p, a, b; setp.lt.f16x2 p|q, a, b; set.lt.u32.f16x2 d, a, b. What is combined with
// another predicate is refused: nvcc does not write it.
bool Decoder::decode_half_comparison(const Instruction& i) {
  const bool gives_number = i.opcode == "set";
  const Type type = type_of(i, gives_number ? 1 : 0), to = type_of(i);
  const int comparison = comparison_of(i);
  const std::size_t results = i.two_results ? 2 : 1;
  if (comparison < 0 || i.operands.size() != results + 2) refuse(i);
  if (is_pair(type) != i.two_results && !gives_number) refuse(i);
  const int a = slot(i.operands[results], false), b = slot(i.operands[results + 1], false);
  const auto result_of = [&](std::size_t n) {
    return i.operands[n].kind == Kind::discard ? temporary_predicate()
                                               : predicate_of(i.operands[n]);
  };
  const std::string name = i.opcode + "." + format_of(type);
  const int d = gives_number ? slot(i.operands[0], false) : result_of(0);
  const int e = i.two_results ? result_of(1) : -1;
  Op& op = emit_table(known_handling(name), {d, a, b});
  op.mode = static_cast<std::uint8_t>(comparison);
  op.flags |= flags_of(i);
  op.parts = is_pair(type) ? 2 : 1;
  op.e = e;
  if (e >= 0) out_.uses.back().predicates_written.push_back(e);
  const bool as_integer = !is_half(to) && to != Type::f32;
  op.bits = to == Type::f32                       ? 0x3f800000u
            : as_integer                          ? ~0u
            : std::string("f16") == format_of(to) ? 0x3c003c00u
                                                  : 0x3f803f80u;
  if (bytes_of(to) == 2) op.bits &= 0xffff;
  return true;
}

// cvt.rn.satfinite.e4m3x2.f32 d, a, b; cvt.rn.satfinite.e4m3x2.f16x2 d, a; cvt.rn.f16x2.e4m3x2 d,
// a.
void Decoder::decode_eight_bit_floats(const Instruction& i, const std::string& type) {
  const bool narrows = has(i, "satfinite");
  const Type other = type_of(i);
  const bool is_known = other == Type::f16x2 || (other == Type::f32 && narrows);
  const std::size_t operands = other == Type::f32 ? 3 : 2;
  if (!is_known || i.operands.size() != operands || !has(i, "rn")) refuse(i);
  const std::string name =
      narrows ? fmt::format("cvt.{}.{}", type, name_of(other)) : "cvt.f16x2." + type;
  const Handling& handling = known_handling(name);
  const int d = slot(i.operands[0], false), a = slot(i.operands[1], false, other == Type::f32);
  Op& op = operands == 3 ? emit_table(handling, {d, a, slot(i.operands[2], false, true)})
                         : emit_table(handling, {d, a});
  op.flags |= flags_of(i);
}

// Of a pair, and of what the machine's plain conversions lack.
bool Decoder::decode_half_conversion(const Instruction& i) {
  for (const char* const type : {"e4m3x2", "e5m2x2"})
    if (has(i, type)) return decode_eight_bit_floats(i, type), true;
  const Type to = type_of(i, 0), from = type_of(i, 1);
  const bool is_plain = !is_pair(to) && to != Type::tf32 && !has(i, "relu") && !has(i, "satfinite");
  if (is_plain) return false;
  if (from != Type::f32 || (!is_half(to) && to != Type::tf32))
    refuse(i, "of these types only f32 to f16, bf16 and tf32 are known");
  const int d = slot(i.operands[0], false), a = slot(i.operands[1], false, true);
  Op* op = nullptr;
  if (to == Type::tf32) {
    op = &emit_table(known_handling("cvt.tf32"), {d, a});
  } else {
    if (i.operands.size() != (is_pair(to) ? 3u : 2u)) refuse(i);
    const int b = is_pair(to) ? slot(i.operands[2], false, true) : a;
    op = &emit_table(known_handling(std::string("cvt.pair.") + format_of(to)), {d, a, b});
    op->parts = is_pair(to) ? 2 : 1;
  }
  op->flags |= flags_of(i);
  op->mode = has(i, "rz") ? to_zero : has(i, "rna") ? ties_away : to_nearest;
  return true;
}

}  // namespace ptx
