// What threads wrote that bulk copies may touch: fence.proxy.async, and for mbarriers
// fence.mbarrier_init.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ptx/machine/async/bulk_copies.h"
#include "ptx/machine/block.h"
#include "ptx/machine/report/accesses.h"

namespace ptx {

using std::uint32_t;

void SharedShadow::fence_proxy(const Warp& w) {
  tick();
  fenced_warps_.resize(stamp::lanes_of / warp_size, 0);
  fenced_threads_.resize(stamp::lanes_of, 0);
  const auto own = static_cast<std::size_t>(w.index);
  for (std::size_t v = 0; v < fenced_warps_.size(); ++v) {
    const uint32_t heard = v < w.known.size() ? w.known[v] : 0;
    const uint32_t known =
        v == own ? std::max(w.since_sync, w.since_tile_sync) : std::max(w.since_barrier, heard);
    fenced_warps_[v] = std::max(fenced_warps_[v], known);
  }
  for (uint32_t left = w.mask; left != 0; left &= left - 1)
    fenced_threads_[own * warp_size + static_cast<std::size_t>(std::countr_zero(left))] = time_;
}

void SharedShadow::fence_proxy_of(std::size_t warp, uint32_t until) {
  fenced_warps_.resize(stamp::lanes_of / warp_size, 0);
  fenced_threads_.resize(stamp::lanes_of, 0);
  if (warp < fenced_warps_.size()) fenced_warps_[warp] = std::max(fenced_warps_[warp], until);
}

namespace {

// What a warp has heard of a block by fences and atomic operations, where a thread stands for its
// warp.
void fence_what_was_heard(const Knowledge& known, Block& peer) {
  known.visit(peer.told_as, [&](std::uint64_t whose, uint32_t time) {
    const bool is_of_all = whose == Knowledge::all;
    const std::size_t warp = whose >= Knowledge::first_thread
                                 ? (whose - Knowledge::first_thread) / warp_size
                                 : whose - Knowledge::first_warp;
    for (std::size_t v = is_of_all ? 0 : warp; v < (is_of_all ? peer.warps.size() : warp + 1); ++v)
      peer.shadow.fence_proxy_of(v, time);
    return false;
  });
}

}  // namespace

void fence_proxy_of_peers(const Warp& w) {
  InCluster& in = w.block->in_cluster;
  if (in.all == nullptr) return;
  const auto heard = w.block->hearsay.find(w.index);
  for (Block* const peer : in.all->blocks) {
    if (peer == w.block) continue;
    const auto known = in.known[static_cast<std::size_t>(w.index)].of(peer->in_cluster.rank);
    for (std::size_t v = 0; v < peer->warps.size(); ++v) peer->shadow.fence_proxy_of(v, known[v]);
    fence_what_was_heard(w.block->knows, *peer);
    if (heard != w.block->hearsay.end()) fence_what_was_heard(heard->second.known, *peer);
  }
}

// Of several threads, in favour of the kernel.
bool SharedShadow::is_fenced(uint32_t s) const {
  if (any_order_ || s == 0 || stamp::is_of_copy(s) || stamp::is_untold(s)) return true;
  if (fenced_warps_.empty()) return false;
  const auto most = [](const std::vector<uint32_t>& times, std::size_t first, std::size_t count) {
    const auto from = times.begin() + static_cast<std::ptrdiff_t>(first);
    return *std::max_element(from, from + static_cast<std::ptrdiff_t>(count));
  };
  const uint32_t thread = stamp::thread(s), warp = stamp::warp(s);
  if (warp > warp_size) return true;  // another block wrote it
  if (warp == warp_size)
    return stamp::time(s) < most(fenced_threads_, 0, fenced_threads_.size()) ||
           stamp::time(s) < most(fenced_warps_, 0, fenced_warps_.size());
  const bool is_one = thread < stamp::lanes_of;
  return stamp::time(s) < fenced_warps_[warp] ||
         stamp::time(s) <
             most(fenced_threads_, is_one ? thread : warp * warp_size, is_one ? 1 : warp_size);
}

std::optional<SharedShadow::Conflict> SharedShadow::unfenced_write(std::size_t word) const {
  if (word >= words_ || is_asleep(word)) return std::nullopt;
  if (!is_in_parts(word)) {
    if (is_fenced(writes_[word])) return std::nullopt;
    return Conflict{writes_[word], write_ops_[word], true};
  }
  for (const Part& part : parts_[reads_[word]])
    if (!is_fenced(part.write)) return Conflict{part.write, part.write_op, true};
  return std::nullopt;
}

void fence_mbarriers(const Warp& w) {
  for (auto& [at, barrier] : w.block->asynchronous.barriers)
    if (barrier.made_by == w.index || w.block->shadow.is_after_write(w, 0, at / 4))
      barrier.is_fenced = true;
}

namespace {

// libcu++ lets bulk copies signal a cuda::barrier that nobody has fenced.
bool is_of_library(const Op* op, const Warp& w) {
  const std::vector<SourceLine> lines = lines_of(w.block->run->kernel, *op);
  return std::any_of(lines.begin(), lines.end(), [](const SourceLine& line) {
    return line.file.find("/cuda/__memcpy_async/") != std::string::npos;
  });
}

}  // namespace

bool finds_mbarrier(const Op* op, Warp& w, int lane, Block& owner, uint32_t at) {
  const auto found = owner.asynchronous.barriers.find(at);
  if (found == owner.asynchronous.barriers.end() || found->second.is_fenced) return true;
  const auto unfenced = owner.shadow.unfenced_write(at / 4);
  if (!unfenced || is_of_library(op, w)) return found->second.is_fenced = true;
  const Op* const other = w.code + unfenced->other_op;
  report(
      w, op, Fault::data_race,
      fmt::format("{} has a bulk copy signal the mbarrier at {} ({}), which {} initialised ({}), "
                  "and no fence.mbarrier_init and no fence.proxy.async lies between the two",
                  thread_text(w, lane), place_in_shared_memory(w, at),
                  place_of(w.block->run->kernel, *op), other_of(w, *unfenced, owner).who,
                  place_of(w.block->run->kernel, *other)),
      {0, true, {site(w, "signals", op), site(w, "initialised", other)}});
  return false;
}

}  // namespace ptx
