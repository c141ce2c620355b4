#include "ptx/decode/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "ptx/decode/calls/flatten.h"
#include "ptx/decode/decoder.h"
#include "ptx/decode/indexed_arrays.h"
#include "ptx/decode/wide/wide_registers.h"

namespace ptx {

using Kind = Operand::Kind;

bool has(const Instruction& i, const char* modifier) {
  return std::find(i.modifiers.begin(), i.modifiers.end(), modifier) != i.modifiers.end();
}

const char* name_of(Type type) {
  static constexpr const char* names[] = {
      "",    "b8",  "b16", "b32",   "b64",  "b128",   "u8",   "u16",  "u32",  "u64", "s8",  "s16",
      "s32", "s64", "f16", "f16x2", "bf16", "bf16x2", "tf32", "e4m3", "e5m2", "f32", "f64", "pred"};
  return names[static_cast<int>(type)];
}
const Handling& known_handling(const std::string& name) {
  if (const Handling* handling = handling_of(name)) return *handling;
  throw std::out_of_range(name);
}
Type type_of(const Instruction& i, int n) {
  for (const std::string& modifier : i.modifiers)
    for (int t = 1; t <= static_cast<int>(Type::pred); ++t)
      if (modifier == name_of(static_cast<Type>(t)) && n-- == 0) return static_cast<Type>(t);
  return Type::none;
}

Decoder::Decoder(const Module& module, const Function& f, const AddressOf& address_of,
                 Program::Kernel& out)
    : module_(module), global_address_(address_of), out_(out), f_(f), plan_(plan_slots(f)) {
  slots_ = plan_.slots;
  predicates_ = plan_.predicates;
}

void Decoder::decode() {
  lay_out();
  for (const Instruction& i : f_.body)
    for (const Operand& o : i.operands)
      if (o.kind == Kind::label) targets_.insert(o.index);
  for (const auto& list : f_.branch_targets) targets_.insert(list.begin(), list.end());
  const std::vector<int> arrays = indexed_arrays(f_, shared_arrays_);
  for (body_index_ = 0; body_index_ < static_cast<int>(f_.body.size()); ++body_index_) {
    if (is_targeted(body_index_)) emit_named("join");
    op_at_.push_back(static_cast<int>(out_.code.size()));
    const Instruction& i = f_.body[static_cast<std::size_t>(body_index_)];
    try {
      decode(i);
    } catch (const std::out_of_range&) {
      refuse(i, "it takes other operands");
    }
    out_.array_of.resize(out_.code.size(), arrays[static_cast<std::size_t>(body_index_)]);
  }
  op_at_.push_back(static_cast<int>(out_.code.size()));
  emit_named("ret");
  out_.array_of.resize(out_.code.size(), -1);
  const Handler branch = handling_of("bra")->run, by_index = handling_of("brx")->run;
  for (Op& op : out_.code) {
    if (op.run == branch && op.jump >= 0)
      op.jump = op_at_[static_cast<std::size_t>(op.jump)];
    else if (op.run == branch)
      op.jump = -op.jump;  // over a guarded operation: settled already
    if (op.run == by_index)
      for (int n = 0; n < op.parts; ++n) {
        int& to = out_.lists[static_cast<std::size_t>(op.d + n)];
        to = op_at_[static_cast<std::size_t>(to)];
      }
  }
  for (const int r : plan_.unset)
    if (f_.registers[static_cast<std::size_t>(r)].type != Type::pred)
      out_.unset.push_back(plan_.slot[static_cast<std::size_t>(r)]);
  out_.slots = slots_;
  out_.predicates = std::max(predicates_, 1);
  out_.facts.local = local_bytes_;
  out_.product_registers = plan_.product_registers;
  out_.facts.sums = plan_.sums;
}

void Decoder::decode(const Instruction& i) {
  if (plan_.product_registers != 0) watch_product_registers(i);
  const std::size_t first = out_.code.size();
  if (decode_control(i)) return;
  if (!decode_memory(i) && !decode_texture(i) && !decode_halves(i) && !decode_moves(i) &&
      !decode_predicates(i) && !decode_warp_wide(i))
    decode_arithmetic(i);
  guard_last(i, first);
}

// Operations that lanes may have to wait in are jumped over; others mask themselves.
void Decoder::guard_last(const Instruction& i, std::size_t first) {
  if (i.guard < 0) return;
  const Handler guarded = handling_of("guarded")->run;
  for (std::size_t n = first; n < out_.code.size(); ++n) {
    Op& op = out_.code[n];
    op.behind_guard = op.run;
    op.run = guarded;
    op.guard = predicate_of(i.guard);
    op.guard_negated = i.guard_negated;
    out_.uses[n].predicates_read.push_back(op.guard);
  }
}

bool Decoder::decode_control(const Instruction& i) {
  const std::string& op = i.opcode;
  if (op == "bra") {
    Op& branch = emit_named("bra");
    branch.jump = i.operands[0].index;
    branch.flags |= decides;
    if (i.guard >= 0) {
      branch.guard = predicate_of(i.guard);
      branch.guard_negated = i.guard_negated;
      out_.uses.back().predicates_read.push_back(branch.guard);
    }
    return true;
  }
  if (op == "brx") {
    const int index = slot(i.operands[0], false);
    const auto& targets = f_.branch_targets.at(static_cast<std::size_t>(i.operands[1].index));
    Op& branch = emit_named("brx", {.reads = {index}});
    branch.a = index;
    branch.d = static_cast<int>(out_.lists.size());
    if (i.guard >= 0 || targets.size() > 255) refuse(i);
    branch.parts = static_cast<std::uint8_t>(targets.size());
    branch.flags |= decides;
    out_.lists.insert(out_.lists.end(), targets.begin(), targets.end());
    return true;
  }
  const bool waits = op == "nanosleep" || op == "mbarrier" || op == "bar" || op == "barrier" ||
                     op == "shfl" || op == "vote" || op == "match" || op == "redux" ||
                     op == "elect" || op == "mma" || op == "wmma" || op == "wgmma" ||
                     op == "ldmatrix" || op == "stmatrix" || op == "movmatrix";
  const bool ends = op == "ret" || op == "exit" || op == "trap" || op == "brkpt" || op == "call";
  if (!waits && !ends) return false;
  std::size_t skip = 0;
  if (i.guard >= 0) {
    skip = out_.code.size();
    Op& branch = emit_named("bra");
    branch.guard = predicate_of(i.guard);
    branch.guard_negated = !i.guard_negated;
    branch.flags |= decides;
    out_.uses.back().predicates_read.push_back(branch.guard);
  }
  if (op == "ret" || op == "exit")
    emit_named("ret");
  else if (op == "trap" || op == "brkpt")
    emit_named("trap");
  else if (op == "call")
    decode_call(i);
  else if (op == "mbarrier")
    decode_mbarrier(i);
  else if (op == "nanosleep")
    emit_named("sleep");
  else if (!decode_warp_wide(i) && !decode_tensor(i))
    decode_barrier(i);
  if (i.guard >= 0) {
    emit_named("join");
    out_.code[skip].jump = -static_cast<int>(out_.code.size());
  }
  return true;
}

Op& Decoder::emit(Handler handler, const Uses& uses) {
  Op op;
  op.run = handler;
  op.from = body_index_;
  out_.code.push_back(op);
  out_.uses.push_back(uses);
  return out_.code.back();
}
Op& Decoder::emit_named(const std::string& name, const Uses& uses) {
  const Handling& handling = known_handling(name);
  Op& op = emit(handling.run, uses);
  out_.uses.back().follows = handling.follows;
  return op;
}
Op& Decoder::emit_table(const Handling& handling, std::initializer_list<int> operands) {
  Uses uses{.operands = handling.operands, .follows = handling.follows};
  Op op;
  int* const fields[] = {&op.d, &op.a, &op.b, &op.c, &op.e};
  std::size_t n = 0;
  for (const int operand : operands) {
    *fields[n] = operand;
    const char letter = handling.operands[n];
    auto& reads = letter == 'p' ? uses.predicates_read : uses.reads;
    auto& writes = letter == 'p' ? uses.predicates_written : uses.writes;
    (n == 0 ? writes : reads).push_back(operand);
    ++n;
  }
  op.run = handling.run, op.from = body_index_;
  out_.code.push_back(op);
  out_.uses.push_back(std::move(uses));
  return out_.code.back();
}

// What ptxas would not take, where nobody asked it.
int Decoder::predicate_of(int reg) const {
  if (f_.registers.at(static_cast<std::size_t>(reg)).type != Type::pred)
    throw std::out_of_range("no predicate");
  return plan_.slot[static_cast<std::size_t>(reg)];
}
int Decoder::value_of(const Operand& o, bool wide) const {
  const Type type = f_.registers.at(static_cast<std::size_t>(o.index)).type;
  if (type == Type::pred || (wide && bytes_of(type) != 8))
    throw std::out_of_range("no register of that kind");
  return plan_.slot[static_cast<std::size_t>(o.index)];
}
bool Decoder::is_register(const Operand& o) const { return o.kind == Kind::reg; }
bool Decoder::is_read(const Operand& o) const {
  return is_register(o) && plan_.is_read[static_cast<std::size_t>(o.index)];
}
bool Decoder::is_wide(const Operand& o) const {
  return o.kind == Kind::reg && bytes_of(f_.registers[static_cast<std::size_t>(o.index)].type) == 8;
}

int Decoder::temporary(bool wide) {
  const int slot = slots_;
  slots_ += wide ? 2 : 1;
  return slot;
}
int Decoder::constant(std::uint64_t bits, bool wide) {
  if (!wide) bits &= 0xffffffff;
  const auto [at, is_new] = constants_.insert({{bits, wide}, 0});
  if (is_new) {
    at->second = temporary(wide);
    out_.constants.push_back({at->second, wide, bits});
  }
  return at->second;
}
int Decoder::special(const std::string& name, bool wide) {
  return special(special_named(name), 0, wide);
}
int Decoder::special(const Special& what, std::uint64_t place, bool wide) {
  const auto [at, is_new] = specials_.insert({{&what, place, wide}, 0});
  if (is_new) {
    at->second = temporary(wide);
    out_.specials.push_back({at->second, wide, &what, place});
  }
  return at->second;
}

int Decoder::slot(const Operand& o, bool wide, bool is_real) {
  switch (o.kind) {
    case Kind::reg: return value_of(o, wide);
    case Kind::special:
      return o.text == "WARP_SZ" ? constant(warp_size, wide) : special(o.text, wide);
    case Kind::integer:
      if (!is_real) return constant(o.bits, wide);
      return wide ? constant(std::bit_cast<std::uint64_t>(
                                 static_cast<double>(static_cast<std::int64_t>(o.bits))),
                             true)
                  : constant(std::bit_cast<std::uint32_t>(
                                 static_cast<float>(static_cast<std::int64_t>(o.bits))),
                             false);
    case Kind::real: {
      if (o.width == 8 && !wide)
        return constant(
            std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(o.bits))), false);
      if (o.width == 4 && wide)
        return constant(std::bit_cast<std::uint64_t>(static_cast<double>(
                            std::bit_cast<float>(static_cast<std::uint32_t>(o.bits)))),
                        true);
      return constant(o.bits, wide);
    }
    case Kind::symbol: {
      Space space;
      if (const auto param = placed_.find(o.text);
          param != placed_.end() && param->second.space == Space::param)
        return special(address_of_param, param->second.at + static_cast<std::uint64_t>(o.offset),
                       wide);
      return constant(address_of(o.text, space) + static_cast<std::uint64_t>(o.offset), wide);
    }
    case Kind::discard: return temporary(wide);
    default: throw BadPtx("an operand is not supported here");
  }
}

