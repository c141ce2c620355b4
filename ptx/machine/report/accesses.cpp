#include "ptx/machine/report/accesses.h"

#include <fmt/format.h>

#include <utility>

#include "ptx/machine/block.h"

namespace ptx {

using std::uint32_t;
using std::uint64_t;

Details details_of(const Warp& w, const Access& a) {
  return {a.address, a.writes, {site(w, verb(a), a.op)}};
}

void report_outside(Warp& w, const Access& a, const Region* region) {
  std::string where;
  const Region* const freed = w.block->run->memory.heap.freed_at(a.address);
  if (freed != nullptr) {
    where = fmt::format(" in {}, which has been freed", freed->area.name);
  } else if (region != nullptr && region->area.pitch_bytes != 0) {
    const uint64_t at = a.address - region->area.first;
    where = fmt::format(", between the rows of {}: {} bytes past the end of row {}",
                        region->area.name, at % region->area.pitch_bytes - region->area.row_bytes,
                        at / region->area.pitch_bytes);
    if (at % region->area.pitch_bytes < region->area.row_bytes)
      where = fmt::format(", partly past the end of row {} of {}", at / region->area.pitch_bytes,
                          region->area.name);
  } else if (const Region* near = w.block->run->memory.nearest(a.address)) {
    const bool before = a.address < near->area.first;
    const uint64_t far = before ? near->area.first - a.address : a.address - near->end;
    if (far < uint64_t{1} << 32)
      where = fmt::format(", {} bytes {} {}", far, before ? "before" : "past the end of",
                          near->area.name);
    else
      where = ", far from all memory";
  }
  if ((a.op->flags & is_of_pieces) != 0)
    where += "; a copy of a tensor to global memory writes whole pieces of 16 bytes";
  report(w, a.op, Fault::bad_address,
         fmt::format("{} {} {} bytes{}", thread_text(w, a.lane), verb(a), a.bytes, where),
         details_of(w, a));
}

void report_beyond_array(Warp& w, const Access& a, bool is_before) {
  const Program::Kernel& kernel = w.block->run->kernel;
  const int array = kernel.array_of[static_cast<uint32_t>(a.op - w.code)];
  report(w, a.op, Fault::bad_address,
         fmt::format("{} {} {}, {} of {}, the array that it indexes", thread_text(w, a.lane),
                     verb(a), place_in_shared_memory(w, a.address),
                     is_before ? "before the beginning" : "past the end",
                     kernel.shared_variables[static_cast<std::size_t>(array)].name),
         {.sites = {site(w, verb(a), a.op)}});
}

std::string other_text(const Warp& w, uint32_t s) {
  const uint32_t thread = stamp::thread(s);
  if (stamp::is_of_copy(s)) return "an asynchronous copy";
  if (stamp::is_of_product(s)) return "a wgmma";
  if (stamp::warp(s) == stamp::peers) return "threads of other blocks of its cluster";
  if (thread == stamp::many) return "threads of several warps";
  if (thread >= stamp::lanes_of)
    return fmt::format("several lanes of warp {}", thread - stamp::lanes_of);
  return thread_text(w.block->warps[thread / warp_size], static_cast<int>(thread % warp_size));
}

Other other_of(const Warp& w, const SharedShadow::Conflict& conflict, const Block& owner) {
  const Block* const by =
      conflict.rank < 0 ? &owner
                        : owner.in_cluster.all->blocks[static_cast<std::size_t>(conflict.rank)];
  const bool is_in_flight = stamp::is_in_flight(conflict.other);
  const bool is_of_peers = stamp::warp(conflict.other) == stamp::peers;
  const bool is_of_some = stamp::thread(conflict.other) >= stamp::lanes_of && !is_of_peers &&
                          !stamp::is_of_copy(conflict.other) &&
                          !stamp::is_of_product(conflict.other);
  const std::string of = is_of_some && by != w.block ? " of " + block_text(*by) : "";
  return {.who = other_text(by->warps[0], conflict.other) + of,
          .wrote = conflict.other_wrote,
          .op = conflict.other_op,
          .is_in_flight = is_in_flight,
          .is_in_shared = true,
          .is_multiplying = conflict.other == stamp::multiplying,
          .is_in_cluster = by != w.block || (is_of_peers && !is_in_flight),
          .lacks_fence = lacks_fence(w, *by, conflict.other)};
}

void report_ended(Warp& w, const Access& a, const Block& owner) {
  report(w, a.op, Fault::data_race,
         fmt::format("{} {} {} of {}, which may have ended by then: a cluster barrier before its "
                     "end is missing",
                     thread_text(w, a.lane), verb(a), place_in_shared_memory(w, a.address),
                     block_text(owner)),
         {.is_write = a.writes, .sites = {site(w, verb(a), a.op)}});
}

void report_race(Warp& w, const Access& a, const std::string& place, const Other& other) {
  const Program::Kernel& kernel = w.block->run->kernel;
  const char* const a_wait =
      other.is_in_shared
          ? "a wait for the copy is missing"
          : "a wait for the copy is missing (cp.async.bulk.wait_group without .read)";
  const char* missing =
      other.is_out_of_scope ? "one of them is atomic for threads of its own block alone"
      : other.lacks_fence
          ? "a fence of its scope behind the relaxed access that told of it is missing"
      : other.is_in_cluster  ? "a cluster barrier is missing"
      : other.is_in_flight   ? a_wait
      : other.is_multiplying ? "a wgmma.wait_group for it is missing"
      : !other.is_in_block   ? "blocks are ordered by a fence and an atomic operation only"
      : w.block->thread_count <= warp_size ? "a __syncwarp is missing"
                                           : "a barrier is missing";
  const char* const did = other.wrote ? "wrote" : "read";
  report(w, a.op, Fault::data_race,
         fmt::format("{} {} {} ({}), which {} {} ({}), and nothing orders the two: {}",
                     thread_text(w, a.lane), verb(a), place, place_of(kernel, *a.op), other.who,
                     did, place_of(kernel, w.code[other.op]), missing),
         {other.is_in_shared ? 0 : a.address,
          a.writes,
          {site(w, verb(a), a.op), site(w, did, w.code + other.op)}});
}

namespace {

constexpr const char* in_other_streams = "they are in different streams";
constexpr const char* is_overtaken =
    "the kernel between the two started early and did not wait for it (griddepcontrol.wait)";
constexpr const char* starts_early =
    "it starts early, and a griddepcontrol.wait (cudaGridDependencySynchronize) is missing";

}  // namespace

// What is not a kernel has no place in the source.
void report_unordered(Warp& w, const Access& a, const std::string& place, const Unordered& other,
                      bool wrote, uint32_t op) {
  const Op* const its = other.kernel == nullptr ? nullptr : other.kernel->code.data() + op;
  const char* const did = wrote ? other.access.did : "read";
  const char* const why = other.until_waited_for ? starts_early
                          : other.is_overtaken   ? is_overtaken
                                                 : in_other_streams;
  Details details = details_of(w, a);
  if (its != nullptr) details.sites.push_back({did, lines_of(*other.kernel, *its)});
  const std::string where =
      its == nullptr ? "" : fmt::format(" ({})", place_of(*other.kernel, *its));
  report(w, a.op, Fault::unordered_work,
         fmt::format("{} {} {} ({}), which {} {}{}, and nothing orders the two: {}",
                     thread_text(w, a.lane), verb(a), place, place_of(w.block->run->kernel, *a.op),
                     other.name, did, where, why),
         std::move(details));
}

void report_unseen(Warp& w, const Access& a, const std::string& place, const std::string& who,
                   uint32_t op) {
  const Program::Kernel& kernel = w.block->run->kernel;
  const bool is_by_copy = (a.op->flags & is_bulk) != 0;
  report(
      w, a.op, Fault::data_race,
      fmt::format("{} reads {} ({}) {}, which {} wrote ({}) in the same launch: {}",
                  thread_text(w, a.lane), place, place_of(kernel, *a.op),
                  is_by_copy ? "by a bulk copy"
                             : "through the read-only cache (__ldg, const __restrict__, a texture)",
                  who, place_of(kernel, w.code[op]),
                  is_by_copy ? "no fence.proxy.async lies between the two"
                             : "what the cache holds may be older"),
      {a.address, a.writes, {site(w, "reads", a.op), site(w, "wrote", w.code + op)}});
}

}  // namespace ptx
