#include "ptx/machine/shared_shadow.h"

#include <algorithm>
#include <bit>

#include "ptx/machine/shapes/eight.h"

namespace ptx {

using std::uint32_t;

namespace {

constexpr std::size_t most_noted = 4096;

// `joined`, of a stamp of a single lane or warp, without a branch.
Eight joined_with(Eight mine, Eight old, uint32_t warp) {
  constexpr uint32_t mask = stamp::thread_mask;
  const uint32_t by_several = stamp::lanes_of + warp;
  const Eight who = old & mask;
  const auto same_warp = (who == by_several) | (who / warp_size == warp);
  const Eight later = old > mine ? old : mine;
  const Eight joined = (later & ~mask) | (same_warp ? eight(by_several) : eight(stamp::many));
  return ((old ^ mine) & mask) == 0 ? later : joined;
}

}  // namespace

void SharedShadow::start(std::size_t words, uint32_t* contents, uint32_t poison) {
  const std::size_t chunks = (words + 7) / chunk + 1;  // with those behind the last word
  words_ = words, contents_ = contents, poison_ = poison;
  for (std::vector<uint32_t>* const marks : {&writes_, &reads_, &write_ops_, &read_ops_})
    if (marks->size() < chunks * chunk + 8) marks->resize(chunks * chunk + 8);
  parts_.clear();
  free_parts_.clear();
  noted_count_ = 0;
  unwritten_.assign(chunks, asleep);
  last_write_ = 0;
  time_ = 1;
  any_order_ = false;
  fenced_warps_.clear();
  fenced_threads_.clear();
  products_.clear();
  touches_.reset();
}

void SharedShadow::wake_chunk(std::size_t number) {
  const std::size_t first = number * chunk,
                    words = std::min(chunk, words_ - std::min(first, words_));
  std::fill_n(writes_.data() + first, chunk, 0);
  std::fill_n(reads_.data() + first, chunk, 0);
  if (contents_ != nullptr) std::fill_n(contents_ + first, words, poison_);
  unwritten_[number] = static_cast<uint32_t>(words);
}

namespace {

// Before which time all that a warp did is known to another one. Of several warps (warp_size), or
// of none: those that it synchronised with, as far as can be told.
uint32_t known_until(uint32_t warp, const Warp& w) {
  if (w.known.empty()) return w.since_barrier;
  if (warp == stamp::of_several_groups) return w.since_barrier;  // see forget_products
  const bool is_one = warp < w.known.size() && warp != warp_size;
  const auto others = w.known.begin() + stamp::products;
  return std::max(w.since_barrier,
                  is_one ? w.known[warp] : *std::max_element(w.known.begin(), others));
}

}  // namespace

bool is_known(uint32_t s, const Warp& w) {
  if (stamp::is_untold(s) || stamp::time(s) < w.since_barrier) return true;
  return stamp::time(s) < known_until(stamp::warp(s), w);
}

bool is_known_of_own(uint32_t s, const Warp& w, int lane) {
  if (stamp::time(s) < w.since_sync) return true;
  if (w.lanes_know.empty()) return false;
  const bool is_of_several = stamp::thread(s) >= stamp::lanes_of;  // whose, nobody can tell
  const auto& known = w.lanes_know[static_cast<std::size_t>(lane)];
  return stamp::time(s) < (is_of_several ? w.since_tile_sync : known[stamp::thread(s) % warp_size]);
}

// Whether what any lane of a warp does now comes after these: what one lane did need not come
// before what another does. Mostly one warp did all of it.
bool is_behind(Eight stamps, Eight wanted, const Warp& w) {
  const Eight who = stamps & stamp::thread_mask;
  const auto is_untold = stamps / (stamp::thread_mask + 1) == stamp::last_time;
  do {
    std::size_t first = 0;
    while (wanted[first] == 0) ++first;
    const uint32_t warp = stamp::warp(stamps[first]);
    const bool is_own = warp == static_cast<uint32_t>(w.index);
    const uint32_t until = std::max(is_own ? w.since_sync : 0, known_until(warp, w));
    const Eight by_it =
        (Eight)((who / warp_size == warp) | (who == stamp::lanes_of + warp) | (who == who[first]));
    const auto is_before = (stamps < stamp::make(until, 0)) | is_untold;
    if (!is_zero(by_it & wanted & ~(Eight)is_before)) return false;
    wanted &= ~by_it;
  } while (!is_zero(wanted));
  return true;
}

namespace {

// Those of a window's words that one lane alone touches, which is the one that left the stamp.
Eight is_same_lane(const Shape::Window& window, Eight stamps, const Warp& w) {
  const Eight lane = vector_at(window.lane);
  const Eight own = static_cast<uint32_t>(w.index * warp_size) + lane;
  return (Eight)((lane != Shape::several) & (((stamps ^ own) & stamp::thread_mask) == 0));
}

}  // namespace

bool SharedShadow::are_readable(const Warp& w, const Shape& s, std::size_t word) {
  const uint32_t limit = limit_of(w);
  for (const Shape::Window& window : s.windows) {
    wake_window(word + window.first);
    const Eight writes = vector_at(writes_.data() + word + window.first);
    const Eight wanted = vector_at(window.wanted);
    if (!is_zero((Eight)(writes == 0) & wanted)) return false;
    const Eight late = (Eight)(writes >= limit) & wanted & ~is_same_lane(window, writes, w);
    if (!is_zero(late) && (any_order_ || !is_behind(writes, late, w))) return false;
  }
  return true;
}

// Between them may lie some that are not, as behind the rows of a tile.
bool SharedShadow::are_plain(const Shape& s, std::size_t word) const {
  for (const Shape::Window& window : s.windows) {
    const std::size_t first = word + window.first;
    if (is_asleep(first) || is_asleep(first + 7)) return false;
    const Eight writes = vector_at(writes_.data() + first);
    const auto is_other = (writes == 0) | (writes >= stamp::first_of_none);
    if (!is_zero((Eight)is_other & vector_at(window.wanted))) return false;
  }
  return true;
}

bool SharedShadow::is_ordered(uint32_t s, const Warp& w, int lane) const {
  if (any_order_) return true;
  if (stamp::warp(s) != static_cast<uint32_t>(w.index)) return is_known(s, w);
  if (stamp::thread(s) == static_cast<uint32_t>(w.index * warp_size + lane)) return true;
  return is_known_of_own(s, w, lane) || is_known(s, w);
}

bool SharedShadow::read(Marks m, const Warp& w, int lane, uint32_t op, Conflict& conflict) {
  if (touches_ != nullptr && is_touch(m, w)) return read_touched(m, w, lane, op, conflict);
  if (m.write != 0 && !is_ordered(m.write, w, lane)) {
    conflict = {m.write, m.write_op, true};
    return false;
  }
  const uint32_t mine = stamp::make(time_, static_cast<uint32_t>(w.index * warp_size + lane));
  m.read = is_ordered(m.read, w, lane) ? mine : stamp::joined(m.read, mine);
  m.read_op = op;
  return true;
}

bool SharedShadow::write(Marks m, const Warp& w, int lane, uint32_t op, Conflict& conflict) {
  if (touches_ != nullptr && is_touch(m, w)) return write_touched(m, w, lane, op, conflict);
  if (m.write != 0 && !is_ordered(m.write, w, lane)) {
    conflict = {m.write, m.write_op, true};
    return false;
  }
  if (m.read != 0 && !is_ordered(m.read, w, lane)) {
    conflict = {m.read, m.read_op, false};
    return false;
  }
  m.write = stamp::make(time_, static_cast<uint32_t>(w.index * warp_size + lane));
  m.write_op = op;
  m.read = 0;
  return true;
}

bool SharedShadow::read(const Warp& w, int lane, std::size_t word, uint32_t op, Conflict& conflict,
                        unsigned bytes) {
  if (noted_count_ != 0) enter_reads();
  wake(word, word);
  if (is_in_parts(word) && (touches_ == nullptr || is_of_owner(w))) join_known_parts(word, w);
  if (bytes == whole && !is_in_parts(word)) return read(marks(word), w, lane, op, conflict);
  for (Parts& parts = parts_of(word); bytes != 0; bytes &= bytes - 1) {
    const auto byte = static_cast<std::size_t>(std::countr_zero(bytes));
    if (!read(parts[byte].marks(word, byte), w, lane, op, conflict)) return false;
  }
  return true;
}

bool SharedShadow::write(const Warp& w, int lane, std::size_t word, uint32_t op, Conflict& conflict,
                         unsigned bytes) {
  if (noted_count_ != 0) enter_reads();
  wake(word, word);
  last_write_ = time_;
  if (!products_.empty()) forget_products(word, w);
  if (bytes == whole && !is_in_parts(word)) {
    const bool was_plain = is_plain(word), is_ordered = write(marks(word), w, lane, op, conflict);
    count_again(word, was_plain);
    return is_ordered;
  }
  Parts& parts = parts_of(word);
  for (unsigned left = bytes; left != 0; left &= left - 1) {
    const auto byte = static_cast<std::size_t>(std::countr_zero(left));
    if (!write(parts[byte].marks(word, byte), w, lane, op, conflict)) return false;
  }
  if (bytes == whole) join_parts(word, parts[0]);
  return true;
}

bool SharedShadow::is_written(std::size_t word, unsigned bytes) const {
  if (is_asleep(word)) return false;
  if (!is_in_parts(word)) return writes_[word] != 0;
  for (const Parts& parts = parts_[reads_[word]]; bytes != 0; bytes &= bytes - 1)
    if (parts[static_cast<std::size_t>(std::countr_zero(bytes))].write == 0) return false;
  return true;
}

void SharedShadow::unwrite(std::size_t word, unsigned bytes) {
  wake(word, word);
  if (bytes == whole && !is_in_parts(word)) {
    const bool was_plain = is_plain(word);
    writes_[word] = 0;
    return count_again(word, was_plain);
  }
  for (Parts& parts = parts_of(word); bytes != 0; bytes &= bytes - 1)
    parts[static_cast<std::size_t>(std::countr_zero(bytes))].write = 0;
}

void SharedShadow::set_write(std::size_t word, uint32_t stamp) {
  if (noted_count_ != 0) enter_reads();
  wake(word, word);
  const bool was_plain = is_plain(word);
  writes_[word] = stamp;
  last_write_ = time_;
  count_again(word, was_plain);
}

void SharedShadow::set_read(std::size_t word, uint32_t stamp) {
  if (noted_count_ != 0) enter_reads();
  wake(word, word);
  if (!is_in_parts(word)) {
    reads_[word] = stamp;
    return;
  }
  for (Part& part : parts_[reads_[word]]) part.read = stamp;
}

SharedShadow::Parts& SharedShadow::parts_of(std::size_t word) {
  if (is_in_parts(word)) return parts_[reads_[word]];
  if (free_parts_.empty()) {
    free_parts_.push_back(static_cast<uint32_t>(parts_.size()));
    parts_.emplace_back();
  }
  const uint32_t number = free_parts_.back();
  free_parts_.pop_back();
  parts_[number].fill({writes_[word], reads_[word], write_ops_[word], read_ops_[word]});
  const bool was_plain = is_plain(word);
  if (touches_ != nullptr) touches_->take_apart(word);
  writes_[word] = stamp::in_parts;
  reads_[word] = number;
  count_again(word, was_plain);
  return parts_[number];
}

void SharedShadow::join_parts(std::size_t word, const Part& into) {
  if (touches_ != nullptr) touches_->join(word);
  free_parts_.push_back(reads_[word]);
  writes_[word] = into.write, reads_[word] = into.read;
  write_ops_[word] = into.write_op, read_ops_[word] = into.read_op;
  count_again(word, false);
}

// All warps know what came before a barrier of all: who did it no longer matters.
void SharedShadow::join_known_parts(std::size_t word, const Warp& w) {
  const Parts parts = parts_[reads_[word]];
  Part all = parts[0];
  for (const Part& part : parts) {
    const bool is_known = part.write != 0 && stamp::time(part.write) < w.since_barrier &&
                          stamp::time(part.read) < w.since_barrier;
    if (!is_known) return;
    if (part.write != all.write) all.write = stamp::joined(part.write, all.write);
    if (part.read != all.read) all.read = stamp::joined(part.read, all.read);
  }
  join_parts(word, all);
}

void SharedShadow::make_room() {
  if (noted_.size() < most_noted)
    noted_.resize(std::max<std::size_t>(64, 2 * noted_.size()));
  else
    enter_reads();
}

void SharedShadow::enter_reads() {
  for (std::size_t at = 0; at < noted_count_; ++at) {
    const Noted& n = noted_[at];
    const uint32_t first = stamp::make(n.time, n.warp * warp_size);
    const uint32_t by_several = stamp::make(n.time, stamp::lanes_of + n.warp);
    for (const Shape::Window& window : n.shape->windows) {
      if (touches_ != nullptr && enter_touched(n, window)) continue;
      uint32_t* reads = reads_.data() + n.word + window.first;
      uint32_t* ops = read_ops_.data() + n.word + window.first;
      const Eight lane = vector_at(window.lane), old = vector_at(reads);
      const Eight mine = lane == Shape::several ? eight(by_several) : first + lane;
      const Eight now = old < n.limit ? mine : joined_with(mine, old, n.warp);
      const Eight wanted = vector_at(window.wanted);
      put_vector(reads, wanted != 0 ? now : old);
      put_vector(ops, wanted != 0 ? eight(n.op) : vector_at(ops));
    }
  }
  noted_count_ = 0;
}

void SharedShadow::enter_read(const Warp& w, const Shape::Window& window, int lead,
                              std::size_t word, uint32_t op) {
  if (noted_count_ != 0) enter_reads();
  const auto warp = static_cast<uint32_t>(w.index);
  for (std::size_t i = 0; i < 8; ++i) {
    if (window.wanted[i] == 0) continue;
    const bool is_several = window.lane[i] == Shape::several;
    const uint32_t who = is_several ? stamp::lanes_of + warp : warp * warp_size + window.lane[i];
    const uint32_t mine = stamp::make(time_, who);
    uint32_t& read = reads_[word + window.first + i];
    const int lane = is_several ? lead : static_cast<int>(window.lane[i]);
    read = is_ordered(read, w, lane) ? mine : stamp::joined(read, mine);
    read_ops_[word + window.first + i] = op;
  }
}

bool SharedShadow::write_shape(const Warp& w, const Shape& s, std::size_t word, uint32_t op) {
  if (!s.is_disjoint) return false;
  if (are_settled(s, word)) return true;
  if (noted_count_ != 0) enter_reads();
  const uint32_t limit = limit_of(w);
  for (const Shape::Window& window : s.windows) {
    wake_window(word + window.first);
    const Eight wanted = vector_at(window.wanted);
    for (const std::vector<uint32_t>* const marks : {&writes_, &reads_}) {
      const Eight stamps = vector_at(marks->data() + word + window.first);
      const Eight late = (Eight)(stamps >= limit) & wanted & ~is_same_lane(window, stamps, w);
      if (!is_zero(late) && (any_order_ || !is_behind(stamps, late, w))) return false;
    }
  }
  last_write_ = time_;
  const bool counts = !is_filled(word, word + s.span / 4 - 1);
  const uint32_t mine = stamp::make(time_, static_cast<uint32_t>(w.index * warp_size));
  for (const Shape::Window& window : s.windows) {
    const auto wanted = vector_at(window.wanted) != 0;
    const std::size_t first = word + window.first;
    if (counts)
      count_plain(first, bits_of((Eight)(wanted & (vector_at(writes_.data() + first) == 0))));
    const auto set = [&](std::vector<uint32_t>& marks, Eight value) {
      uint32_t* at = marks.data() + first;
      put_vector(at, wanted ? value : vector_at(at));
    };
    set(writes_, mine + vector_at(window.lane));
    set(reads_, Eight{});
    set(write_ops_, eight(op));
  }
  return true;
}

}  // namespace ptx