int Decoder::predicate(const Operand& o, std::uint16_t negated_flag, Op& op) {
  if (o.negated) op.flags |= negated_flag;
  return predicate_of(o);
}

std::uint64_t Decoder::address_of(const std::string& symbol, Space& space) const {
  if (const auto found = placed_.find(symbol); found != placed_.end()) {
    space = found->second.space;
    return found->second.at;
  }
  space = Space::global;
  const std::uint64_t address = global_address_(symbol);
  if (address == 0) throw BadPtx(fmt::format("{} is used, but nothing here defines it", symbol));
  return address;
}

void Decoder::set_address(const Operand& o, Op& op, Space& space, Uses& uses) {
  op.a = -1;
  op.bits = static_cast<std::uint64_t>(o.offset);
  if (o.index >= 0) {
    op.a = value_of(o, false);
    if (bytes_of(f_.registers[static_cast<std::size_t>(o.index)].type) == 8)
      op.flags |= address_is_wide;
    uses.address = op.a;
  } else if (!o.text.empty()) {
    Space of_symbol;
    op.bits += address_of(o.text, of_symbol);
    if (space == Space::param) space = of_symbol;
  }
}

std::unique_ptr<Program::Kernel> decode(const Module& module, const Function& kernel,
                                        const AddressOf& address) {
  auto out = std::make_unique<Program::Kernel>();
  out->module = &module, out->facts.name = kernel.name;
  out->facts.version = module.version;
  out->facts.target = module.target;
  out->facts.registers = kernel.registers_of_thread;
  if (kernel.max_threads != 0) out->facts.max_threads = kernel.max_threads;
  const auto blocks = [&](std::size_t n) { return static_cast<unsigned>(kernel.cluster[n]); };
  out->facts.cluster = {blocks(0), blocks(1), blocks(2)};
  out->facts.max_cluster = static_cast<unsigned>(kernel.max_cluster);
  try {
    if (kernel.blocks_are_clusters)
      throw BadPtx("it is launched as a grid of clusters (.blocksareclusters): not supported");
    out->function = with_halves(flattened(module, kernel));
    Decoder(module, out->function, address, *out).decode();
    if (kernel.max_threads != 0 || kernel.max_registers != 0) out->facts.sums = 0;
  } catch (const BadPtx& error) {
    out->unsupported = error.what();
  } catch (const std::out_of_range&) {
    out->unsupported = "one of its instructions lacks operands";
  }
  return out;
}

}  // namespace ptx
