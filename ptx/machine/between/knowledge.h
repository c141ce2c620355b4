// What happened in other blocks before something here: everything in a block before a time, and
// everything by one of its warps, or one of its threads, before a time. Thousands of blocks may
// count at one address, and each hears there what all before it told: so nobody copies what was
// told, but knows how much of it was there. And what a warp lets others know holds all that it let
// them know before: of each warp, the last counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ptx {

class Told;

class Knowledge {
 public:
  // Whose work in a block something is about.
  static constexpr std::uint64_t all = 0, first_warp = 1, first_thread = 64;
  // Whose it is in a block, and the time. To return true ends the search.
  using Visit = std::function<bool(std::uint64_t whose, std::uint32_t time)>;

  bool empty() const { return own_.empty() && heard_.empty() && latest_.empty(); }
  void clear();
  // Another one whenever something may have been added.
  std::uint64_t version() const { return version_; }

  void learn(std::uint64_t block, std::uint64_t whose, std::uint32_t time);
  // Of all warps, where they are later; 0 is none.
  void learn(std::uint64_t block, const std::vector<std::uint32_t>& times);
  void learn(const Knowledge&);
  void hear(const Told&);  // all that was told there so far
  bool has_heard(const Told&) const;

  // All that is known of a block, maybe some of it twice; whether a visit ended it.
  bool visit(std::uint64_t block, const Visit&) const;
  bool visit_learnt(std::uint64_t block, const Visit&) const;  // without what was heard
  // Whether what a stamp in a block is of.
  bool knows(std::uint64_t block, std::uint32_t stamp) const;

 private:
  friend class Told;
  using Entry = std::pair<std::uint64_t, std::uint32_t>;  // block times keys + whose; time
  using Heard = std::pair<const Told*, std::size_t>;      // and how often it had been told to
  struct Latest {
    std::uint64_t turn = 0;
    const Told* told = nullptr;
    bool operator<(const Latest& other) const { return turn < other.turn; }
  };
  class Walk;

  void hear_alone(const Told&);

  // Sorted.
  std::vector<Entry> own_;
  std::vector<Heard> heard_;                              // of several warps
  std::vector<std::pair<std::uint64_t, Latest>> latest_;  // of each warp, by its number
  std::uint64_t version_ = 1;
};

// What was told at one address, in order; or what a warp let others know by one fence. Whoever
// hears it keeps a reference, so it must live longer than they do.
class Told {
 public:
  // A warp of a block; it lets blocks know, or the own block alone. Its later ones have more turns.
  struct By {
    std::uint64_t block = 0;
    int warp = 0;
    bool own_block_alone = false;
    std::uint64_t turn = 0;
  };
  Told() = default;  // several
  explicit Told(const By&);

  void tell(const Knowledge&);
  // All that was told there, once and for all, while there `is_room` for that: at each of many
  // addresses, such as those of sums, some fences are all that anybody tells of; at one of few,
  // such as counters, there may be thousands.
  bool is_room(std::size_t addresses) const;
  void tell(const Told& once);

 private:
  friend class Knowledge;
  // How often it had been told to before, and the time or the count that was added; both grow.
  using Course = std::vector<std::pair<std::size_t, std::size_t>>;

  // The latest that was there when it had been told to so often; 0: nothing.
  static std::size_t latest(const Course&, std::size_t so_far);
  bool add(Course&, std::size_t value) const;

  std::unordered_map<std::uint64_t, std::vector<std::pair<std::uint64_t, Course>>> blocks_;
  std::vector<std::pair<const Told*, Course>> heard_;
  std::vector<const Told*> once_;
  std::size_t times_ = 0;              // that it was told to
  std::uint64_t warp_ = 0, turn_ = 0;  // the number of the only warp that tells here; 0: several
};

// Within a launch: at addresses, and by fences, each once.
struct ToldInLaunch {
  std::unordered_map<std::uint64_t, Told> at;
  std::deque<Told> by_fences;
};

}  // namespace ptx
