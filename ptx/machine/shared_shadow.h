// Who wrote and who read each word of a block's shared memory, and whether that is ordered.
//
// The block has a time, which every barrier moves on. An access is stamped with the time and its
// thread. A warp knows of everything that other warps did before `since_barrier`, and of what its
// own lanes did before `since_sync`: whatever is later, and not the thread's own, is unordered. So
// a race is found whatever the schedule was. 0 is a word that nobody wrote.
//
// Reads of whole warps are noted, and entered when something asks for readers: a write, or an
// access of a single lane. Behind a barrier of all they no longer matter, and most never are.
//
// Most blocks touch a part of their shared memory only: a chunk of it sleeps until somebody comes
// there, and is cleared no sooner.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ptx/machine/cluster/touches.h"
#include "ptx/machine/shapes/shape.h"

namespace ptx {

class PeerClocks;

namespace stamp {
inline constexpr std::uint32_t thread_bits = 11, thread_mask = (1u << thread_bits) - 1;
inline constexpr std::uint32_t lanes_of = 1024;  // + warp: several lanes of one warp
inline constexpr std::uint32_t many = thread_mask;
inline constexpr std::uint32_t last_time = (1u << (32 - thread_bits)) - 2;

constexpr std::uint32_t make(std::uint32_t time, std::uint32_t thread) {
  return time << thread_bits | thread;
}
constexpr std::uint32_t time(std::uint32_t s) { return s >> thread_bits; }
constexpr std::uint32_t thread(std::uint32_t s) { return s & thread_mask; }
// The warp that a stamp is of, or 32 for several.
constexpr std::uint32_t warp(std::uint32_t s) {
  const std::uint32_t t = thread(s);
  return t < lanes_of ? t / 32 : t == many ? 32 : t - lanes_of;
}
// Later than all times.
inline constexpr std::uint32_t first_of_none = make(last_time + 1, 0);
// Not the time of anything: a word whose bytes have stamps of their own. It is later than all that
// a warp may know, so that whoever looks at whole words asks lane by lane.
inline constexpr std::uint32_t in_parts = make(last_time + 1, many);
// Whether it is of the time that stands still once the bits for it are used up: no order can be
// told any more, and nothing is called a race.
constexpr bool is_untold(std::uint32_t s) { return time(s) == last_time; }
// Of copies, which no thread does. Until somebody waits for one, its words are later than all that
// anybody may know.
inline constexpr std::uint32_t copies = 33;  // as if they were a warp
inline constexpr std::uint32_t in_flight = make(last_time + 1, lanes_of + copies);
constexpr bool is_of_copy(std::uint32_t s) { return warp(s) == copies; }
constexpr bool is_in_flight(std::uint32_t s) { return s == in_flight; }
// Of other blocks of the cluster, likewise; and a word that they touched since the block last met
// them.
inline constexpr std::uint32_t peers = 34;
// Of products of each warpgroup, likewise, and those of several of them: as readers.
inline constexpr std::uint32_t products = 35, of_several_groups = products + 8,
                               knowers = of_several_groups + 1;
inline constexpr std::uint32_t touched = make(last_time + 1, lanes_of + peers);
inline constexpr std::uint32_t multiplying = make(last_time + 1, lanes_of + of_several_groups);
constexpr bool is_of_product(std::uint32_t s) {
  return warp(s) >= products && warp(s) <= of_several_groups;
}
// Of two stamps of readers at about the same time.
constexpr std::uint32_t joined(std::uint32_t a, std::uint32_t b) {
  if (thread(a) == thread(b)) return a > b ? a : b;
  const std::uint32_t who = warp(a) == warp(b) && warp(a) != 32 ? lanes_of + warp(a) : many;
  return make(time(a) > time(b) ? time(a) : time(b), who);
}
}  // namespace stamp

// Whether something that another warp did comes before what this one does now.
bool is_known(std::uint32_t stamp, const Warp&);
// Whether what a lane of this warp did comes before what another one does now.
bool is_known_of_own(std::uint32_t stamp, const Warp&, int lane);

class SharedShadow {
 public:
  // Nothing is written. What lies there becomes `poison` where somebody comes first.
  void start(std::size_t words, std::uint32_t* contents = nullptr, std::uint32_t poison = 0);
  // From now on nothing is unordered: whoever only wants to know what is written.
  void ignore_order() { any_order_ = true; }
  // Warps of other blocks may read and write, too.
  void join_cluster(unsigned rank);
  // What a phase of the cluster's barrier makes known, which was complete at a time of this block.
  void settle_touches(const PeerClocks&, std::uint32_t time);
  std::uint32_t now() const { return time_; }
  void tick() {
    if (time_ < stamp::last_time) ++time_;
  }

