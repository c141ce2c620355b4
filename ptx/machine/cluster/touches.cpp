#include "ptx/machine/cluster/touches.h"

#include <bit>

#include "ptx/machine/block.h"

namespace ptx {

using std::uint32_t;

void Touches::take_apart(std::size_t word) {
  const auto whole = all.find(key(word));
  if (whole == all.end()) return;
  const Touch touch = whole->second;
  all.erase(whole);
  for (std::size_t byte = 0; byte < 4; ++byte) all[key(word, byte)] = touch;
}
void Touches::join(std::size_t word) {
  const auto first = all.find(key(word, 0));
  if (first != all.end()) all[key(word)] = first->second;
  for (std::size_t byte = 0; byte < 4; ++byte) all.erase(key(word, byte));
}

namespace {

// Of two reads of one block, the latter by a warp that knows of all before `limit`.
void add_read(Touch::By& to, uint32_t mine, uint32_t limit, uint32_t op) {
  to = {stamp::time(to.stamp) < limit ? mine : stamp::joined(to.stamp, mine), op};
}
uint32_t stamp_now(const Warp& w, int lane) {
  return stamp::make(w.block->shadow.now(), static_cast<uint32_t>(w.index * warp_size + lane));
}

}  // namespace

void SharedShadow::join_cluster(unsigned rank) {
  touches_ = std::make_unique<Touches>();
  touches_->rank = rank;
}

bool SharedShadow::is_of_owner(const Warp& w) const {
  return w.block->in_cluster.rank == touches_->rank;
}
bool SharedShadow::is_touch(const Marks& m, const Warp& w) const {
  return m.write == stamp::touched || m.read == stamp::touched || !is_of_owner(w);
}

bool SharedShadow::comes_after(unsigned rank, uint32_t s, const Warp& w, int lane) const {
  if (any_order_ || rank == w.block->in_cluster.rank) return is_ordered(s, w, lane);
  return stamp::time(s) <= stamp::last_time && knows_of_peer(w, rank, s);
}

bool SharedShadow::is_behind_write(const Marks& m, const Warp& w, int lane,
                                   Conflict& conflict) const {
  if (m.write == 0) return true;
  const int owner = static_cast<int>(touches_->rank);
  conflict = {m.write, m.write_op, true, owner};
  if (m.write == stamp::touched) {
    const Touch& touch = touches_->all.at(m.key);
    conflict = {touch.write.stamp, touch.write.op, true, touch.writer};
  }
  return comes_after(static_cast<unsigned>(conflict.rank), conflict.other, w, lane);
}

bool SharedShadow::read_touched(Marks m, const Warp& w, int lane, uint32_t op, Conflict& conflict) {
  if (!is_behind_write(m, w, lane, conflict)) return false;
  const uint32_t mine = stamp_now(w, lane);
  const bool is_own = is_of_owner(w);
  if (is_own && m.read != stamp::touched) {
    m.read = stamp::time(m.read) < w.since_barrier ? mine : stamp::joined(m.read, mine);
    m.read_op = op;
    return true;
  }
  Touch& touch = touches_->all[m.key];
  if (is_own) {
    add_read(touch.own_read, mine, w.since_barrier, op);
    return true;
  }
  if (m.read != stamp::touched) {
    touch.own_read = {m.read, m.read_op};
    touch.readers = 0;
    m.read = stamp::touched;
  }
  const unsigned rank = w.block->in_cluster.rank;
  if ((touch.readers >> rank & 1) == 0) touch.reads[rank] = {};
  add_read(touch.reads[rank], mine, w.since_barrier, op);
  touch.readers |= 1u << rank;
  return true;
}

bool SharedShadow::write_touched(Marks m, const Warp& w, int lane, uint32_t op,
                                 Conflict& conflict) {
  if (!is_behind_write(m, w, lane, conflict)) return false;
  const int owner = static_cast<int>(touches_->rank);
  Touch::By own = {m.read, m.read_op};
  if (m.read == stamp::touched) {
    const Touch& touch = touches_->all.at(m.key);
    own = touch.own_read;
    for (uint32_t left = touch.readers; left != 0; left &= left - 1) {
      const int rank = std::countr_zero(left);
      const Touch::By& by = touch.reads[static_cast<std::size_t>(rank)];
      conflict = {by.stamp, by.op, false, rank};
      if (!comes_after(static_cast<unsigned>(rank), by.stamp, w, lane)) return false;
    }
  }
  conflict = {own.stamp, own.op, false, owner};
  if (own.stamp != 0 && !comes_after(touches_->rank, own.stamp, w, lane)) return false;
  m.read = 0;
  m.write_op = op;
  if (is_of_owner(w)) {
    m.write = stamp_now(w, lane);
    touches_->all.erase(m.key);
  } else {
    m.write = stamp::touched;
    touches_->all[m.key] = {.writer = static_cast<int>(w.block->in_cluster.rank),
                            .write = {stamp_now(w, lane), op}};
  }
  return true;
}

void SharedShadow::hold_for_peer(std::size_t word, uint32_t op) {
  if (noted_count_ != 0) enter_reads();
  if (is_in_parts(word)) return;
  const Marks m = marks(word);
  Touch& touch = touches_->all[m.key];
  if (touch.copies++ == 0 && m.read != stamp::touched)
    touch.own_read = {m.read, m.read_op}, touch.readers = 0;
  m.read = stamp::in_flight, m.read_op = op;
}

void SharedShadow::let_go_by_peer(std::size_t word, unsigned rank, uint32_t s, uint32_t op) {
  if (noted_count_ != 0) enter_reads();
  const auto found = touches_->all.find(Touches::key(word));
  if (found == touches_->all.end() || found->second.copies == 0) return;
  Touch& touch = found->second;
  if ((touch.readers >> rank & 1) == 0) touch.reads[rank] = {};
  add_read(touch.reads[rank], s, 0, op);
  touch.readers |= 1u << rank;
  if (--touch.copies != 0) return;
  if (stamp::time(touch.own_read.stamp) > stamp::last_time) touch.own_read = {};
  reads_[word] = stamp::touched;
}

bool SharedShadow::enter_touched(const Noted& n, const Shape::Window& window) {
  uint32_t* const reads = reads_.data() + n.word + window.first;
  uint32_t* const ops = read_ops_.data() + n.word + window.first;
  bool any = false;
  for (std::size_t i = 0; i < 8; ++i) any |= window.wanted[i] != 0 && reads[i] == stamp::touched;
  if (!any) return false;
  for (std::size_t i = 0; i < 8; ++i) {
    if (window.wanted[i] == 0) continue;
    const uint32_t lane = window.lane[i];
    const uint32_t who =
        lane == Shape::several ? stamp::lanes_of + n.warp : n.warp * warp_size + lane;
    const uint32_t mine = stamp::make(n.time, who);
    const uint32_t limit = stamp::time(n.limit);
    if (reads[i] == stamp::touched) {
      add_read(touches_->all.at(Touches::key(n.word + window.first + i)).own_read, mine, limit,
               n.op);
    } else {
      reads[i] = stamp::time(reads[i]) < limit ? mine : stamp::joined(reads[i], mine);
      ops[i] = n.op;
    }
  }
  return true;
}

namespace {

// Whether all that other blocks did to a word comes before what whoever has these clocks does.
bool is_covered(const Touch& touch, bool is_written, bool is_read, const PeerClocks& clocks) {
  const auto knows = [&](unsigned rank, uint32_t s) {
    return stamp::is_untold(s) || stamp::time(s) < clocks.until(rank, stamp::warp(s));
  };
  if (is_written && !knows(static_cast<unsigned>(touch.writer), touch.write.stamp)) return false;
  for (uint32_t left = is_read ? touch.readers : 0; left != 0; left &= left - 1) {
    const auto rank = static_cast<unsigned>(std::countr_zero(left));
    if (!knows(rank, touch.reads[rank].stamp)) return false;
  }
  return true;
}

}  // namespace

void SharedShadow::settle_touches(const PeerClocks& clocks, uint32_t time) {
  if (noted_count_ != 0) enter_reads();
  const uint32_t settled = stamp::make(time - 1, stamp::lanes_of + stamp::peers);
  std::erase_if(touches_->all, [&](const auto& one) {
    const auto& [key, touch] = one;
    const std::size_t word = key / 8;
    const bool is_part = key % 8 != 0;
    if (is_part != is_in_parts(word)) return true;
    if (touch.copies != 0) return false;
    Marks m = is_part ? parts_[reads_[word]][key % 8 - 4].marks(word, key % 8 - 4) : marks(word);
    const bool is_written = m.write == stamp::touched, is_read = m.read == stamp::touched;
    if (!is_covered(touch, is_written, is_read, clocks)) return false;
    const bool was_plain = is_plain(word);
    if (is_written) m.write = settled;
    if (is_read)
      m.read = touch.own_read.stamp == 0 ? settled : stamp::joined(touch.own_read.stamp, settled);
    if (!is_part) count_again(word, was_plain);
    return true;
  });
  last_write_ = std::max(last_write_, time - 1);
}

}  // namespace ptx
