#include "ptx/machine/access.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "ptx/machine/bits/kept.h"
#include "ptx/machine/report/accesses.h"

namespace ptx {
namespace {

using std::uint32_t;
using std::uint64_t;

uint64_t base_of(const std::vector<std::byte>& memory) {
  return reinterpret_cast<uint64_t>(memory.data());
}
std::uint32_t op_number(const Warp& w, const Op* op) { return static_cast<uint32_t>(op - w.code); }

// `where`: in words, if it is in memory whose places have names.
template <class Where>
bool is_aligned(Warp& w, const Access& a, const Where& where) {
  const int unit = a.unit == 0 ? a.bytes : a.unit;
  const uint64_t beyond = a.address % static_cast<uint64_t>(unit);
  if (beyond == 0) return true;
  report(w, a.op, Fault::misaligned_access,
         fmt::format("{} {} {} bytes at {}, {} bytes past a multiple of {}", thread_text(w, a.lane),
                     verb(a), a.bytes, where(), beyond, unit),
         details_of(w, a));
  return false;
}

// Whether a warp has, or comes after one that has.
bool has_waited_for_grids(const Warp& w) {
  const auto& waits = w.block->waits_for_grids;
  return std::any_of(waits.begin(), waits.end(), [&](uint32_t s) {
    return stamp::warp(s) == static_cast<uint32_t>(w.index) || is_known(s, w);
  });
}

// The operation that a block of another one belongs to, if nothing orders it with this launch.
const Unordered* unordered_at(const Run& run, uint32_t block) {
  const uint32_t number = run.numbering.earlier + block + 1;
  const auto found =
      std::partition_point(run.unordered.begin(), run.unordered.end(),
                           [=](const Unordered* other) { return other->numbers.end <= number; });
  const bool is_there = found != run.unordered.end() && (*found)->numbers.hold(number);
  return is_there ? *found : nullptr;
}

// Whether what other blocks or this one did at a stamp comes before what this lane does now.
bool is_ordered(const Warp& w, int lane, uint64_t s) {
  const auto block = static_cast<uint32_t>(s >> 32) - 1;
  const auto in_block = static_cast<uint32_t>(s);
  const uint32_t warp = stamp::warp(in_block);
  const Run& run = *w.block->run;
  if (run.numbering.is_of_other(block)) {
    const Unordered* const other = unordered_at(run, block);
    if (other == nullptr || (other->until_waited_for && has_waited_for_grids(w))) return true;
  }
  if (block == w.block->number) {
    if (warp != static_cast<uint32_t>(w.index)) return is_known(in_block, w);
    return stamp::thread(in_block) == static_cast<uint32_t>(w.index * warp_size + lane) ||
           stamp::is_untold(in_block) || is_known_of_own(in_block, w, lane) ||
           is_known(in_block, w);
  }
  const uint64_t told_as = uint64_t{run.numbering.earlier} + block;
  if (w.block->knows.knows(told_as, in_block)) return true;
  if (const int rank = rank_of_block(w, block); rank >= 0)
    return knows_of_peer(w, static_cast<unsigned>(rank), in_block);
  const auto heard = w.block->hearsay.find(w.index);
  return heard != w.block->hearsay.end() && heard->second.known.knows(told_as, in_block);
}

// Of other blocks, what this one knew of when it fenced; of its cluster's, all, if it ever fenced.
bool has_fenced_for(const Warp& w, uint32_t writer, uint32_t write) {
  const Run& run = *w.block->run;
  if (!run.fenced_for_copies.contains(w.block->number)) return false;
  if (run.numbering.is_of_other(writer) || rank_of_block(w, writer) >= 0) return true;
  return w.block->fenced_of_others.knows(uint64_t{run.numbering.earlier} + writer, write);
}

// By a bulk copy of what somebody wrote, who did not fence it before letting others know.
bool may_be_unseen(const Warp& w, const Access& a, uint32_t writer, uint32_t write,
                   uint32_t write_op) {
  if ((a.op->flags & is_cached) != 0) return true;
  if ((a.op->flags & is_bulk) == 0 || a.writes || (w.code[write_op].flags & is_bulk) != 0)
    return false;
  const auto& fenced = w.block->run->fenced_for_copies;
  const auto by_writer = fenced.find(writer);
  if (by_writer != fenced.end() && stamp::time(write) < by_writer->second) return false;
  return writer == w.block->number || !has_fenced_for(w, writer, write);
}

bool trace(Warp& w, const Access& a, Region& region, uint64_t address, Trace& t) {
  const auto unordered = [&](uint64_t s, bool both_strong) {
    return s != 0 && !both_strong && !is_ordered(w, a.lane, s);
  };
  const Numbering& numbering = w.block->run->numbering;
  const auto block_of = [](uint64_t s) { return static_cast<uint32_t>(s >> 32) - 1; };
  // Whether what somebody did in another block was not atomic for this one, or this is not for it.
  const auto is_out_of_scope = [&](uint64_t s, uint32_t op) {
    const bool is_of_peer =
        s != 0 && !numbering.is_of_other(block_of(s)) && block_of(s) != w.block->number;
    return is_of_peer && ((a.op->flags | w.code[op].flags) & is_of_block) != 0;
  };
  const auto who = [&](uint64_t s) {
    return block_of(s) == w.block->number
               ? other_text(w, static_cast<uint32_t>(s))
               : fmt::format("a thread of block {} of the grid", block_of(s) - numbering.others);
  };
  const auto conflict = [&](uint64_t s, bool wrote, uint32_t op) {
    const uint32_t block = block_of(s);
    if (numbering.is_of_other(block)) {
      const Unordered& other = *unordered_at(*w.block->run, block);
      report_unordered(w, a, place_in(region, address), other, wrote, op);
      return false;
    }
    const bool is_in_block = block == w.block->number;
    report_race(w, a, place_in(region, address),
                {.who = who(s),
                 .wrote = wrote,
                 .is_in_block = is_in_block,
                 .op = op,
                 .is_in_flight = stamp::is_in_flight(static_cast<uint32_t>(s)),
                 .is_in_cluster = !is_in_block && rank_of_block(w, block) >= 0,
                 .is_out_of_scope = a.is_strong && is_out_of_scope(s, op)});
    return false;
  };
  // Of numbers that are handed out to two launches at a time, each gets some.
  const bool may_be_shared = a.counts_on && w.block->run->settings.numbers != Drawn::by_one_launch;
  const bool shares_numbers =
      a.hands_out && t.write != 0 && numbering.is_of_other(block_of(t.write)) && !may_be_shared;
  const bool are_atomic = a.is_strong && t.write_is_atomic && !is_out_of_scope(t.write, t.write_op);
  if (unordered(t.write, are_atomic && !shares_numbers)) {
    conflict(t.write, true, t.write_op);
    if (are_atomic && a.counts_on) w.block->run->finding->is_of_drawn_numbers = true;
    return false;
  }
  if (a.writes &&
      unordered(t.read, a.is_strong && t.read_is_atomic && !is_out_of_scope(t.read, t.read_op)))
    return conflict(t.read, false, t.read_op);
  if (t.write != 0 && !numbering.is_of_other(block_of(t.write)) &&
      may_be_unseen(w, a, block_of(t.write), static_cast<uint32_t>(t.write), t.write_op)) {
    report_unseen(w, a, place_in(region, address), who(t.write), t.write_op);
    return false;
  }
  const uint32_t mine =
      stamp::make(w.block->shadow.now(), static_cast<uint32_t>(w.index * warp_size + a.lane));
  uint64_t now = (uint64_t{w.block->number} + 1) << 32 | mine;
  if (a.writes) {
    t.write = now, t.write_op = op_number(w, a.op), t.write_is_atomic = a.is_strong;
    t.read = 0;
  } else {
    const bool joins = t.read != 0 && t.read >> 32 == now >> 32 && !is_ordered(w, a.lane, t.read);
    if (joins) now = (now >> 32) << 32 | stamp::joined(static_cast<uint32_t>(t.read), mine);
    t.read = now, t.read_op = op_number(w, a.op), t.read_is_atomic = a.is_strong;
  }
  return true;
}

bool trace(Warp& w, const Access& a, Region& region, uint64_t address) {
  if (!region.area.writable || w.block->run->watch != nullptr) return true;
  const Numbering& numbering = w.block->run->numbering;
  Traces& traces = w.block->run->memory.traces_of(region);
  const std::size_t word = region.word(address);
  Trace t = traces.get(word, numbering.earlier, numbering.settled(region));
  // Between the launches of a kernel, constants are written whole.
  const bool is_whole = (a.op->flags & is_constant) != 0;
  const unsigned bytes = is_whole ? SharedShadow::whole : bytes_within_word(a);
  if (bytes == SharedShadow::whole && !t.is_in_parts) {
    const bool is_ordered = trace(w, a, region, address, t);
    traces.set(word, t, numbering.earlier);
    return is_ordered;
  }
  auto& parts = region.parts[word];
  if (!t.is_in_parts) parts.fill(Traces::absolute(t, numbering.earlier));
  t.is_in_parts = true;
  for (unsigned left = bytes; left != 0; left &= left - 1) {
    Trace& part = parts[static_cast<std::size_t>(std::countr_zero(left))];
    Trace here = Traces::relative(part, numbering.earlier, numbering.settled(region));
    if (!trace(w, a, region, address, here)) return false;
    part = Traces::absolute(here, numbering.earlier);
  }
  if (a.writes && bytes == SharedShadow::whole) {
    t = Traces::relative(parts[0], numbering.earlier, numbering.settled(region));
    region.parts.erase(word);
  }
  traces.set(word, t, numbering.earlier);
  return true;
}

}  // namespace

void addresses_of(const Op* op, Warp& w, uint64_t (&to)[warp_size]) {
  if (op->a < 0) {
    for (uint64_t& address : to) address = op->bits;
  } else if ((op->flags & address_is_wide) != 0) {
    const uint64_t* a = w.slot<uint64_t>(op->a);
    for (int i = 0; i < warp_size; ++i) to[i] = a[i] + op->bits;
  } else {
    const uint32_t* a = w.slot<uint32_t>(op->a);
    for (int i = 0; i < warp_size; ++i) to[i] = static_cast<uint32_t>(a[i] + op->bits);
  }
}

bool comes_after_last_write(Warp& w, int lane, uint64_t address) {
  const Run& run = *w.block->run;
  Region& region = *run.memory.at(address);
  const Trace t = run.memory.traces_of(region).get(region.word(address), run.numbering.earlier,
                                                   run.numbering.settled(region));
  return t.is_in_parts || t.write == 0 || is_ordered(w, lane, t.write);
}

bool lacks_caller(const Warp& w) {
  const auto& caller = w.block->run->launch.past.caller;
  return caller && !(caller->until_waited_for && has_waited_for_grids(w));
}

std::byte* reach_global(Warp& w, const Access& a, uint32_t& unwritten) {
  Run& run = *w.block->run;
  Region*& cached = run.meets(a.op).region;
  Region* asked = nullptr;
  if (cached == nullptr || !cached->holds(a.address, static_cast<uint64_t>(a.bytes))) {
    Region* region = run.memory.at(a.address);
    if (region == nullptr || !region->holds(a.address, static_cast<uint64_t>(a.bytes))) {
      report_outside(w, a, region);
      return nullptr;
    }
    const auto& caller = run.launch.past.caller;
    if (region->area.is_of_caller && lacks_caller(w)) {
      report_unordered(w, a, place_in(*region, a.address), *caller, true, 0);
      return nullptr;
    }
    // Other blocks may not have waited, and have to be asked.
    (region->area.is_of_caller && caller ? asked : cached) = region;
  }
  Region& region = asked != nullptr ? *asked : *cached;
  if (a.writes && region.area.is_result)
    w.block->stored += static_cast<uint64_t>(std::max(1, a.bytes / 4));
  if (!is_aligned(w, a, [&] { return place_in(region, a.address); })) return nullptr;
  if (a.writes && !region.area.writable) {
    report(w, a.op, Fault::write_to_input,
           fmt::format("{} writes to {}, which is only to be read", thread_text(w, a.lane),
                       place_in(region, a.address)),
           details_of(w, a));
    return nullptr;
  }
  for (int at = 0; at < a.bytes; at += 4) {
    const uint64_t address = a.address + static_cast<uint64_t>(at);
    if (!trace(w, a, region, address)) return nullptr;
    if (region.is_written.empty()) continue;
    std::uint8_t& written = region.is_written[region.word(address)];
    if (written == 0 && (a.reads_too || !a.writes)) {
      if (region.area.is_result && !a.writes) {
        report(w, a.op, Fault::uninitialised,
               fmt::format("{} reads {}, where nobody has written", thread_text(w, a.lane),
                           place_in(region, address)),
               details_of(w, a));
        return nullptr;
      }
      unwritten |= 1u << at / 4;
      note_unwritten_global(w, a, address, at / 4);
    }
    if (a.writes) written = 1;
  }
  return region.area.bytes_at(a.address);
}

namespace {

// Calls use(stamp of a write, with the absolute number of its block) for all that these bytes have.
template <class Use>
void for_each_write(Warp& w, uint64_t address, uint64_t bytes, const Use& use) {
  if (w.block->run->watch != nullptr) return;
  Memory::Contents& memory = w.block->run->memory;
  Region& region = *memory.at(address);
  Traces& traces = memory.traces_of(region);
  for (uint64_t at = address - address % 4; at < address + bytes; at += 4) {
    const std::size_t word = region.word(at);
    Trace t = traces.get(word, 0, w.block->run->numbering.settled(region));
    if (!t.is_in_parts) {
      use(t.write);
      traces.set(word, t, 0);
      continue;
    }
    for (uint64_t part = 0; part < 4; ++part)
      if (at + part >= address && at + part < address + bytes) use(region.parts[word][part].write);
  }
}
uint64_t of_block(const Warp& w, uint32_t stamp) { return (w.block->told_as + 1) << 32 | stamp; }

}  // namespace

void let_fly(Warp& w, uint64_t address, uint64_t bytes) {
  for_each_write(w, address, bytes, [&](uint64_t& s) { s = of_block(w, stamp::in_flight); });
}
void land(Warp& w, uint64_t address, uint64_t bytes, uint32_t stamp) {
  for_each_write(w, address, bytes, [&](uint64_t& s) {
    if (s == of_block(w, stamp::in_flight)) s = of_block(w, stamp);
  });
}

// What a word takes that a lane reaches by itself, in the time of a usual operation.
constexpr uint64_t time_alone = 5;

std::byte* reach_shared(Warp& w, const Access& a, uint32_t& unwritten) {
  Block& block = *w.block;
  const uint64_t size = block.run->shared_bytes;
  if (a.address + static_cast<uint64_t>(a.bytes) > size) {
    report(w, a.op, Fault::bad_address,
           fmt::format("{} {} {} bytes at {} of {} bytes of shared memory", thread_text(w, a.lane),
                       verb(a), a.bytes, static_cast<std::int64_t>(a.address), size),
           {.sites = {site(w, verb(a), a.op)}});
    return nullptr;
  }
  if (!is_aligned(w, a, [&] { return place_in_shared_memory(w, a.address); })) return nullptr;
  const uint32_t op = op_number(w, a.op);
  const Run::Part part = block.run->shared_part(op);
  if (a.address < part.first || a.address + static_cast<uint64_t>(a.bytes) > part.end) {
    report_beyond_array(w, a, a.address < part.first);
    return nullptr;
  }
  for (int at = 0; at < a.bytes; at += 4) {
    block.run->extra_time += time_alone;
    const std::size_t word = (a.address + static_cast<uint64_t>(at)) / 4;
    SharedShadow::Conflict conflict;
    const unsigned bytes = bytes_within_word(a);
    if ((a.reads_too || !a.writes) && !block.shadow.is_written(word, bytes)) {
      unwritten |= 1u << at / 4;
      note_unwritten_shared(w, a, block, word, at / 4);
    }
    const bool ordered = a.writes ? block.shadow.write(w, a.lane, word, op, conflict, bytes)
                                  : block.shadow.read(w, a.lane, word, op, conflict, bytes);
    if (!ordered && !a.is_strong) {
      report_race(w, a, place_in_shared_memory(w, word * 4), other_of(w, conflict, block));
      return nullptr;
    }
  }
  return block.shared.data() + a.address;
}

std::byte* reach_shared_by_copy(Warp& w, const Access& a, uint32_t& unwritten) {
  const Block& block = *w.block;
  std::optional<SharedShadow::Conflict> unfenced;
  uint64_t word = a.address / 4;
  for (; word < (a.address + static_cast<uint64_t>(a.bytes)) / 4; ++word)
    if ((unfenced = block.shadow.unfenced_write(word))) break;
  std::byte* const reached = reach_shared(w, a, unwritten);
  if (reached == nullptr || !unfenced) return reached;
  report(w, a.op, Fault::data_race,
         fmt::format("{} {} {} {} ({}), which {} wrote ({}), and no fence.proxy.async "
                     "lies between the two",
                     thread_text(w, a.lane), verb(a), place_in_shared_memory(w, word * 4), a.by,
                     place_of(block.run->kernel, *a.op), other_text(w, unfenced->other),
                     place_of(block.run->kernel, w.code[unfenced->other_op])),
         {0, a.writes, {site(w, verb(a), a.op), site(w, "wrote", w.code + unfenced->other_op)}});
  return nullptr;
}

std::byte* reach_local(Warp& w, const Access& a, uint32_t& unwritten) {
  Block& block = *w.block;
  if (a.address + static_cast<uint64_t>(a.bytes) > block.local_bytes) {
    report(w, a.op, Fault::bad_address,
           fmt::format("{} {} {} bytes at {} of its own {} bytes of local memory",
                       thread_text(w, a.lane), verb(a), a.bytes,
                       static_cast<std::int64_t>(a.address), block.local_bytes),
           {.sites = {site(w, verb(a), a.op)}});
    return nullptr;
  }
  if (!is_aligned(w, a, [] { return "an address of its own memory"; })) return nullptr;
  const auto thread = static_cast<std::size_t>(w.index * warp_size + a.lane);
  const std::size_t first = thread * block.local_bytes + a.address;
  note_own(w, a, first, unwritten);
  return block.local.data() + first;
}

std::byte* reach_generic(Warp& w, const Access& a, uint32_t& unwritten) {
  Block& block = *w.block;
  Access inside = a;
  inside.address = a.address - base_of(block.shared);
  if (inside.address < block.run->shared_bytes) return reach_shared(w, inside, unwritten);
  const auto thread = static_cast<uint64_t>(w.index * warp_size + a.lane);
  inside.address = a.address - base_of(block.local) - thread * block.local_bytes;
  if (inside.address < block.local_bytes) return reach_local(w, inside, unwritten);
  if (const InPeer peer = peer_of(block, a.address); peer.block != nullptr) {
    inside.address = peer.at;
    return reach_peer(w, inside, *peer.block, unwritten);
  }
  if (is_of_no_rank(block, a.address)) return report_no_rank(w, a);
  return reach_global(w, a, unwritten);
}

}  // namespace ptx
