#include "ptx/counts/counter.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "ptx/counts/classes.h"
#include "ptx/counts/joined_accesses.h"
#include "ptx/counts/rules.h"
#include "ptx/machine/access.h"
#include "ptx/machine/handlers.h"

namespace ptx {
namespace {

using std::int64_t;
using std::uint32_t;
using std::uint64_t;

const Op* counted(const Op* op, Warp& w) { return w.block->run->counter->count_and_run(op, w); }

uint32_t lanes_let_through(const Op* op, const Warp& w) {
  if (op->guard < 0) return w.mask;
  const uint32_t guard = w.predicates[op->guard];
  return (op->guard_negated ? ~guard : guard) & w.mask;
}

// Where each lane goes: accesses by generic addresses go wherever these point. Shared memory of
// another block of the cluster counts as shared.
struct Places {
  uint32_t global = 0, shared = 0, local = 0;  // lanes
  uint64_t at[warp_size];                      // in shared memory, the offset
};
Places places_of(const Op* op, Warp& w, uint32_t lanes, Space space) {
  Places p;
  addresses_of(op, w, p.at);
  switch (space) {
    case Space::shared: p.shared = lanes; return p;
    case Space::local: p.local = lanes; return p;
    case Space::global:
    case Space::constant: p.global = lanes; return p;
    case Space::generic:
    case Space::param: break;
  }
  const Block& block = *w.block;
  const auto shared = reinterpret_cast<uint64_t>(block.shared.data()),
             local = reinterpret_cast<uint64_t>(block.local.data());
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint32_t bit = 1u << lane;
    if (p.at[lane] - shared < block.run->shared_bytes) {
      p.shared |= bit;
      p.at[lane] -= shared;
    } else if (const InPeer peer = peer_of(block, p.at[lane]); peer.block != nullptr) {
      p.shared |= bit;
      p.at[lane] = peer.at;
    } else {
      (p.at[lane] - local < block.local.size() ? p.local : p.global) |= bit;
    }
  }
  return p;
}

void add_global(GlobalTraffic& to, const WarpAccess& access, int sectors) {
  if (access.lanes == 0) return;
  const auto lanes = static_cast<uint64_t>(std::popcount(access.lanes));
  ++to.requests;
  to.sectors += static_cast<uint64_t>(sectors);
  to.accesses += lanes;
  to.bytes_asked += lanes * static_cast<uint64_t>(access.bytes);
}
void add_shared(SharedTraffic& to, const WarpAccess& access, int wavefronts) {
  if (access.lanes == 0) return;
  const auto lanes = static_cast<uint64_t>(std::popcount(access.lanes));
  ++to.instructions;
  to.wavefronts += static_cast<uint64_t>(wavefronts);
  to.accesses += lanes;
  to.bytes_asked += lanes * static_cast<uint64_t>(access.bytes);
}

// Whether an operation is this one, guarded or not.
bool does(const Op& op, const char* name) {
  const Handler handler = handling_of(name)->run;
  return op.run == handler || op.behind_guard == handler;
}

bool is_of_matrices(const Instruction& i) {
  return i.opcode == "ldmatrix" || i.opcode == "stmatrix" || i.opcode == "movmatrix" ||
         i.opcode == "mma" || i.opcode == "wmma" || i.opcode == "wgmma";
}

// Of an instruction, the operation that stands for it: its access, or its last one.
bool stands_for(const Op& op, const Instruction& i) {
  static const Handler join = handling_of("join")->run;
  if ((op.flags & (loads | stores)) != 0) return i.opcode != "call";
  return op.run != join;
}

}  // namespace

Counter::Counter(const Program::Kernel& kernel)
    : kernel_(kernel), code_(kernel.code), tallies_(kernel.code.size()) {
  const std::vector<Instruction>& body = kernel.function.body;
  const std::vector<int> joined = joined_accesses(kernel.function, *kernel.module);
  std::vector<int> standing(body.size(), -1);
  for (std::size_t n = 0; n < code_.size(); ++n) {
    Op& op = code_[n];
    op.run = counted;
    const auto from = static_cast<std::size_t>(op.from);
    if (from >= body.size() || !stands_for(kernel.code[n], body[from])) continue;
    const int before = standing[from];
    const bool is_access = (op.flags & (loads | stores)) != 0;
    if (before < 0 || is_access ||
        (code_[static_cast<std::size_t>(before)].flags & (loads | stores)) == 0)
      standing[from] = static_cast<int>(n);
  }
  for (std::size_t from = 0; from < body.size(); ++from)
    if (standing[from] >= 0)
      choose(static_cast<std::size_t>(standing[from]), body[from], joined[from]);
}

