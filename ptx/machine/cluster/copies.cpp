// Bulk copies that reach other blocks of a cluster, and stores that signal a barrier there
// (st.async). A copy lands when a thread of the block that it goes to waits for it.
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <optional>

#include "ptx/machine/access.h"
#include "ptx/machine/async/bulk_copies.h"
#include "ptx/machine/async/place.h"
#include "ptx/machine/cluster/cluster.h"
#include "ptx/machine/handlers.h"
#include "ptx/machine/report/accesses.h"

namespace ptx {
namespace {

using std::uint32_t;
using std::uint64_t;

constexpr uint64_t offsets = (uint64_t{1} << rank_shift) - 1;

bool report_wrong_block(const Op* op, Warp& w, int lane, const char* what) {
  report(w, op, Fault::bad_address,
         fmt::format("{} copies to shared memory of {}", thread_text(w, lane), what));
  return false;
}

const Op* store_and_signal(const Op*, Warp&);

// What the other block wrote there itself, and did not fence.
std::optional<SharedShadow::Conflict> unfenced_write(const Op* op, const Block& owner,
                                                     std::size_t first, std::size_t end) {
  if (op->run == store_and_signal) return std::nullopt;  // it is no copy of the async proxy
  for (std::size_t word = first; word < end; ++word)
    if (const auto unfenced = owner.shadow.unfenced_write(word)) return unfenced;
  return std::nullopt;
}
bool report_unfenced(const Op* op, Warp& w, int lane, const Block& owner, std::size_t at,
                     const SharedShadow::Conflict& conflict) {
  const Program::Kernel& kernel = w.block->run->kernel;
  const Op* const other = w.code + conflict.other_op;
  report(w, op, Fault::data_race,
         fmt::format("{} writes {} of {} by a bulk copy ({}), which {} wrote ({}), and no "
                     "fence.proxy.async lies between the two",
                     thread_text(w, lane), place_in_shared_memory(w, at), block_text(owner),
                     place_of(kernel, *op), other_of(w, conflict, owner).who,
                     place_of(kernel, *other)),
         {0, true, {site(w, "writes", op), site(w, "wrote", other)}});
  return false;
}

bool take_off_in(const Op* op, Warp& w, int lane, Block& owner, const BulkCopy& copy) {
  const std::size_t piece = std::min<std::size_t>(16, copy.data.size());
  for (std::size_t n = 0; n < copy.data.size(); n += piece) {
    uint32_t unwritten = 0;
    const auto unfenced = unfenced_write(op, owner, (copy.to + n) / 4, (copy.to + n + piece) / 4);
    if (reach_peer(w,
                   {.op = op,
                    .lane = lane,
                    .address = copy.to + n,
                    .bytes = static_cast<int>(piece),
                    .writes = true,
                    .is_waited_for = true},
                   owner, unwritten) == nullptr)
      return false;
    if (unfenced) return report_unfenced(op, w, lane, owner, copy.to + n, *unfenced);
    for (std::size_t at = 0; at < piece; at += 4) owner.shadow.take_off((copy.to + n + at) / 4);
  }
  return true;
}

bool signals_mbarrier(const Op* op, Warp& w, int lane, Block& owner, const BulkCopy& copy) {
  return op->run == store_and_signal || finds_mbarrier(op, w, lane, owner, copy.barrier);
}

bool start_flight_in(const Op* op, Warp& w, int lane, unsigned rank, BulkCopy copy) {
  const Cluster* const all = w.block->in_cluster.all;
  if (rank >= (all == nullptr ? 1 : all->size()))
    return report_wrong_block(op, w, lane, "a block that its cluster does not have");
  if (all == nullptr || rank == w.block->in_cluster.rank)
    return signals_mbarrier(op, w, lane, *w.block, copy) &&
           start_flight(op, w, lane, std::move(copy));
  Block& owner = *all->blocks[rank];
  if (!signals_mbarrier(op, w, lane, owner, copy) || !take_off_in(op, w, lane, owner, copy))
    return false;
  copy.by = &w, copy.lane = lane;
  owner.asynchronous.bulk.push_back(std::move(copy));
  wake_waits(owner);
  return true;
}

}  // namespace

bool start_flights(const Op* op, Warp& w, int lane, uint64_t to, uint64_t barrier, int mask,
                   BulkCopy copy) {
  const unsigned own = w.block->in_cluster.rank;
  const auto rank_of = [&](uint64_t at) {
    return at >> rank_shift == 0 ? own : static_cast<unsigned>(at >> rank_shift) - 1;
  };
  copy.to = static_cast<uint32_t>(to & offsets),
  copy.barrier = static_cast<uint32_t>(barrier & offsets);
  if (mask < 0) {
    if (rank_of(to) != rank_of(barrier))
      return report_wrong_block(op, w, lane, "one block, and signals a barrier of another one");
    return start_flight_in(op, w, lane, rank_of(to), std::move(copy));
  }
  for (uint32_t left = w.slot<uint32_t>(mask)[lane] & 0xffff; left != 0; left &= left - 1)
    if (!start_flight_in(op, w, lane, static_cast<unsigned>(std::countr_zero(left)), copy))
      return false;
  return true;
}

namespace {

// a, bits: to; d: a list of the barrier's slot, what is added to it, and the values' slots; mode:
// bytes of each, +1 if the barrier's slot is wide; parts: values.
const Op* store_and_signal(const Op* op, Warp& w) {
  uint64_t to[warp_size];
  addresses_of(op, w, to);
  const int* list = w.lists + op->d;
  const auto each = static_cast<std::size_t>(op->mode & ~1);
  for (uint32_t left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    BulkCopy copy{.data = std::vector<std::byte>(each * op->parts), .op = op};
    for (std::size_t n = 0; n < op->parts; ++n) {
      const uint64_t value =
          each == 8 ? w.slot<uint64_t>(list[2 + n])[lane] : w.slot<uint32_t>(list[2 + n])[lane];
      std::memcpy(copy.data.data() + n * each, &value, each);
    }
    const uint64_t at = place_in_shared(w, lane, list[0], (op->mode & 1) != 0,
                                        static_cast<uint64_t>(list[1]), Named::in_shared);
    if (!start_flights(op, w, lane, to[lane], at, -1, std::move(copy))) return nullptr;
  }
  return op + 1;
}

}  // namespace

void add_cluster_copy_handlers(Handlers& to) { to["st.async"] = {store_and_signal, ""}; }

}  // namespace ptx
