// The words of a block's shared memory that copies write: targets, until the copies land.
#include <algorithm>

#include "ptx/machine/shapes/eight.h"
#include "ptx/machine/shared_shadow.h"

namespace ptx {

using std::uint32_t;

void SharedShadow::take_off_shape(const Shape& s, std::size_t word) {
  if (are_settled(s, word)) return;
  for (const Shape::Window& window : s.windows) {
    const std::size_t first = word + window.first;
    uint32_t* const writes = writes_.data() + first;
    const auto wanted = vector_at(window.wanted) != 0;
    put_vector(writes, wanted ? eight(stamp::in_flight) : vector_at(writes));
    count_not_plain(first, bits_of((Eight)wanted));
  }
}

void SharedShadow::land_shape(const Warp& w, const Shape& s, std::size_t word, bool by_engine) {
  if (are_settled(s, word)) return;
  if (noted_count_ != 0) enter_reads();
  last_write_ = time_;
  const uint32_t mine = stamp::make(time_, static_cast<uint32_t>(w.index * warp_size));
  const Eight engine = eight(stamp::make(time_, stamp::lanes_of + stamp::copies));
  for (const Shape::Window& window : s.windows) {
    const std::size_t first = word + window.first;
    uint32_t *const writes = writes_.data() + first, *const reads = reads_.data() + first;
    const auto wanted = vector_at(window.wanted) != 0;
    const Eight old = vector_at(writes), by = by_engine ? engine : mine + vector_at(window.lane);
    const auto becomes_plain = wanted & ((old == 0) | (old >= stamp::first_of_none));
    count_plain(first, bits_of((Eight)becomes_plain));
    put_vector(writes, wanted ? by : old);
    put_vector(reads, wanted ? Eight{} : vector_at(reads));
  }
}

bool SharedShadow::take_off_run(const Warp& w, int lane, std::size_t first, std::size_t end,
                                uint32_t op) {
  if (noted_count_ != 0) enter_reads();
  if (first != end) wake(first, end - 1);
  uint32_t write = 0, read = 0;  // neighbours mostly have the same
  for (std::size_t word = first; word < end; ++word) {
    if (is_in_parts(word)) return false;
    if (!products_.empty()) forget_products(word, w);
    if (writes_[word] != write && writes_[word] != 0 &&
        (!is_ordered(writes_[word], w, lane) || !is_fenced(writes_[word])))
      return false;
    if (reads_[word] != read && reads_[word] != 0 && !is_ordered(reads_[word], w, lane))
      return false;
    write = writes_[word], read = reads_[word];
  }
  for (std::size_t word = first; word < end; ++word) unwritten_[word / chunk] += is_plain(word);
  last_write_ = time_;
  const auto set = [&](std::vector<uint32_t>& marks, uint32_t value) {
    std::fill(marks.data() + first, marks.data() + end, value);
  };
  set(writes_, stamp::in_flight);
  set(reads_, 0);
  set(write_ops_, op);
  return true;
}

void SharedShadow::land_run(std::size_t first, std::size_t end) {
  if (noted_count_ != 0) enter_reads();
  if (first != end) wake(first, end - 1);
  last_write_ = time_;
  for (std::size_t word = first; word < end; ++word) unwritten_[word / chunk] -= !is_plain(word);
  const uint32_t engine = stamp::make(time_, stamp::lanes_of + stamp::copies);
  std::fill(writes_.data() + first, writes_.data() + end, engine);
  std::fill(reads_.data() + first, reads_.data() + end, 0);
}

}  // namespace ptx
