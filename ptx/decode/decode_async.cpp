// Asynchronous copies, and barriers in shared memory.
#include "ptx/decode/decoder.h"
#include "ptx/machine/async/place.h"

namespace ptx {
namespace {

using Kind = Operand::Kind;

// Op::mode: which addresses are wide, and from bit 2 on what is added up.
std::uint8_t mode_of_bulk(const Op& shared, const Op& barrier, Adds adds) {
  const auto is_wide = [](const Op& op) { return (op.flags & address_is_wide) != 0; };
  return static_cast<std::uint8_t>((is_wide(shared) ? 1 : 0) | (is_wide(barrier) ? 2 : 0) |
                                   static_cast<int>(adds) << 2);
}

bool names_shared(const Instruction& i) {
  return has(i, "shared") || has(i, "shared::cta") || has(i, "shared::cluster");
}

}  // namespace

void Decoder::decode_copy(const Instruction& i) {
  if (!has(i, "async")) refuse(i);
  if (has(i, "bulk")) return decode_bulk_copy(i);
  if (has(i, "mbarrier")) {
    Op& op = emit_at_barrier(i, "cp.async.mbarrier", i.operands[0]);
    op.mode = has(i, "noinc") ? 1 : 0;
    return;
  }
  if (has(i, "commit_group")) {
    emit_named("cp.async.commit_group");
    return;
  }
  if (has(i, "wait_group") || has(i, "wait_all")) {
    Op& op = emit_named("cp.async.wait");
    op.mode = has(i, "wait_all") ? 1 : 0;
    op.bits = has(i, "wait_all") ? 0 : i.operands[0].bits;
    return;
  }
  Uses uses;
  Op source, target;
  Space global = Space::global, shared = Space::shared;
  set_address(i.operands[1], source, global, uses);
  Uses target_uses;
  set_address(i.operands[0], target, shared, target_uses);
  if (target.a >= 0) uses.reads.push_back(target.a);
  const int read = bytes_read(i);
  if (read >= 0) uses.reads.push_back(read);
  Op& op = emit_named("cp.async", uses);
  op.a = source.a;
  op.bits = source.bits;
  op.flags |= source.flags;
  op.d = target.a;
  op.e = static_cast<int>(target.bits);
  op.parts = (target.flags & address_is_wide) != 0 ? 2 : 1;
  op.b = read;
  op.mode = static_cast<std::uint8_t>(i.operands[2].bits);
}

// The slot of how many bytes a cp.async reads, the rest being zeros; -1: all. A predicate says that
// it reads none. What says how to cache comes last.
int Decoder::bytes_read(const Instruction& i) {
  const std::size_t count = i.operands.size() - (has(i, "L2::cache_hint") ? 1 : 0);
  if (count < 4 || i.operands[3].kind == Kind::discard) return -1;
  const Operand& o = i.operands[3];
  if (o.kind != Kind::reg || f_.registers[static_cast<std::size_t>(o.index)].type != Type::pred)
    return slot(o, false);
  const int bytes = temporary(false);
  Op choice;
  const int p = predicate(o, 1 << 14, choice);
  emit_table(known_handling("selp.b32"),
             {bytes, constant(0, false), constant(i.operands[2].bits, false), p})
      .flags |= static_cast<std::uint16_t>(choice.flags | selects);
  return bytes;
}

// cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [from], bytes, [barrier];
// cp.async.bulk.global.shared::cta.bulk_group [to], [from], bytes;
// cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [to], [from], bytes;
void Decoder::decode_bulk_copy(const Instruction& i) {
  if (has(i, "prefetch")) return decode_bulk_prefetch(i);
  if (has(i, "commit_group") || has(i, "wait_group")) {
    const bool waits = has(i, "wait_group");
    Op& op = emit_named(waits ? "cp.async.bulk.wait" : "cp.async.bulk.commit");
    if (waits) op.bits = i.operands[0].bits, op.mode = has(i, "read") ? 1 : 0;
    return;
  }
  if (has(i, "tensor")) return decode_tensor_copy(i);
  const Adds adds = sums_of(i);
  const bool to_shared = i.modifiers.size() > 2 && i.modifiers[2].starts_with("shared");
  const bool to_peer = !has(i, "global");
  Uses uses;
  Op global, shared;
  Space space = to_peer ? Space::shared : Space::global, shared_space = Space::shared;
  set_address(i.operands[to_shared ? 1 : 0], global, space, uses);
  Uses others;
  set_address(i.operands[to_shared ? 0 : 1], shared, shared_space, others);
  if (shared.a >= 0) uses.reads.push_back(shared.a);
  const int bytes = slot(i.operands[2], false);
  uses.reads.push_back(bytes);
  Op barrier;
  if (to_shared) {
    set_address(i.operands[3], barrier, shared_space, others);
    if (barrier.a >= 0) uses.reads.push_back(barrier.a);
  }
  const int blocks = multicast_blocks(i, 4);
  if (blocks >= 0) uses.reads.push_back(blocks);
  Op& op = emit_named(to_peer     ? "cp.async.bulk.peer"
                      : to_shared ? "cp.async.bulk.shared"
                                  : "cp.async.bulk.global",
                      uses);
  op.a = global.a, op.bits = global.bits, op.flags |= global.flags | is_bulk;
  op.b = bytes;
  op.d = shared.a, op.e = static_cast<int>(shared.bits);
  op.mode = mode_of_bulk(shared, barrier, adds);
  op.parts = static_cast<std::uint8_t>(Named::in_shared);
  op.c = list({barrier.a, static_cast<int>(barrier.bits), blocks});
}

// cp.async.bulk.prefetch.L2.global [from], bytes; it moves nothing, but may be refused. Of a tensor
// it says nothing that the copy does not.
void Decoder::decode_bulk_prefetch(const Instruction& i) {
  if (has(i, "tensor")) {
    emit_named("nothing");
    return;
  }
  Op from;
  Uses uses;
  Space space = Space::global;
  set_address(i.operands[0], from, space, uses);
  const int bytes = slot(i.operands[1], false);
  uses.reads.push_back(bytes);
  Op& op = emit_named("cp.async.bulk.prefetch", uses);
  op.a = from.a, op.bits = from.bits, op.flags |= from.flags;
  op.b = bytes;
}

// What cp.reduce.async.bulk adds up; of a tensor's elements their map tells.
Adds Decoder::sums_of(const Instruction& i) const {
  if (!has(i, "reduce")) return Adds::nothing;
  if (!has(i, "add") || !has(i, "bulk_group"))
    refuse(i, "it would need copies that do more than add to global memory");
  if (has(i, "tensor")) return Adds::elements;
  const std::string& type = i.modifiers.back();
  if (type == "f32") return Adds::floats;
  if (type == "f64") return Adds::doubles;
  if (type == "u32" || type == "s32") return Adds::words;
  if (type == "u64" || type == "s64") return Adds::pairs_of_words;
  refuse(i, "it would need sums of that type");
}

// cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [to], [map, {x, y}],
// [barrier]; cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [map, {x, y}], [from];
void Decoder::decode_tensor_copy(const Instruction& i) {
  for (const std::string& modifier : i.modifiers)
    if (modifier.starts_with("im2col") || modifier.starts_with("tile::"))
      refuse(i, "it would need boxes that are no tiles");
  if (has(i, "cta_group::1") || has(i, "cta_group::2"))
    refuse(i, "it would need pairs of blocks, as of sm_100");
  const Adds adds = sums_of(i);
  const bool to_shared = !has(i, "bulk_group");
  const Operand& tensor = i.operands[to_shared ? 1 : 0];
  Uses uses;
  Op map, shared, barrier;
  Space space = Space::global, shared_space = Space::shared;
  set_address(tensor, map, space, uses);
  Uses others;
  set_address(i.operands[to_shared ? 0 : 1], shared, shared_space, others);
  barrier.a = -1;
  if (to_shared) set_address(i.operands[2], barrier, shared_space, others);
  std::vector<int> slots = {barrier.a, static_cast<int>(barrier.bits)};
  for (const Operand& list : tensor.elements)
    for (const Operand& coordinate : list.elements) slots.push_back(slot(coordinate, false));
  for (const int read : {shared.a, barrier.a})
    if (read >= 0) uses.reads.push_back(read);
  uses.reads.insert(uses.reads.end(), slots.begin() + 2, slots.end());
  const auto coordinates = static_cast<int>(slots.size()) - 2;
  slots.push_back(multicast_blocks(i, 3));
  if (slots.back() >= 0) uses.reads.push_back(slots.back());
  Op& op =
      emit_named(to_shared ? "cp.async.bulk.tensor.shared" : "cp.async.bulk.tensor.global", uses);
  op.a = map.a, op.bits = map.bits, op.flags |= map.flags | is_bulk;
  if (!to_shared) op.flags |= is_of_pieces;
  op.b = coordinates;
  op.c = list(slots);
  op.d = shared.a, op.e = static_cast<int>(shared.bits);
  op.mode = mode_of_bulk(shared, barrier, adds);
  op.parts = static_cast<std::uint8_t>(Named::in_shared);
}

// fence.proxy.tensormap::generic.acquire.gpu [map], 128;
void Decoder::decode_map_fence(const Instruction& i) {
  Op map;
  Uses uses;
  Space space = Space::global;
  set_address(i.operands.at(0), map, space, uses);
  Op& op = emit_named("fence.tensormap", uses);
  op.a = map.a, op.bits = map.bits, op.flags |= map.flags;
}

// An operation on a barrier in shared memory, however it is named.
Op& Decoder::emit_at_barrier(const Instruction& i, const char* name, const Operand& address) {
  Op at;
  Uses uses;
  Space space = Space::shared;
  set_address(address, at, space, uses);
  Op& op = emit_named(name, uses);
  op.a = at.a, op.bits = at.bits, op.flags |= at.flags;
  op.b = op.c = op.d = -1;
  op.parts = static_cast<std::uint8_t>(names_shared(i) ? Named::in_shared : Named::generic);
  return op;
}

void Decoder::decode_mbarrier(const Instruction& i) {
  const auto reads = [&](std::size_t n, bool wide) {
    const int s = slot(i.operands[n], wide);
    return s;
  };
  if (has(i, "pending_count")) {
    emit_table(known_handling("mbarrier.pending_count"),
               {slot(i.operands[0], false), reads(1, true)});
  } else if (has(i, "init") || has(i, "inval")) {
    const bool inits = has(i, "init");
    const int count = inits ? reads(1, false) : -1;
    Op& op = emit_at_barrier(i, inits ? "mbarrier.init" : "mbarrier.inval", i.operands[0]);
    op.b = count;
  } else if (has(i, "test_wait") || has(i, "try_wait")) {
    const bool by_parity = has(i, "parity");
    const int state = reads(2, !by_parity);
    Op& op = emit_at_barrier(i, "mbarrier.wait", i.operands[1]);
    op.d = predicate_of(i.operands[0]);
    op.b = state;
    op.mode = static_cast<std::uint8_t>((has(i, "try_wait") ? 1 : 0) | (by_parity ? 2 : 0) |
                                        (has(i, "relaxed") ? 4 : 0));
    out_.uses.back().reads.push_back(state);
    out_.uses.back().predicates_written.push_back(op.d);
  } else if (has(i, "arrive") || has(i, "arrive_drop")) {
    // Without a result where the barrier may be another block's.
    const std::size_t at = i.operands[0].kind == Kind::address ? 0 : 1;
    const int state =
        at == 1 && i.operands[0].kind != Kind::discard ? slot(i.operands[0], true) : -1;
    const int given = i.operands.size() > at + 1 ? reads(at + 1, false) : -1;
    Op& op = emit_at_barrier(i, "mbarrier.arrive", i.operands[at]);
    op.d = state;
    (has(i, "expect_tx") ? op.c : op.b) = given;
    op.mode =
        static_cast<std::uint8_t>((has(i, "arrive_drop") ? 1 : 0) | (has(i, "relaxed") ? 2 : 0));
    if (given >= 0) out_.uses.back().reads.push_back(given);
    if (state >= 0) out_.uses.back().writes.push_back(state);
  } else if (has(i, "expect_tx") || has(i, "complete_tx")) {
    const int bytes = reads(1, false);
    Op& op = emit_at_barrier(i, "mbarrier.expect", i.operands[0]);
    op.b = bytes;
    op.mode = has(i, "complete_tx") ? 1 : 0;
  } else {
    refuse(i);
  }
}

}  // namespace ptx
