#include "ptx/machine/shared_shadow.h"

#include <algorithm>
#include <bit>

namespace ptx {

using std::uint32_t;

namespace {
constexpr std::size_t most_noted = 4096;
}  // namespace

void SharedShadow::start(std::size_t words) {
  writes_.assign(words, 0);
  reads_.assign(words, 0);
  write_ops_.resize(words);
  read_ops_.resize(words);
  parts_.clear();
  free_parts_.clear();
  noted_.clear();
  time_ = 1;
}

bool is_known(uint32_t s, const Warp& w) {
  if (stamp::is_untold(s) || stamp::time(s) < w.since_barrier) return true;
  if (w.known.empty()) return false;
  // Several warps: those that this one synchronised with, as far as can be told.
  const uint32_t warp = stamp::warp(s);
  return stamp::time(s) < (warp < w.known.size() && warp != warp_size
                               ? w.known[warp]
                               : *std::max_element(w.known.begin(), w.known.end()));
}

bool SharedShadow::is_ordered(uint32_t s, const Warp& w, int lane) {
  if (stamp::warp(s) != static_cast<uint32_t>(w.index)) return is_known(s, w);
  if (stamp::thread(s) == static_cast<uint32_t>(w.index * warp_size + lane)) return true;
  return stamp::is_untold(s) || stamp::time(s) < w.since_sync;
}

bool SharedShadow::read(Marks m, const Warp& w, int lane, uint32_t op, Conflict& conflict) const {
  if (m.write != 0 && !is_ordered(m.write, w, lane)) {
    conflict = {m.write, m.write_op, true};
    return false;
  }
  const uint32_t mine = stamp::make(time_, static_cast<uint32_t>(w.index * warp_size + lane));
  m.read = stamp::time(m.read) < w.since_barrier ? mine : stamp::joined(m.read, mine);
  m.read_op = op;
  return true;
}

bool SharedShadow::write(Marks m, const Warp& w, int lane, uint32_t op, Conflict& conflict) const {
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
  if (!noted_.empty()) enter_reads();
  if (is_in_parts(word)) join_known_parts(word, w);
  if (bytes == whole && !is_in_parts(word)) return read(marks(word), w, lane, op, conflict);
  for (Parts& parts = parts_of(word); bytes != 0; bytes &= bytes - 1) {
    Part& part = parts[static_cast<std::size_t>(std::countr_zero(bytes))];
    if (!read(part.marks(), w, lane, op, conflict)) return false;
  }
  return true;
}

bool SharedShadow::write(const Warp& w, int lane, std::size_t word, uint32_t op, Conflict& conflict,
                         unsigned bytes) {
  if (!noted_.empty()) enter_reads();
  if (bytes == whole && !is_in_parts(word)) return write(marks(word), w, lane, op, conflict);
  Parts& parts = parts_of(word);
  for (unsigned left = bytes; left != 0; left &= left - 1) {
    Part& part = parts[static_cast<std::size_t>(std::countr_zero(left))];
    if (!write(part.marks(), w, lane, op, conflict)) return false;
  }
  if (bytes == whole) join_parts(word, parts[0]);
  return true;
}

bool SharedShadow::is_written(std::size_t word, unsigned bytes) const {
  if (!is_in_parts(word)) return writes_[word] != 0;
  for (const Parts& parts = parts_[reads_[word]]; bytes != 0; bytes &= bytes - 1)
    if (parts[static_cast<std::size_t>(std::countr_zero(bytes))].write == 0) return false;
  return true;
}

void SharedShadow::unwrite(std::size_t word, unsigned bytes) {
  if (bytes == whole && !is_in_parts(word)) {
    writes_[word] = 0;
    return;
  }
  for (Parts& parts = parts_of(word); bytes != 0; bytes &= bytes - 1)
    parts[static_cast<std::size_t>(std::countr_zero(bytes))].write = 0;
}

void SharedShadow::set_read(std::size_t word, uint32_t stamp) {
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
  writes_[word] = stamp::in_parts;
  reads_[word] = number;
  return parts_[number];
}

void SharedShadow::join_parts(std::size_t word, const Part& into) {
  free_parts_.push_back(reads_[word]);
  writes_[word] = into.write, reads_[word] = into.read;
  write_ops_[word] = into.write_op, read_ops_[word] = into.read_op;
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

bool SharedShadow::read_shape(const Warp& w, const Shape& s, std::size_t word, uint32_t op) {
  const uint32_t limit = stamp::make(w.since_barrier, 0);
  uint32_t bad = 0;  // unwritten, or written since the barrier
  for (const Shape::Run& run : s.runs) {
    const uint32_t* writes = &writes_[word + run.first];
    for (uint32_t i = 0; i < run.words; ++i) bad |= writes[i] - 1 >= limit - 1;
  }
  if (bad != 0) return false;
  if (noted_.size() >= most_noted) enter_reads();
  noted_.push_back(
      {&s, static_cast<uint32_t>(word), op, time_, limit, static_cast<uint32_t>(w.index)});
  return true;
}

void SharedShadow::enter_reads() {
  for (const Noted& n : noted_) {
    const uint32_t first = stamp::make(n.time, n.warp * warp_size);
    const uint32_t by_several = stamp::make(n.time, stamp::lanes_of + n.warp);
    const std::uint8_t* lane = n.shape->lanes.data();
    for (const Shape::Run& run : n.shape->runs) {
      uint32_t *reads = &reads_[n.word + run.first], *ops = &read_ops_[n.word + run.first];
      for (uint32_t i = 0; i < run.words; ++i) {
        const uint32_t mine = *lane == Shape::several ? by_several : first + *lane;
        ++lane;
        reads[i] = reads[i] < n.limit ? mine : stamp::joined(reads[i], mine);
        ops[i] = n.op;
      }
    }
  }
  noted_.clear();
}

bool SharedShadow::write_shape(const Warp& w, const Shape& s, std::size_t word, uint32_t op) {
  if (!s.is_disjoint) return false;
  if (!noted_.empty()) enter_reads();
  const uint32_t limit = stamp::make(w.since_barrier, 0);
  uint32_t bad = 0;
  for (const Shape::Run& run : s.runs) {
    const uint32_t *writes = &writes_[word + run.first], *reads = &reads_[word + run.first];
    for (uint32_t i = 0; i < run.words; ++i) bad |= (writes[i] >= limit) | (reads[i] >= limit);
  }
  if (bad != 0) return false;
  const uint32_t mine = stamp::make(time_, static_cast<uint32_t>(w.index * warp_size));
  const std::uint8_t* lane = s.lanes.data();
  for (const Shape::Run& run : s.runs) {
    const std::size_t at = word + run.first;
    for (uint32_t i = 0; i < run.words; ++i) {
      writes_[at + i] = mine + *lane++;
      reads_[at + i] = 0;
      write_ops_[at + i] = op;
    }
  }
  return true;
}

}  // namespace ptx
