// Loads, stores, atomics, copies, fences and addresses.
#include <fmt/format.h>

#include "ptx/decode/decoder.h"

namespace ptx {
namespace {

using Kind = Operand::Kind;

Space space_of(const Instruction& i) {
  for (const std::string& m : i.modifiers) {
    if (m == "global") return Space::global;
    if (m.compare(0, 6, "shared") == 0) return Space::shared;
    if (m == "local") return Space::local;
    if (m.compare(0, 5, "param") == 0) return Space::param;
    if (m == "const") return Space::constant;
  }
  return Space::generic;
}
// The name of a space in the names of handlers.
std::string prefix(const std::string& opcode, Space space, const Instruction& i) {
  switch (space) {
    case Space::global:
    case Space::constant: return opcode + ".global.";
    case Space::shared:
      return opcode + (has(i, "shared::cluster") ? ".shared::cluster." : ".shared.");
    case Space::local: return opcode + ".local.";
    default: return opcode + ".";
  }
}
// The integer that moves the bits of a type. Of what is loaded, signs are kept.
std::string moved(Type type, bool is_store) {
  const int bytes = bytes_of(type);
  const bool is_signed = !is_store && (type == Type::s8 || type == Type::s16);
  return fmt::format("{}{}", is_signed ? 's' : 'u', bytes * 8);
}
bool is_signed(Type t) {
  return t == Type::s8 || t == Type::s16 || t == Type::s32 || t == Type::s64;
}

// Of an atomic operation, as a flag.
std::uint16_t scope_of(const Instruction& i) { return has(i, "cta") ? is_of_block : 0; }

std::vector<Operand> parts_of(const Operand& o) {
  return o.kind == Kind::vector ? o.elements : std::vector<Operand>{o};
}

}  // namespace

bool Decoder::decode_memory(const Instruction& i) {
  const std::string& op = i.opcode;
  if (op == "ld" || op == "ldu")
    decode_load(i, false);
  else if (op == "st" && has(i, "async"))
    decode_signalling_store(i);
  else if (op == "red" && has(i, "async"))
    refuse(i, "it would need copies that add to what is there");
  else if (op == "st")
    decode_load(i, true);
  else if (op == "atom" || op == "red")
    decode_atomic(i);
  else if (op == "cp")
    decode_copy(i);
  else if (op == "createpolicy")
    emit_table(known_handling("mov.b64"), {slot(i.operands[0], true), constant(0, true)});
  else if (op == "membar" || op == "fence")
    emit_fence(i);
  else if (op == "prefetch" || op == "prefetchu" || op == "applypriority" || op == "pmevent")
    emit_named("nothing");
  else if (op == "setmaxnreg")
    emit_named("setmaxnreg").e = static_cast<int>(i.operands[0].bits);
  else if (op == "discard")
    decode_discard(i);
  else if (op == "griddepcontrol")
    emit_named(has(i, "wait") ? "griddepcontrol.wait" : "nothing");
  else if (op == "cvta") {
    const bool from = has(i, "to");
    const Space space = space_of(i);
    if (type_of(i) != Type::u64) refuse(i);
    const int d = slot(i.operands[0], true), a = slot(i.operands[1], true);
    if (space == Space::shared || space == Space::local) {
      emit_table(known_handling(space == Space::shared ? "cvta.shared" : "cvta.local"), {d, a})
          .mode = from;
    } else {
      emit_table(known_handling("mov.b64"), {d, a});
    }
  } else if (op == "isspacep") {
    const Space space = space_of(i);
    const int d = predicate_of(i.operands[0]), a = slot(i.operands[1], true);
    emit_table(known_handling("isspacep"), {d, a}).mode = has(i, "shared::cluster")  ? 4
                                                          : space == Space::shared   ? 1
                                                          : space == Space::local    ? 2
                                                          : space == Space::constant ? 3
                                                                                     : 0;
  } else {
    return decode_cluster_address(i);
  }
  return true;
}

void Decoder::decode_load(const Instruction& i, bool is_store) {
  const Type type = type_of(i) == Type::b128 ? Type::b64 : type_of(i);  // a vector of two
  if (bytes_of(type) == 0 || bytes_of(type) > 8) refuse(i);
  const bool wide = bytes_of(type) == 8;
  const Operand& address = i.operands[is_store ? 0 : 1];
  const std::vector<Operand> values = parts_of(i.operands[is_store ? 1 : 0]);
  Space space = space_of(i);
  const bool is_param = space == Space::param && address.index < 0 &&
                        placed_.count(address.text) != 0 &&
                        placed_.at(address.text).space == Space::param;
  if (is_param && !is_store) return decode_param_load(i, type, values.size());
  if (space == Space::param && address.index >= 0) space = Space::generic;

  // A register wider than the type goes through one that is not.
  std::vector<int> slots, converted(values.size(), -1);
  Uses uses;
  for (std::size_t n = 0; n < values.size(); ++n) {
    const Operand& v = values[n];
    int at = v.kind == Kind::discard ? (is_store ? constant(0, wide) : -1) : slot(v, wide);
    if (is_register(v) && is_wide(v) && !wide) {
      converted[n] = at;
      at = temporary(false);
      if (is_store) emit_table(known_handling("cvt.u32.u64"), {at, converted[n]});
    }
    slots.push_back(at);
    if (at >= 0) (is_store ? uses.reads : uses.writes).push_back(at);
  }
  Op op;
  set_address(address, op, space, uses);
  Op& access = emit_named(prefix(is_store ? "st" : "ld", space, i) + moved(type, is_store), uses);
  access.a = op.a;
  access.bits = op.bits;
  access.flags |= static_cast<std::uint16_t>(op.flags | (is_store ? stores : loads));
  const bool is_polled = has(i, "volatile") || has(i, "relaxed") || has(i, "acquire") ||
                         has(i, "release") || has(i, "mmio");
  if (is_polled) access.flags |= is_strong | scope_of(i);
  if (has(i, "nc") || i.opcode == "ldu") access.flags |= is_cached;
  if (space == Space::constant) access.flags |= is_constant;
  access.parts = static_cast<std::uint8_t>(slots.size());
  access.part_bytes = static_cast<std::uint8_t>(bytes_of(type));
  access.d = slots[0];
  if (slots.size() > 1) {
    access.d = static_cast<int>(out_.lists.size());
    out_.lists.insert(out_.lists.end(), slots.begin(), slots.end());
  }
  if (has(i, "acquire")) emit_fence(i);
  if (has(i, "release")) {
    // What comes before is let known with the store, not after it.
    Op store = out_.code.back();
    Uses store_uses = out_.uses.back();
    out_.code.pop_back();
    out_.uses.pop_back();
    emit_fence(i);
    out_.code.push_back(store);
    out_.uses.push_back(std::move(store_uses));
  }
  for (std::size_t n = 0; n < values.size() && !is_store; ++n)
    if (converted[n] >= 0)
      emit_table(known_handling(is_signed(type) ? "cvt.s64.s32" : "cvt.u64.u32"),
                 {converted[n], slots[n]});
  if (!is_store && is_polled) ask_others(i, 16);
}

void Decoder::decode_param_load(const Instruction& i, Type type, std::size_t parts) {
  const Operand& address = i.operands[1];
  const std::vector<Operand> values = parts_of(i.operands[0]);
  const int bytes = bytes_of(type);
  for (std::size_t n = 0; n < parts; ++n) {
    if (values[n].kind == Kind::discard) continue;
    const bool wide = is_wide(values[n]);
    const int from = temporary(wide);
    out_.param_slots.push_back({from, wide, bytes, is_signed(type),
                                placed_.at(address.text).at +
                                    static_cast<std::size_t>(address.offset) +
                                    n * static_cast<std::size_t>(bytes)});
    emit_table(known_handling(wide ? "mov.b64" : "mov.b32"), {slot(values[n], wide), from});
  }
}

void Decoder::decode_atomic(const Instruction& i) {
  static const std::map<std::string, int> modes = {{"add", 0},  {"min", 1}, {"max", 2}, {"inc", 3},
                                                   {"dec", 4},  {"and", 5}, {"or", 6},  {"xor", 7},
                                                   {"exch", 8}, {"cas", 9}};
  const bool returns = i.opcode == "atom";
  Type type = type_of(i);
  int mode = -1;
  for (const std::string& m : i.modifiers)
    if (const auto found = modes.find(m); found != modes.end()) mode = found->second;
  if (type == Type::b128) return decode_wide_atomic(i, mode);
  if (type == Type::b32) type = Type::u32;
  if (type == Type::b64) type = Type::u64;
  Space space = space_of(i);
  const auto operand = [&](std::size_t n) -> const Operand& {
    return i.operands[returns ? n : n - 1];
  };
  const std::string name = prefix("atom", space, i) + name_of(type);
  const bool only_adds = bytes_of(type) == 2 || type == Type::f16x2 || type == Type::bf16x2;
  const bool is_known = !only_adds || (type == Type::b16 ? mode >= 8 : mode == 0);
  if (mode < 0 || handling_of(name) == nullptr || !is_known) refuse(i);
  const bool wide = bytes_of(type) == 8, is_real = type == Type::f32 || type == Type::f64;
  // A vector is changed element by element, as the ISA has it; its address is a multiple of it all.
  const auto values_of = [](const Operand& o) {
    return o.kind == Kind::vector ? o.elements : std::vector<Operand>{o};
  };
  const std::vector<Operand> values = values_of(operand(2));
  const std::vector<Operand> results =
      returns && operand(0).kind != Kind::discard ? values_of(operand(0)) : std::vector<Operand>{};
  if (has(i, "release") || has(i, "acq_rel")) emit_fence(i);
  for (std::size_t n = 0; n < values.size(); ++n) {
    Uses uses;
    Op op;
    const bool is_kept = !results.empty() && is_read(results.at(n));
    const int d = is_kept ? slot(results[n], wide) : -1;
    if (d >= 0) uses.writes.push_back(d);
    const int b = slot(values[n], wide, is_real);
    const int c = mode == 9 ? slot(operand(3), wide, is_real) : -1;
    uses.reads = {b};
    if (c >= 0) uses.reads.push_back(c);
    set_address(operand(1), op, space, uses);
    Op& atomic = emit_named(name, uses);
    atomic.a = op.a;
    atomic.bits = op.bits + n * static_cast<std::size_t>(bytes_of(type));
    atomic.flags = static_cast<std::uint16_t>(op.flags | stores | is_strong | scope_of(i));
    if (n == 0) atomic.e = static_cast<int>(values.size()) * bytes_of(type);
    atomic.d = d, atomic.b = b, atomic.c = c;
    atomic.part_bytes = static_cast<std::uint8_t>(bytes_of(type));
    // A cas takes the value to compare with first.
    atomic.mode = static_cast<std::uint8_t>(mode);
  }
  if (has(i, "acquire") || has(i, "acq_rel")) emit_fence(i);
  if (returns) ask_others(i, 1);
}

// atom.cas.b128 and atom.exch.b128, whose operands are pairs.
void Decoder::decode_wide_atomic(const Instruction& i, int mode) {
  constexpr int exch = 8, cas = 9;
  if (i.opcode != "atom" || (mode != exch && mode != cas)) refuse(i);
  Uses uses;
  const auto pair = [&](const Operand& o, std::vector<int>& used) {
    if (o.elements.size() != 2) refuse(i);
    const std::vector<int> slots = {slot(o.elements[0], true), slot(o.elements[1], true)};
    used.insert(used.end(), slots.begin(), slots.end());
    return list(slots);
  };
  if (has(i, "release") || has(i, "acq_rel")) emit_fence(i);
  const int d = i.operands[0].kind == Kind::discard ? -1 : pair(i.operands[0], uses.writes);
  const int b = pair(i.operands[2], uses.reads);
  const int c = mode == cas ? pair(i.operands[3], uses.reads) : -1;
  Op op;
  Space space = space_of(i);
  set_address(i.operands[1], op, space, uses);
  Op& atomic = emit_named(prefix("atom", space, i) + "b128", uses);
  atomic.a = op.a, atomic.bits = op.bits;
  atomic.flags = static_cast<std::uint16_t>(op.flags | stores | is_strong | scope_of(i));
  atomic.d = d, atomic.b = b, atomic.c = c;
  atomic.part_bytes = 16;
  atomic.mode = static_cast<std::uint8_t>(mode);
  if (has(i, "acquire") || has(i, "acq_rel")) emit_fence(i);
  ask_others(i, 1);
}

// discard.global.L2 [address], 128;
void Decoder::decode_discard(const Instruction& i) {
  Uses uses;
  Op at;
  Space space = Space::global;
  set_address(i.operands[0], at, space, uses);
  Op& op = emit_named("discard", uses);
  op.a = at.a, op.bits = at.bits, op.flags |= at.flags;
}

// Also of an operation that acquires or releases: for threads of the block alone, if it says so.
void Decoder::emit_fence(const Instruction& i) {
  Op& fence = emit_named("fence");
  if (has(i, "proxy") && has(i, "async")) {
    const bool is_of_shared = has(i, "shared::cta") || has(i, "shared::cluster");
    fence.mode = has(i, "global") ? 4 : is_of_shared ? 1 : 3;
  } else {
    fence.mode = has(i, "mbarrier_init") ? 6 : has(i, "cta") ? 2 : has(i, "cluster") ? 5 : 0;
  }
  if (has(i, "tensormap::generic") && has(i, "acquire")) decode_map_fence(i);
}

// Behind what a thread may wait with. A guarded operation may not step back.
void Decoder::ask_others(const Instruction& i, int weight) {
  if (i.guard < 0) emit_named("ask").mode = static_cast<std::uint8_t>(weight);
}

}  // namespace ptx