  // One lane reads or writes one word. False: unordered with `other`, at `other_op`.
  struct Conflict {
    std::uint32_t other = 0, other_op = 0;
    bool other_wrote = false;
    int rank = -1;  // of the other's block, in whose time it is; -1: it is this one
  };
  // `bytes` is a mask of those that the access is about.
  static constexpr unsigned whole = 15;
  bool is_written(std::size_t word, unsigned bytes = whole) const;
  bool read(const Warp&, int lane, std::size_t word, std::uint32_t op, Conflict&,
            unsigned bytes = whole);
  bool write(const Warp&, int lane, std::size_t word, std::uint32_t op, Conflict&,
             unsigned bytes = whole);
  // All lanes of a shape read or write, from a word on. False: nothing was done, as something may
  // be unordered or unwritten: ask lane by lane.
  bool read_shape(const Warp& w, const Shape& s, std::size_t word, std::uint32_t op) {
    const bool is_usual =
        (any_order_ || last_write_ < w.since_barrier) && is_filled(word, word + s.span / 4 - 1);
    if (!is_usual && !are_readable(w, s, word)) return false;
    if (any_order_) return true;
    if (s.windows.size() == 1 && !w.known.empty() && touches_ == nullptr) {
      enter_read(w, s.windows[0], s.lead, word, op);
      return true;
    }
    if (noted_count_ == noted_.size()) make_room();
    noted_[noted_count_++] = {
        &s,    static_cast<std::uint32_t>(word), op,
        time_, stamp::make(w.since_barrier, 0),  static_cast<std::uint32_t>(w.index)};
    return true;
  }
  bool write_shape(const Warp&, const Shape&, std::size_t word, std::uint32_t op);
  // Everything until now comes before whatever any thread does from now on.
  void forget_reads() { noted_count_ = 0; }
  // Leaves a word as if nobody had written it.
  void unwrite(std::size_t word, unsigned bytes = whole);

  // fence.proxy.async by the lanes that run: covers what they wrote, and what they know of. A copy
  // may touch what threads wrote only if somebody who knew of it fenced it since.
  void fence_proxy(const Warp&);
  // By a thread of another block, who knows of what a warp of this one did before a time.
  void fence_proxy_of(std::size_t warp, std::uint32_t until);
  std::optional<Conflict> unfenced_write(std::size_t word) const;

  // Whether what a lane does now comes after the last write of a word, of which nothing is noted.
  bool is_after_write(const Warp& w, int lane, std::size_t word) const {
    return !is_asleep(word) && !is_in_parts(word) && writes_[word] != 0 &&
           is_ordered(writes_[word], w, lane);
  }

