// Clusters: their barrier, and addresses of shared memory of other blocks.
#include "ptx/decode/decoder.h"
#include "ptx/machine/cluster/barrier.h"

namespace ptx {

// barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
void Decoder::decode_cluster_barrier(const Instruction& i) {
  out_.meets_in_clusters = true;
  if (!has(i, "arrive") && !has(i, "wait")) refuse(i);
  Op& op = emit_named(has(i, "arrive") ? "barrier.cluster.arrive" : "barrier.cluster.wait");
  op.mode = static_cast<std::uint8_t>((has(i, "relaxed") ? is_relaxed : 0) |
                                      (has(i, "aligned") ? is_aligned : 0));
}

// mapa.u64 d, a, rank; mapa.shared::cluster.u32 d, a, rank; getctarank.shared::cluster.u32 d, a;
bool Decoder::decode_cluster_address(const Instruction& i) {
  if (i.opcode != "mapa" && i.opcode != "getctarank") return false;
  const bool maps = i.opcode == "mapa", is_wide = type_of(i) == Type::u64;
  if (!is_wide && type_of(i) != Type::u32) refuse(i);
  const int a = slot(i.operands[1], is_wide);
  const int d = slot(i.operands[0], maps && is_wide);
  const std::string name = i.opcode + (is_wide ? ".u64" : ".u32");
  const Handling& handling = known_handling(name);
  Op& op = maps ? emit_table(handling, {d, a, slot(i.operands[2], false)})
                : emit_table(handling, {d, a});
  op.mode = has(i, "shared::cluster") ? 0 : 1;
  return true;
}

// The slot of those that a copy goes to; -1: to one alone.
int Decoder::multicast_blocks(const Instruction& i, std::size_t operand) {
  return has(i, "multicast::cluster") ? slot(i.operands[operand], false) : -1;
}

// st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [to], {a, b}, [barrier];
void Decoder::decode_signalling_store(const Instruction& i) {
  const int bytes = bytes_of(type_of(i));
  if (bytes != 4 && bytes != 8) refuse(i);
  Uses uses;
  Op to, barrier;
  Space space = Space::shared;
  set_address(i.operands[0], to, space, uses);
  Uses others;
  set_address(i.operands[2], barrier, space, others);
  const Operand& value = i.operands[1];
  const auto values =
      value.kind == Operand::Kind::vector ? value.elements : std::vector<Operand>{value};
  std::vector<int> all = {barrier.a, static_cast<int>(barrier.bits)};
  for (const Operand& one : values) all.push_back(slot(one, bytes == 8));
  uses.reads.assign(all.begin() + 2, all.end());
  if (barrier.a >= 0) uses.reads.push_back(barrier.a);
  Op& op = emit_named("st.async", uses);
  op.a = to.a, op.bits = to.bits, op.flags |= to.flags | is_bulk;
  op.d = list(all);
  op.parts = static_cast<std::uint8_t>(values.size());
  op.mode = static_cast<std::uint8_t>(bytes | ((barrier.flags & address_is_wide) != 0 ? 1 : 0));
}

}  // namespace ptx