void Counter::choose(std::size_t n, const Instruction& i, int joined) {
  const Op& op = code_[n];
  Tally& t = tallies_[n];
  t.what = What::instruction;
  t.class_number = class_number(class_of(i));
  const bool is_access = (op.flags & (loads | stores)) != 0;
  if (is_of_matrices(i)) {
    t.needs = Needs::all;
    if (i.opcode == "ldmatrix" || i.opcode == "stmatrix") {
      // Each eight lanes have the addresses of the rows of a matrix.
      t.what = i.opcode == "ldmatrix" ? What::load : What::store;
      t.space = space_of_access(i);
      t.bytes = 16;
      t.lanes = op.parts == 4 ? all_lanes : (1u << 8 * op.parts) - 1;
    } else if (is_access) {
      t.has_unknown_accesses = true;
    }
  } else if (i.opcode == "tex" || i.opcode == "suld" || i.opcode == "sust") {
    t.has_unknown_accesses = true;  // texture requests, which a profiler counts apart
  } else if (is_access) {
    t.what = i.opcode == "atom" || i.opcode == "red" ? What::atomic
             : (op.flags & stores) != 0              ? What::store
                                                     : What::load;
    t.space = space_of_access(i);
    t.bytes = element_bytes(i) * op.parts;
    if (joined != not_joined) t.bytes = joined;
  } else if (does(kernel_.code[n], "cp.async.bulk.shared") ||
             does(kernel_.code[n], "cp.async.bulk.tensor.shared")) {
    t.what = What::bulk_load;
  } else if (does(kernel_.code[n], "cp.async.bulk.global") ||
             does(kernel_.code[n], "cp.async.bulk.tensor.global")) {
    t.what = What::bulk_store;
  } else if ((op.flags & decides) != 0) {
    t.what = What::branch;
  } else if (does(kernel_.code[n], "cp.async")) {
    t.what = What::copy;
    t.bytes = op.mode;
  } else if (classes_[t.class_number] == "warp" && i.opcode != "activemask") {
    t.needs = Needs::named;
  }
}

std::size_t Counter::class_number(const std::string& name) {
  const auto found = std::find(classes_.begin(), classes_.end(), name);
  if (found != classes_.end()) return static_cast<std::size_t>(found - classes_.begin());
  classes_.push_back(name);
  return classes_.size() - 1;
}

const Op* Counter::count_and_run(const Op* op, Warp& w) {
  const auto n = static_cast<std::size_t>(op - code_.data());
  Tally& t = tallies_[n];
  const Handler run = kernel_.code[n].run;
  if (t.what == What::nothing) return run(op, w);
  // The guard of a branch says where to go on. A warp that waits for lanes comes here again.
  const uint32_t needed = t.needs == Needs::all     ? w.alive
                          : t.needs == Needs::named ? partners(op, w)
                                                    : 0;
  const bool waits = (needed & ~w.mask) != 0;
  const uint32_t lanes = waits ? 0 : t.what == What::branch ? w.mask : lanes_let_through(op, w);
  if (lanes == 0) return run(op, w);
  ++t.executed.warps;
  t.executed.threads += static_cast<uint64_t>(std::popcount(lanes));
  if (t.what == What::bulk_load || t.what == What::bulk_store) {
    t.global.requests += static_cast<uint64_t>(std::popcount(lanes));
    t.global.accesses = t.global.requests;
  } else if (t.what == What::copy)
    count_copy(t, op, w, lanes);
  else if (t.bytes != 0)
    count_access(t, op, w, lanes & t.lanes);
  return run(op, w);
}

void Counter::count_access(Tally& t, const Op* op, Warp& w, uint32_t lanes) {
  const Places p = places_of(op, w, lanes, t.space);
  const WarpAccess global{p.at, p.global, t.bytes};
  add_global(t.global, global, sectors_of(global));
  if (p.shared != 0) {
    const WarpAccess access{p.at, p.shared, t.bytes};
    add_shared(t.shared, access,
               t.what == What::atomic ? atomic_wavefronts_of(access) : wavefronts_of(access));
  }
  t.local += p.local != 0;
  if ((lanes & 3) != 3) return;
  const auto stride = static_cast<int64_t>(p.at[1] - p.at[0]);
  t.stride_varies |= t.strides != 0 && stride != t.stride;
  t.stride = stride;
  ++t.strides;
}

void Counter::add_bulk(const Op* op, uint64_t address, uint64_t bytes) {
  GlobalTraffic& to = tallies_[static_cast<std::size_t>(op - code_.data())].global;
  to.sectors += (address + bytes - 1) / sector_bytes - address / sector_bytes + 1;
  to.bytes_asked += bytes;
}

// As the handler of cp.async takes its operands.
void Counter::count_copy(Tally& t, const Op* op, Warp& w, uint32_t lanes) {
  uint64_t from[warp_size], to[warp_size] = {};
  addresses_of(op, w, from);
  uint32_t reading = 0;
  uint64_t bytes = 0;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint32_t base = op->d < 0        ? 0
                          : op->parts == 2 ? static_cast<uint32_t>(w.slot<uint64_t>(op->d)[lane])
                                           : w.slot<uint32_t>(op->d)[lane];
    to[lane] = base + static_cast<uint32_t>(op->e);
    const uint64_t read =
        op->b < 0 ? op->mode : std::min<uint64_t>(op->mode, w.slot<uint32_t>(op->b)[lane]);
    if (read != 0) reading |= 1u << lane;
    bytes += read;
  }
  const WarpAccess loaded{from, reading, t.bytes}, written{to, lanes, t.bytes};
  const uint64_t before = t.global.bytes_asked;
  add_global(t.global, loaded, copied_sectors_of(loaded, written));
  t.global.bytes_asked = before + bytes;
  add_shared(t.shared, written, wavefronts_of(written));
}