  // A word that was written just now is the target of a copy, until the copy lands.
  void take_off_shape(const Shape&, std::size_t word);
  void land_shape(const Warp&, const Shape&, std::size_t word, bool by_engine);
  // The same of words from one to another, which a copy of many bytes writes. False: nothing was
  // done, as something may be unordered, or not fenced: ask word by word.
  bool take_off_run(const Warp&, int lane, std::size_t first, std::size_t end, std::uint32_t op);
  void land_run(std::size_t first, std::size_t end);
  void take_off(std::size_t word) { set_write(word, stamp::in_flight); }
  void land(std::size_t word, std::uint32_t thread) {
    set_write(word, stamp::make(time_, thread));
    reads_[word] = 0;
  }
  // A word that was read just now is the source of a copy, until a thread has waited for it.
  void hold(std::size_t word) { set_read(word, stamp::in_flight); }
  void let_go(std::size_t word, std::uint32_t thread) {
    set_read(word, stamp::make(time_, thread));
  }
  // The same where a block of the cluster waits for the copy: from then on that block has read it.
  void hold_for_peer(std::size_t word, std::uint32_t op);
  void let_go_by_peer(std::size_t word, unsigned rank, std::uint32_t stamp, std::uint32_t op);
  // Whether everything is usual about what a lane begins to read: pieces of four words, from bytes
  // on. A product reads as a bulk copy does. Else each has to be looked at, and marked.
  bool are_readable_by_product(const Warp&, int lane,
                               const std::vector<std::uint32_t>& pieces) const;
  void mark_product(std::size_t word, std::uint32_t op);
  // The piece that begins with a word is read by one more product of a warpgroup, or by one less.
  void hold_for_product(const Warp&, std::size_t first, std::uint32_t op);
  void let_go_of_product(std::size_t first, std::size_t group);

 private:
  // Who wrote and who read one word, or one byte.
  struct Marks {
    std::uint32_t &write, &read, &write_op, &read_op;
    std::uint32_t key;  // of Touches
  };
  struct Part {
    std::uint32_t write = 0, read = 0, write_op = 0, read_op = 0;
    Marks marks(std::size_t word, std::size_t byte) {
      return {write, read, write_op, read_op, Touches::key(word, byte)};
    }
  };
  using Parts = std::array<Part, 4>;

  // A read that is not entered into `reads_` yet.
  struct Noted {
    const Shape* shape;
    std::uint32_t word, op, time, limit, warp;
  };

  bool is_ordered(std::uint32_t s, const Warp&, int lane) const;
  // Stamps below it need no closer look.
  std::uint32_t limit_of(const Warp& w) const {
    return any_order_ ? stamp::first_of_none : stamp::make(w.since_barrier, 0);
  }
  bool read(Marks, const Warp&, int lane, std::uint32_t op, Conflict&);
  bool write(Marks, const Warp&, int lane, std::uint32_t op, Conflict&);
  Marks marks(std::size_t word) {
    return {writes_[word], reads_[word], write_ops_[word], read_ops_[word], Touches::key(word)};
  }

