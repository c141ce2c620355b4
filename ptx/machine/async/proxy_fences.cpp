// What threads wrote that bulk copies may touch: fence.proxy.async.
#include <algorithm>
#include <bit>

#include "ptx/machine/shared_shadow.h"
#include "ptx/machine/warp.h"

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

// Of several threads, in favour of the kernel.
bool SharedShadow::is_fenced(uint32_t s) const {
  if (any_order_ || s == 0 || stamp::is_of_copy(s) || stamp::is_untold(s)) return true;
  if (fenced_warps_.empty()) return false;
  const auto most = [](const std::vector<uint32_t>& times, std::size_t first, std::size_t count) {
    const auto from = times.begin() + static_cast<std::ptrdiff_t>(first);
    return *std::max_element(from, from + static_cast<std::ptrdiff_t>(count));
  };
  const uint32_t thread = stamp::thread(s), warp = stamp::warp(s);
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

}  // namespace ptx
