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
  const Handling& handling = known_handling(i.opcode + (is_wide ? ".u64" : ".u32"));
  Op& op = maps ? emit_table(handling, {d, a, slot(i.operands[2], false)})
                : emit_table(handling, {d, a});
  op.mode = has(i, "shared::cluster") ? 0 : 1;
  return true;
}

}  // namespace ptx