  // The same where blocks of a cluster meet: by another block, or of a word that one touched.
  bool is_touch(const Marks&, const Warp&) const;
  bool comes_after(unsigned rank, std::uint32_t stamp, const Warp&, int lane) const;
  bool is_behind_write(const Marks&, const Warp&, int lane, Conflict&) const;
  bool read_touched(Marks, const Warp&, int lane, std::uint32_t op, Conflict&);
  bool write_touched(Marks, const Warp&, int lane, std::uint32_t op, Conflict&);
  bool is_of_owner(const Warp&) const;
  // False if no word of the window is touched: then nothing was done.
  bool enter_touched(const Noted&, const Shape::Window&);
  // A word that is written in parts has the number of these in `reads_`.
  bool is_in_parts(std::size_t word) const { return writes_[word] == stamp::in_parts; }
  Parts& parts_of(std::size_t word);  // takes it apart
  void join_parts(std::size_t word, const Part& into);
  void join_known_parts(std::size_t word, const Warp&);
  void enter_reads();
  // Of few words, at once: by what their warp knows of single others, too.
  void enter_read(const Warp&, const Shape::Window&, int lead, std::size_t word, std::uint32_t op);
  void set_read(std::size_t word, std::uint32_t stamp);
  void set_write(std::size_t word, std::uint32_t stamp);
  void make_room();
  bool are_readable(const Warp&, const Shape&, std::size_t word);
  // Whether all chunks from one word to another were written, as far as a few chunks tell.
  bool is_filled(std::size_t first, std::size_t last) const {
    if (last / chunk - first / chunk > 3) return false;
    std::uint32_t unwritten = 0;
    for (std::size_t i = first / chunk; i <= last / chunk; ++i) unwritten |= unwritten_[i];
    return unwritten == 0;
  }
  // Whether all that could be known of a shape's words, where no order counts, is that they are
  // written.
  bool are_settled(const Shape& s, std::size_t word) const {
    if (!any_order_ || touches_ != nullptr || !products_.empty()) return false;
    return is_filled(word, word + s.span / 4 - 1) || are_plain(s, word);
  }
  bool are_plain(const Shape&, std::size_t word) const;
  bool is_fenced(std::uint32_t stamp) const;
  bool is_behind_products(std::size_t word, const Warp&) const;
  // Of a word that several warpgroups read, if that comes before what a warp does now.
  void forget_products(std::size_t word, const Warp& w) {
    const bool is_of_several = stamp::warp(reads_[word]) == stamp::of_several_groups;
    if (is_of_several && !is_in_parts(word) && is_behind_products(word, w)) reads_[word] = 0;
  }
  bool is_plain(std::size_t word) const {
    return writes_[word] != 0 && stamp::time(writes_[word]) <= stamp::last_time;
  }
  bool is_asleep(std::size_t word) const { return (unwritten_[word / chunk] & asleep) != 0; }
  // The chunks from one word to another.
  void wake(std::size_t first, std::size_t last) {
    for (std::size_t i = first / chunk; i <= last / chunk; ++i)
      if ((unwritten_[i] & asleep) != 0) wake_chunk(i);
  }
  void wake_window(std::size_t first) {
    if (((unwritten_[first / chunk] | unwritten_[(first + 7) / chunk]) & asleep) != 0)
      wake(first, first + 7);
  }
  void wake_chunk(std::size_t);
  // After some of the eight words from one on have become plain, or have ceased to be.
  void count_plain(std::size_t first, unsigned words) { count(first, words, -1); }
  void count_not_plain(std::size_t first, unsigned words) { count(first, words, 1); }
  void count(std::size_t first, unsigned words, int each) {
    const std::size_t in_first = chunk - first % chunk;
    const unsigned here = in_first < 8 ? words & ((1u << in_first) - 1) : words;
    unwritten_[first / chunk] += static_cast<std::uint32_t>(each * std::popcount(here));
    unwritten_[(first + 7) / chunk] +=
        static_cast<std::uint32_t>(each * std::popcount(words & ~here));
  }
  // After a word may have become plain, or may no longer be.
  void count_again(std::size_t word, bool was_plain) {
    unwritten_[word / chunk] += std::uint32_t{was_plain} - std::uint32_t{is_plain(word)};
  }

  std::vector<Noted> noted_;
  std::size_t noted_count_ = 0;
  // With a window's words behind the last.
  std::vector<std::uint32_t> writes_, reads_, write_ops_, read_ops_;
  std::vector<Parts> parts_;
  std::vector<std::uint32_t> free_parts_;
  // Of each chunk of words, how many are not plain: nobody wrote them, or only bytes of them, or a
  // copy is on its way there; and whether it sleeps. And the time of the last write of all.
  static constexpr std::size_t chunk = 64;
  static constexpr std::uint32_t asleep = 1u << 31;
  std::size_t words_ = 0;
  std::uint32_t *contents_ = nullptr, poison_ = 0;
  std::vector<std::uint32_t> unwritten_;
  std::uint32_t last_write_ = 0;
  std::uint32_t time_ = 1;
  bool any_order_ = false;
  // What each warp and each thread wrote before these times is fenced; empty without fences.
  std::vector<std::uint32_t> fenced_warps_, fenced_threads_;
  // Of each piece, how many products read it; and the groups that have, since somebody last came
  // behind all that had, and when. Empty without products.
  struct Readers {
    std::uint32_t count = 0;
    std::uint8_t groups = 0;
    std::array<std::uint32_t, 8> until = {};
  };
  std::vector<Readers> products_;
  std::unique_ptr<Touches> touches_;  // null: the block is in no cluster
};

}  // namespace ptx
