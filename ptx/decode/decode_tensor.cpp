// Matrices of a warp: mma, wmma, ldmatrix, stmatrix and movmatrix.
#include <fmt/format.h>

#include <cstdio>

#include "ptx/decode/decoder.h"

namespace ptx {
namespace {

using Kind = Operand::Kind;

std::vector<Operand> parts_of(const Operand& o) {
  return o.kind == Kind::vector ? o.elements : std::vector<Operand>{o};
}
bool is_in_shared(const Instruction& i) { return has(i, "shared") || has(i, "shared::cta"); }

Extents extents_of(const Instruction& i) {
  Extents s;
  for (const std::string& m : i.modifiers)
    if (std::sscanf(m.c_str(), "m%dn%dk%d", &s.m, &s.n, &s.k) == 3) return s;
  return {};
}

struct Types {
  Type d = Type::none, a = Type::none, b = Type::none, c = Type::none;
};
Types types_of(const Instruction& i) {
  if (type_of(i, 2) == Type::none) return {type_of(i, 0), Type::f16, Type::f16, type_of(i, 1)};
  return {type_of(i, 0), type_of(i, 1), type_of(i, 2), type_of(i, 3)};
}

// What nvcc and authors write, and this machine knows.
bool is_known(bool is_wmma, const Extents& s, const Types& t) {
  const std::string shape = fmt::format("m{}n{}k{}", s.m, s.n, s.k);
  const auto is = [&](std::initializer_list<const char*> shapes) {
    return std::find(shapes.begin(), shapes.end(), shape) != shapes.end();
  };
  const auto is_sum = [](Type type) { return type == Type::f16 || type == Type::f32; };
  const bool is_16 =
      is_wmma ? is({"m16n16k16", "m32n8k16", "m8n32k16"}) : is({"m16n8k8", "m16n8k16"});
  if (t.a == Type::f16) return t.b == t.a && is_sum(t.c) && is_sum(t.d) && is_16;
  if (t.c != t.d) return false;
  if (t.a == Type::bf16) return t.b == t.a && t.c == Type::f32 && is_16;
  if (t.a == Type::tf32)
    return t.b == t.a && t.c == Type::f32 &&
           (is_wmma ? is({"m16n16k8"}) : is({"m16n8k4", "m16n8k8"}));
  if (t.a == Type::f64)
    return t.b == t.a && t.c == t.a &&
           (is_wmma ? is({"m8n8k4"}) : is({"m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"}));
  if (is_eight_bit_float(t.a))
    return is_eight_bit_float(t.b) && t.c == Type::f32 && !is_wmma && is({"m16n8k32"});
  return is_byte(t.a) && is_byte(t.b) && t.c == Type::s32 &&
         (is_wmma ? is_16 : is({"m8n8k16", "m16n8k16", "m16n8k32"}));
}

}  // namespace

bool Decoder::decode_tensor(const Instruction& i) {
  const std::string& op = i.opcode;
  if (op == "ldmatrix" || op == "stmatrix")
    decode_matrix_move(i);
  else if (op == "movmatrix")
    emit_table(known_handling("movmatrix"),
               {slot(i.operands[0], false), slot(i.operands[1], false)});
  else if (op == "mma" || (op == "wmma" && has(i, "mma")))
    decode_multiply(i);
  else if (op == "wmma")
    decode_fragment_move(i);
  else if (op == "wgmma")
    decode_warpgroup(i);
  else
    return false;
  return true;
}

void Decoder::decode_matrix_move(const Instruction& i) {
  const bool is_store = i.opcode == "stmatrix";
  if (!has(i, "m8n8") || type_of(i) != Type::b16) refuse(i, "only m8n8 of b16 is known");
  const std::vector<Operand> values = parts_of(i.operands[is_store ? 1 : 0]);
  std::vector<int> slots;
  for (const Operand& value : values) slots.push_back(slot(value, false));
  Uses uses;
  (is_store ? uses.reads : uses.writes) = slots;
  Op address;
  Space space = Space::shared;
  set_address(i.operands[is_store ? 0 : 1], address, space, uses);
  Op& op = emit_named(i.opcode + (is_in_shared(i) ? ".shared" : ""), uses);
  op.a = address.a, op.bits = address.bits;
  op.flags = static_cast<std::uint16_t>(address.flags | (is_store ? stores : loads));
  op.mode = has(i, "trans") ? 1 : 0;
  op.parts = static_cast<std::uint8_t>(slots.size());
  op.d = slots[0];
  if (slots.size() > 1) op.d = list(slots);
}

int Decoder::list(const std::vector<int>& slots) {
  const int first = static_cast<int>(out_.lists.size());
  out_.lists.insert(out_.lists.end(), slots.begin(), slots.end());
  return first;
}

Fragment Decoder::fragment(const Instruction& i, const Operand& o, Role role, Type type,
                           std::vector<int>& used) {
  const std::vector<Operand> registers = parts_of(o);
  const bool wide = type == Type::f64;
  std::vector<int> slots;
  for (const Operand& r : registers) slots.push_back(slot(r, wide, type == Type::f32 || wide));
  const auto make = i.opcode == "mma" ? fragment_of_mma : fragment_of_wmma;
  Fragment f = make(role, extents_of(i), type, static_cast<int>(slots.size()));
  const std::size_t elements = f.at.size(), count = static_cast<std::size_t>(f.count());
  const bool may_repeat = i.opcode == "wmma" && role != Role::sum;
  if (elements != count && !(may_repeat && elements % count == 0))
    refuse(i, fmt::format("{} registers cannot hold {} elements", slots.size(), count));
  f.list = list(slots);
  used.insert(used.end(), slots.begin(), slots.end());
  return f;
}

void Decoder::decode_multiply(const Instruction& i) {
  const Extents shape = extents_of(i);
  const Types t = types_of(i);
  const bool is_plain = !has(i, "sp") && !has(i, "sp::ordered_metadata") &&
                        !has(i, "block_scale") &&
                        (has(i, "row") && has(i, "col")) | (i.opcode == "wmma");
  if (!is_plain || i.operands.size() != 4 || !is_known(i.opcode == "wmma", shape, t))
    refuse(i,
           "of matrices whole ones of f16, bf16, tf32, f64, e4m3, e5m2, s8 and u8 are known, in "
           "shapes from sm_75 on");
  MatrixOp o;
  Uses uses;
  o.d = fragment(i, i.operands[0], Role::sum, t.d, uses.writes);
  o.a = fragment(i, i.operands[1], Role::a, t.a, uses.reads);
  o.b = fragment(i, i.operands[2], Role::b, t.b, uses.reads);
  o.c = fragment(i, i.operands[3], Role::sum, t.c, uses.reads);
  o.saturates = has(i, "satfinite");
  Op& op = emit_named(t.a == Type::f64   ? "mma.f64"
                      : t.c == Type::s32 ? "mma.s32"
                                         : "mma.f32",
                      uses);
  op.flags |= tells_taint;
  op.e = static_cast<int>(out_.matrices.size());
  out_.matrices.push_back(std::move(o));
}

// wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {...}, [address], stride;
void Decoder::decode_fragment_move(const Instruction& i) {
  const bool is_store = has(i, "store");
  const Role role = has(i, "a") ? Role::a : has(i, "b") ? Role::b : Role::sum;
  const Type type = type_of(i);
  const Extents shape = extents_of(i);
  Types t{type, type, type, type};
  if (role == Role::sum)
    t.a = t.b = type == Type::s32 ? Type::s8 : type == Type::f64 ? type : Type::f16;
  if (role == Role::sum && shape.k == 8) t.a = t.b = Type::tf32;
  if (role != Role::sum && type != Type::f64)
    t.c = t.d = type == Type::s8 || type == Type::u8 ? Type::s32 : Type::f32;
  if (!is_known(true, shape, t)) refuse(i, "this shape of this type is not known");
  MatrixOp o;
  Uses uses;
  o.d = fragment(i, i.operands[is_store ? 1 : 0], role, type, is_store ? uses.reads : uses.writes);
  o.by_columns = has(i, "col");
  o.element_bytes = type == Type::tf32 ? 4 : bytes_of(type);
  if (i.operands.size() > 2) {
    o.stride = slot(i.operands[2], false);
    uses.reads.push_back(o.stride);
  }
  Op address;
  Space space = has(i, "global") ? Space::global : Space::shared;
  set_address(i.operands[is_store ? 0 : 1], address, space, uses);
  if (address.bits != 0 && address.a >= 0) {  // Op::bits is taken
    const bool wide = (address.flags & address_is_wide) != 0;
    const int sum = temporary(wide);
    emit_table(known_handling(wide ? "add.u64" : "add.u32"),
               {sum, address.a, constant(address.bits, wide)});
    address.a = uses.address = sum;
  } else if (address.a < 0) {
    address.a = constant(address.bits, true);
    address.flags |= address_is_wide;
  }
  Op& op =
      emit_named(std::string(is_store ? "wmma.store" : "wmma.load") + (has(i, "global")  ? ".global"
                                                                       : is_in_shared(i) ? ".shared"
                                                                                         : ""),
                 uses);
  op.a = address.a;
  op.flags = static_cast<std::uint16_t>(address.flags | (is_store ? stores : loads));
  op.e = static_cast<int>(out_.matrices.size());
  out_.matrices.push_back(std::move(o));
}

}  // namespace ptx
