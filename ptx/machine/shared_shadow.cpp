#include "ptx/machine/shared_shadow.h"

#include <algorithm>

namespace ptx {

using std::uint32_t;

void SharedShadow::start(std::size_t words) {
  writes_.assign(words, 0);
  reads_.assign(words, 0);
  write_ops_.resize(words);
  read_ops_.resize(words);
  time_ = 1;
}

bool is_known(uint32_t s, const Warp& w) {
  if (stamp::is_untold(s) || stamp::time(s) < w.since_barrier) return true;
  if (w.known.empty()) return false;
  // Several warps: those that this one synchronised with, as far as can be told.
  const uint32_t warp = stamp::warp(s);
  return stamp::time(s) < (warp < w.known.size()
                               ? w.known[warp]
                               : *std::max_element(w.known.begin(), w.known.end()));
}

bool SharedShadow::is_ordered(uint32_t s, const Warp& w, int lane) {
  if (stamp::warp(s) != static_cast<uint32_t>(w.index)) return is_known(s, w);
  if (stamp::thread(s) == static_cast<uint32_t>(w.index * warp_size + lane)) return true;
  return stamp::is_untold(s) || stamp::time(s) < w.since_sync;
}

bool SharedShadow::read(const Warp& w, int lane, std::size_t word, uint32_t op,
                        Conflict& conflict) {
  if (writes_[word] != 0 && !is_ordered(writes_[word], w, lane)) {
    conflict = {writes_[word], write_ops_[word], true};
    return false;
  }
  const uint32_t mine = stamp::make(time_, static_cast<uint32_t>(w.index * warp_size + lane));
  const uint32_t old = reads_[word];
  reads_[word] = stamp::time(old) < w.since_barrier ? mine : stamp::joined(old, mine);
  read_ops_[word] = op;
  return true;
}

bool SharedShadow::write(const Warp& w, int lane, std::size_t word, uint32_t op,
                         Conflict& conflict) {
  if (writes_[word] != 0 && !is_ordered(writes_[word], w, lane)) {
    conflict = {writes_[word], write_ops_[word], true};
    return false;
  }
  if (reads_[word] != 0 && !is_ordered(reads_[word], w, lane)) {
    conflict = {reads_[word], read_ops_[word], false};
    return false;
  }
  writes_[word] = stamp::make(time_, static_cast<uint32_t>(w.index * warp_size + lane));
  write_ops_[word] = op;
  reads_[word] = 0;
  return true;
}

bool SharedShadow::read_row(const Warp& w, std::size_t word, uint32_t op) {
  const uint32_t limit = stamp::make(w.since_barrier, 0);
  const uint32_t* writes = &writes_[word];
  uint32_t bad = 0;
  for (int i = 0; i < warp_size; ++i) bad |= (writes[i] == 0) | (writes[i] >= limit);
  if (bad != 0) return false;
  uint32_t *reads = &reads_[word], *ops = &read_ops_[word];
  const auto first = static_cast<uint32_t>(w.index * warp_size);
  const uint32_t mine = stamp::make(time_, first);
  const uint32_t many_in_warp = stamp::make(time_, stamp::lanes_of + first / 32);
  for (int i = 0; i < warp_size; ++i) {
    const uint32_t old = reads[i], me = mine + static_cast<uint32_t>(i);
    const uint32_t same_thread = (old & stamp::thread_mask) == (me & stamp::thread_mask);
    const uint32_t same_warp = (old & stamp::thread_mask) < stamp::lanes_of &&
                               ((old ^ me) & (stamp::thread_mask & ~31u)) == 0;
    const uint32_t already = (old & stamp::thread_mask) == (many_in_warp & stamp::thread_mask);
    const uint32_t joined = same_thread           ? me
                            : same_warp | already ? many_in_warp
                                                  : me | stamp::thread_mask;
    reads[i] = old < limit ? me : joined;
    ops[i] = op;
  }
  return true;
}

bool SharedShadow::write_row(const Warp& w, std::size_t word, uint32_t op) {
  const uint32_t limit = stamp::make(w.since_barrier, 0);
  uint32_t *writes = &writes_[word], *reads = &reads_[word], *ops = &write_ops_[word];
  uint32_t bad = 0;
  for (int i = 0; i < warp_size; ++i) bad |= (writes[i] >= limit) | (reads[i] >= limit);
  if (bad != 0) return false;
  const uint32_t mine = stamp::make(time_, static_cast<uint32_t>(w.index * warp_size));
  for (int i = 0; i < warp_size; ++i) {
    writes[i] = mine + static_cast<uint32_t>(i);
    reads[i] = 0;
    ops[i] = op;
  }
  return true;
}

}  // namespace ptx
