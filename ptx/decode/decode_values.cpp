// Arithmetic, moves, conversions, predicates, and what the lanes of a warp exchange.
#include <fmt/format.h>

#include "ptx/decode/decoder.h"
#include "ptx/machine/halves.h"
#include "ptx/machine/reals.h"

namespace ptx {
namespace {

using Kind = Operand::Kind;

bool is_real(Type t) { return t == Type::f32 || t == Type::f64; }
const char* bits_name(Type t) {
  const int bytes = bytes_of(t);
  return bytes == 8 ? "b64" : bytes == 2 ? "b16" : bytes == 1 ? "b16" : "b32";
}
int rounding_of(const Instruction& i) {
  if (has(i, "rz") || has(i, "rzi")) return to_zero;
  if (has(i, "rm") || has(i, "rmi")) return downwards;
  if (has(i, "rp") || has(i, "rpi")) return upwards;
  return to_nearest;
}
std::uint8_t real_flags_of(const Instruction& i) {
  return static_cast<std::uint8_t>((has(i, "ftz") ? flush_denormals : 0) |
                                   (has(i, "sat") ? saturate : 0));
}
bool changes_nothing(const std::string& modifier) {
  return modifier == "rn" || modifier == "ftz" || modifier == "sat" || modifier == "rz" ||
         modifier == "rm" || modifier == "rp";
}
std::string joined(const Instruction& i) {
  std::string name = i.opcode;
  for (const std::string& m : i.modifiers)
    if (!changes_nothing(m)) name += "." + m;
  return name;
}

constexpr std::uint16_t a_negated = 1 << 12, b_negated = 1 << 13, choice_negated = 1 << 14;
enum PredicateMode { and_mode, or_mode, xor_mode, not_mode, copy_mode, yes_mode, no_mode };

}  // namespace

bool Decoder::decode_moves(const Instruction& i) {
  if (i.opcode == "cvt") {
    decode_conversion(i);
    return true;
  }
  if (i.opcode != "mov") return false;
  const Type type = type_of(i);
  if (type == Type::pred) {
    Uses uses{.predicates_written = {predicate_of(i.operands[0])}};
    Op op;
    if (i.operands[1].kind == Kind::special) {  // %is_explicit_cluster
      emit_table(known_handling("setp.ne.u32"),
                 {uses.predicates_written[0], slot(i.operands[1], false), constant(0, false)});
      return true;
    }
    if (i.operands[1].kind == Kind::integer) {
      op.mode = i.operands[1].bits != 0 ? yes_mode : no_mode;
    } else {
      op.a = predicate(i.operands[1], a_negated, op);
      op.mode = copy_mode;
      uses.predicates_read = {op.a};
    }
    Op& move = emit_named("predicate", uses);
    move.mode = op.mode, move.flags = op.flags, move.a = op.a, move.b = -1;
    move.d = uses.predicates_written[0];
  } else if (i.operands[0].kind == Kind::vector || i.operands[1].kind == Kind::vector) {
    decode_packing(i);
  } else {
    const bool wide = bytes_of(type) == 8;
    if (bytes_of(type) > 8) refuse(i);
    const int d = slot(i.operands[0], wide);
    if (i.operands[1].kind == Kind::special && (i.operands[1].text.starts_with("%clock") ||
                                                i.operands[1].text.starts_with("%globaltimer"))) {
      emit_table(known_handling(wide ? "clock.b64" : "clock.b32"), {d});
      return true;
    }
    const int a = slot(i.operands[1], wide, is_real(type));
    emit_table(known_handling(std::string("mov.") + bits_name(type)), {d, a});
  }
  return true;
}

// mov.b64 d, {low, high} and mov.b64 {low, high}, a; also of 32 bits in 16-bit halves.
void Decoder::decode_packing(const Instruction& i) {
  const int bytes = bytes_of(type_of(i));
  const bool packs = i.operands[1].kind == Kind::vector;
  const Operand& vector = i.operands[packs ? 1 : 0];
  const Operand& whole = i.operands[packs ? 0 : 1];
  const bool wide = bytes == 8;
  if (bytes == 16) return decode_pair(i);
  const int parts = static_cast<int>(vector.elements.size()), bits = bytes * 8 / parts;
  const std::string b = wide ? "b64" : "b32", u = wide ? "u64" : "u32";
  const std::string part = bits == 32 ? "u32" : bits == 16 ? "u16" : "u8";
  const auto shift = [&](int n) { return constant(static_cast<std::uint64_t>(n * bits), false); };
  if (packs) {
    int sum = -1;
    for (int n = 0; n < parts; ++n) {
      const int value = temporary(wide);
      emit_table(known_handling("cvt." + u + "." + part),
                 {value, slot(vector.elements[static_cast<std::size_t>(n)], false)});
      if (n > 0) emit_table(known_handling("shl." + b), {value, value, shift(n)});
      const int next = temporary(wide);
      if (n > 0) emit_table(known_handling("or." + b), {next, sum, value});
      sum = n > 0 ? next : value;
    }
    emit_table(known_handling("mov." + b), {slot(whole, wide), sum});
  } else {
    const int from = temporary(wide);
    emit_table(known_handling("mov." + b), {from, slot(whole, wide)});
    for (int n = 0; n < parts; ++n) {
      const Operand& to = vector.elements[static_cast<std::size_t>(n)];
      if (to.kind == Kind::discard) continue;
      const int moved = temporary(wide);
      emit_table(known_handling("shr." + u), {moved, from, shift(n)});
      const int cut = temporary(false);
      emit_table(known_handling(wide ? "cvt.u32.u64" : "mov.b32"), {cut, moved});
      emit_table(known_handling("cvt.u32." + part), {slot(to, false), cut});
    }
  }
}

// mov.b128, of which each side is two registers of 64 bits.
void Decoder::decode_pair(const Instruction& i) {
  const auto &to = i.operands[0].elements, &from = i.operands[1].elements;
  if (to.size() != 2 || from.size() != 2) refuse(i);
  for (std::size_t n = 0; n < 2; ++n)
    if (to[n].kind != Kind::discard)
      emit_table(known_handling("mov.b64"), {slot(to[n], true), slot(from[n], true)});
}

void Decoder::decode_conversion(const Instruction& i) {
  const Type to = type_of(i, 0), from = type_of(i, 1);
  const auto known = [](Type t) {
    return (bytes_of(t) >= 1 && bytes_of(t) <= 8) && t != Type::f16x2 && t != Type::bf16x2 &&
           t != Type::tf32 && t != Type::b8 && t != Type::b16 && t != Type::b32 && t != Type::b64;
  };
  if (!known(to) || !known(from) || i.operands.size() != 2 || has(i, "relu")) refuse(i);
  const bool to_wide = bytes_of(to) == 8, from_wide = bytes_of(from) == 8;
  // A register wider than the type holds its value extended.
  const bool extends = !to_wide && is_wide(i.operands[0]);
  const int a = slot(i.operands[1], from_wide, is_real(from));
  int source = a;
  if (!from_wide && is_register(i.operands[1]) && is_wide(i.operands[1])) {
    source = temporary(false);
    emit_table(known_handling("cvt.u32.u64"), {source, a});
  }
  const int d = extends ? temporary(false) : slot(i.operands[0], to_wide);
  const auto is_some_real = [](Type t) { return is_real(t) || t == Type::f16 || t == Type::bf16; };
  const Handling* resize = handling_of(fmt::format("cvt.{}.{}", name_of(to), name_of(from)));
  if (to == Type::f32 && from == Type::bf16 && !has(i, "sat") && !has(i, "ftz")) {
    emit_table(known_handling("shl.b32"), {d, source, constant(16, false)});  // a NaN goes through
  } else if (to == Type::f32 && from == Type::f32 && i.modifiers.size() == 2) {
    emit_table(known_handling("mov.b32"), {d, source});
  } else if (!is_some_real(to) && !is_some_real(from) && !has(i, "sat") && resize != nullptr) {
    emit_table(*resize, {d, source});
  } else {
    const bool to_integral = is_some_real(to) && is_some_real(from) &&
                             (has(i, "rni") || has(i, "rzi") || has(i, "rmi") || has(i, "rpi"));
    Op& op = emit_named("cvt", {.reads = {source}, .writes = {d}});
    op.d = d, op.a = source;
    op.bits = Conversion{from, to, static_cast<std::uint8_t>(rounding_of(i)), real_flags_of(i),
                         to_integral}
                  .to_bits();
  }
  if (extends) {
    const bool is_signed = to == Type::s8 || to == Type::s16 || to == Type::s32;
    emit_table(known_handling(is_signed ? "cvt.s64.s32" : "cvt.u64.u32"),
               {slot(i.operands[0], true), d});
  }
}

bool Decoder::decode_predicates(const Instruction& i) {
  const std::string& op = i.opcode;
  if (op == "setp" || op == "set" || op == "testp") {
    decode_comparison(i);
    return true;
  }
  const Type type = type_of(i);
  if (op == "selp") {
    const bool wide = bytes_of(type) == 8;
    const int d = slot(i.operands[0], wide), a = slot(i.operands[1], wide, is_real(type)),
              b = slot(i.operands[2], wide, is_real(type));
    Op choice;
    const int p = predicate(i.operands[3], choice_negated, choice);
    emit_table(known_handling(wide ? "selp.b64" : "selp.b32"), {d, a, b, p}).flags |=
        static_cast<std::uint16_t>(choice.flags | selects);
    return true;
  }
  if (type != Type::pred || (op != "and" && op != "or" && op != "xor" && op != "not")) return false;
  Op logic;
  logic.b = -1;
  Uses uses;
  const auto take = [&](std::size_t n, std::uint16_t negated) {
    if (i.operands[n].kind == Kind::integer) {  // -1 is true, 0 is false
      const int made = temporary_predicate();
      Op& set = emit_named("predicate", {.predicates_written = {made}});
      set.d = made, set.a = set.b = -1;
      set.mode = i.operands[n].bits != 0 ? yes_mode : no_mode;
      return made;
    }
    return predicate(i.operands[n], negated, logic);
  };
  logic.a = take(1, a_negated);
  uses.predicates_read = {logic.a};
  if (op != "not") {
    logic.b = take(2, b_negated);
    uses.predicates_read.push_back(logic.b);
  }
  uses.predicates_written = {predicate_of(i.operands[0])};
  Op& made = emit_named("predicate", uses);
  made.d = uses.predicates_written[0];
  made.a = logic.a, made.b = logic.b, made.flags = logic.flags;
  made.mode = op == "and" ? and_mode : op == "or" ? or_mode : op == "xor" ? xor_mode : not_mode;
  return true;
}

// setp.lt.and.f32 p|q, a, b, c: p = (a < b) and c, q = !(a < b) and c. set gives a number instead.
void Decoder::decode_comparison(const Instruction& i) {
  const bool gives_number = i.opcode == "set";
  const Type type = gives_number ? type_of(i, 1) : type_of(i);
  int logic = -1;
  for (const auto& [word, mode] : {std::pair{"and", and_mode}, {"or", or_mode}, {"xor", xor_mode}})
    if (has(i, word)) logic = mode;
  std::string name = i.opcode == "testp" ? "testp." : "setp.";
  for (const std::string& m : i.modifiers) {
    const bool is_comparison = m != "and" && m != "or" && m != "xor" && m != "ftz" &&
                               type_of({.modifiers = {m}}) == Type::none;
    if (is_comparison) name += m + ".";
  }
  const Handling* handling = handling_of(name + name_of(type));
  if (handling == nullptr) refuse(i);
  const std::size_t results = i.two_results ? 2 : 1;
  const bool wide = bytes_of(type) == 8;
  int a = slot(i.operands[results], wide, is_real(type));
  int b = i.opcode == "testp" ? a : slot(i.operands[results + 1], wide, is_real(type));
  if (has(i, "ftz") && type == Type::f32) {
    for (int* operand : {&a, &b}) {  // -0 added, denormals become zeros and all else stays
      const int flushed = temporary(false);
      Op& op =
          emit_table(known_handling("add.f32!"), {flushed, *operand, constant(0x80000000u, false)});
      op.flags |= flush_denormals;
      *operand = flushed;
    }
  }
  const auto result = [&](std::size_t n) {
    return gives_number || i.operands[n].kind == Kind::discard ? temporary_predicate()
                                                               : predicate_of(i.operands[n]);
  };
  const int p = result(0);
  const int compared = logic < 0 && !i.two_results ? p : temporary_predicate();
  emit_table(*handling, {compared, a, b});
  const auto combine = [&](int to, bool negated) {
    Op op;
    op.flags = negated ? a_negated : 0;
    int c = -1;
    if (logic >= 0) c = predicate(i.operands[results + 2], b_negated, op);
    Uses uses{.predicates_read = {compared}, .predicates_written = {to}};
    if (c >= 0) uses.predicates_read.push_back(c);
    Op& made = emit_named("predicate", uses);
    made.d = to, made.a = compared, made.b = c, made.flags = op.flags;
    made.mode = static_cast<std::uint8_t>(logic < 0 ? static_cast<int>(copy_mode) : logic);
  };
  if (compared != p) {
    // q first: p may be the predicate that c is.
    const int q = i.two_results ? result(1) : -1;
    if (q >= 0 && logic < 0)
      combine(q, true);
    else if (q >= 0) {
      const int kept = temporary_predicate();
      combine(kept, true);
      combine(p, false);
      Op& move = emit_named("predicate", {.predicates_read = {kept}, .predicates_written = {q}});
      move.d = q, move.a = kept, move.b = -1, move.mode = copy_mode;
      return;
    }
    combine(p, false);
  }
  if (gives_number) {
    const Type to = type_of(i, 0);
    const int yes = constant(is_real(to) ? 0x3f800000u : ~0u, false);
    emit_table(known_handling("selp.b32"),
               {slot(i.operands[0], false), yes, constant(0, false), p});
  }
}

// add.cc, addc, sub.cc, subc, mad.lo.cc, madc.hi and so on: `cc` writes the carry, `c` at the end
// of the opcode reads it.
bool Decoder::decode_carry(const Instruction& i) {
  const bool reads = i.opcode == "addc" || i.opcode == "subc" || i.opcode == "madc";
  if (!reads && !has(i, "cc")) return false;
  const Type type = type_of(i);
  const bool wide = bytes_of(type) == 8, multiplies = i.opcode.starts_with("mad");
  if (i.operands.size() != (multiplies ? 4 : 3)) refuse(i);
  const int d = slot(i.operands[0], wide);
  int a = slot(i.operands[1], wide), b = slot(i.operands[2], wide);
  if (multiplies) {
    const int product = temporary(wide);
    const char* part = has(i, "hi") ? "hi" : "lo";
    emit_table(known_handling(fmt::format("mul.{}.{}", part, name_of(type))), {product, a, b});
    a = product, b = slot(i.operands[3], wide);
  }
  if (carry_ < 0) carry_ = temporary_predicate();
  Op& op = emit_table(known_handling(wide ? "carry.b64" : "carry.b32"), {d, a, b});
  op.c = carry_;
  op.mode = static_cast<std::uint8_t>((reads ? 1 : 0) | (has(i, "cc") ? 2 : 0) |
                                      (i.opcode.starts_with("sub") ? 4 : 0));
  if (reads) out_.uses.back().predicates_read.push_back(carry_);
  if (has(i, "cc")) out_.uses.back().predicates_written.push_back(carry_);
  return true;
}

void Decoder::decode_arithmetic(const Instruction& i) {
  if (decode_carry(i)) return;
  const Type type = type_of(i);
  std::string name = joined(i);
  const bool rounds = i.opcode != "slct" && is_real(type) &&
                      (has(i, "ftz") || has(i, "sat") || rounding_of(i) != to_nearest);
  if (rounds)
    name += "!";
  else if (has(i, "sat"))
    name = i.opcode + ".sat." + name_of(type);
  const Handling* handling = handling_of(name);
  if (handling == nullptr && !rounds &&
      (i.opcode == "and" || i.opcode == "or" || i.opcode == "xor" || i.opcode == "not"))
    handling = handling_of(i.opcode + "." + bits_name(type));
  if (handling == nullptr) refuse(i);
  int operands[5] = {};
  const std::string letters = handling->operands;
  if (letters.size() != i.operands.size()) refuse(i);
  for (std::size_t n = 0; n < letters.size(); ++n) {
    const bool wide = letters[n] == 'x';
    const bool reads_real = is_real(type) && n > 0;
    operands[n] =
        letters[n] == 'p' ? predicate_of(i.operands[n]) : slot(i.operands[n], wide, reads_real);
  }
  Op* op = nullptr;
  switch (letters.size()) {
    case 2: op = &emit_table(*handling, {operands[0], operands[1]}); break;
    case 3: op = &emit_table(*handling, {operands[0], operands[1], operands[2]}); break;
    case 4:
      op = &emit_table(*handling, {operands[0], operands[1], operands[2], operands[3]});
      break;
    case 5:
      op =
          &emit_table(*handling, {operands[0], operands[1], operands[2], operands[3], operands[4]});
      break;
    default: refuse(i);
  }
  op->flags |= real_flags_of(i);
  op->mode = static_cast<std::uint8_t>(rounding_of(i));
}

}  // namespace ptx