void Counter::add(const Tally& t, Counts& to) const {
  to.instructions += t.executed;
  to.classes[classes_[t.class_number]] += t.executed;
  if (classes_[t.class_number] == "barrier") to.barriers += t.executed.warps;
  switch (t.what) {
    case What::load:
      to.global_loads += t.global, to.shared_loads += t.shared, to.local_loads += t.local;
      break;
    case What::store:
      to.global_stores += t.global, to.shared_stores += t.shared, to.local_stores += t.local;
      break;
    case What::atomic: to.global_atomics += t.global, to.shared_atomics += t.shared; break;
    case What::copy: to.global_copies += t.global, to.shared_copies += t.shared; break;
    case What::bulk_load: to.bulk_loads += t.global; break;
    case What::bulk_store: to.bulk_stores += t.global; break;
    default: break;
  }
}

void Counter::add_access(const Tally& t, LineCounts& line) const {
  if (t.what < What::load || t.bytes == 0) return;
  line.accesses.push_back({.what = classes_[t.class_number],
                           .bytes = t.bytes,
                           .warps = t.executed.warps,
                           .pieces = t.what == What::copy || t.global.requests != 0
                                         ? t.global.sectors
                                         : t.shared.wavefronts,
                           .stride = {t.strides != 0 && !t.stride_varies, t.stride}});
}

namespace {

// Of what is inlined, the first line outwards that lies in a kernel file.
std::pair<std::string, int> line_of(const Module& module, const Instruction& i) {
  if (i.place < 0) return {"", 0};
  const auto at = [&](int place) -> const Place& {
    return module.places[static_cast<std::size_t>(place)];
  };
  const auto file = [&](int place) -> const std::string& {
    return module.files[static_cast<std::size_t>(at(place).file)];
  };
  int place = i.place;
  while (!file(place).ends_with(".cu") && at(place).called_from >= 0) place = at(place).called_from;
  return {file(place), at(place).line};
}

}  // namespace

LaunchCounts Counter::result() const {
  LaunchCounts result;
  std::map<std::pair<std::string, int>, LineCounts> lines;
  for (std::size_t n = 0; n < tallies_.size(); ++n) {
    const Tally& t = tallies_[n];
    if (t.what == What::nothing) continue;
    if (t.what == What::load && t.space == Space::shared && t.bytes != 0)
      ++result.shared_loads_by_bytes[t.bytes];
    if (t.executed.warps == 0) continue;
    add(t, result.total);
    const Instruction& i = kernel_.function.body[static_cast<std::size_t>(code_[n].from)];
    if (t.has_unknown_accesses) {
      const std::string name = i.opcode + "." + i.modifiers.at(0);
      if (std::find(result.not_counted.begin(), result.not_counted.end(), name) ==
          result.not_counted.end())
        result.not_counted.push_back(name);
    }
    const auto where = line_of(*kernel_.module, i);
    LineCounts& line = lines[where];
    line.file = where.first, line.line = where.second;
    add(t, line.counts);
    add_access(t, line);
  }
  for (auto& [_, line] : lines) result.lines.push_back(std::move(line));
  return result;
}

// Sums.
GlobalTraffic& GlobalTraffic::operator+=(const GlobalTraffic& more) {
  requests += more.requests, sectors += more.sectors;
  accesses += more.accesses, bytes_asked += more.bytes_asked;
  return *this;
}
SharedTraffic& SharedTraffic::operator+=(const SharedTraffic& more) {
  instructions += more.instructions, wavefronts += more.wavefronts;
  accesses += more.accesses, bytes_asked += more.bytes_asked;
  return *this;
}
Executed& Executed::operator+=(const Executed& more) {
  warps += more.warps, threads += more.threads;
  return *this;
}
Counts& Counts::operator+=(const Counts& more) {
  global_loads += more.global_loads, global_stores += more.global_stores;
  global_atomics += more.global_atomics, global_copies += more.global_copies;
  bulk_loads += more.bulk_loads, bulk_stores += more.bulk_stores;
  shared_loads += more.shared_loads, shared_stores += more.shared_stores;
  shared_atomics += more.shared_atomics, shared_copies += more.shared_copies;
  local_loads += more.local_loads, local_stores += more.local_stores;
  barriers += more.barriers;
  instructions += more.instructions;
  for (const auto& [name, executed] : more.classes) classes[name] += executed;
  return *this;
}
std::uint64_t Counts::ffma() const {
  const auto found = classes.find("fma.f32");
  return found == classes.end() ? 0 : found->second.threads;
}

}  // namespace ptx
