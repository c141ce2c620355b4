// Device memory as the machine sees it: regions, and what threads did to each of their words.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ptx/machine/between/knowledge.h"
#include "ptx/machine/machine.h"
#include "ptx/machine/shapes/shape.h"
#include "ptx/machine/system/heap.h"
#include "ptx/machine/system/hidden.h"
#include "ptx/machine/texture/texture.h"
#include "ptx/machine/traces.h"

namespace ptx {

struct Region {
  Area area;
  std::uint64_t end = 0;
  LazyArray<std::uint8_t> own;  // of the machine's allocations
  HiddenAddresses hidden;       // that the area has in place of those
  Traces traces;                // of each word, of this launch and of earlier ones
  std::unordered_map<std::size_t, std::array<Trace, 4>>
      parts;  // of words that were written in such, in the launches under way; by absolute numbers
  LazyArray<std::uint8_t> is_written;  // 1 for each word that was; empty: all were
  // Up to this block the traces are those of a region that was there before.
  std::uint32_t traced_after = 0;
  std::vector<std::uint32_t> entered;  // what hosts did that the traces hold, by number; sorted

  // Whether all of an access lies in one row.
  bool holds(std::uint64_t address, std::uint64_t bytes) const {
    const std::uint64_t at = address - area.first;
    if (address < area.first || address + bytes > end) return false;
    return area.pitch_bytes == area.row_bytes || at % area.pitch_bytes + bytes <= area.row_bytes;
  }
  // Of a matrix without wide gaps, most words will be touched.
  bool is_dense() const { return area.rows > 1 && area.pitch_bytes / 2 <= area.row_bytes; }
  std::size_t word(std::uint64_t address) const { return (address - area.first) / 4; }
};

// Of the machine's own memory, in one row that nobody has written.
std::unique_ptr<Region> make_region(std::size_t bytes, std::string name, bool poisoned = true);

struct Block;

// Where an operation stands among all that ever were.
struct Numbering {
  // What blocks up to number `earlier` did comes before all that it does. The next `others` numbers
  // belong to operations that nothing orders with it; its own blocks follow.
  std::uint32_t earlier = 0, others = 0;
  Numbers own;

  // Up to which block whoever touched the region does not matter.
  std::uint32_t settled(const Region& region) const {
    return std::max(earlier, region.traced_after);
  }
  // Of a block, counted from 0 behind the earlier ones.
  bool is_of_other(std::uint32_t block) const { return !own.hold(earlier + block + 1); }
};

// What an operation met last.
struct Met {
  bool is_any = false;
  Region* region = nullptr;
  const Shape *shape = nullptr, *target = nullptr;  // the latter of copies
  // The shape lies within rows of `region` if it begins at any of the `count` addresses from
  // `first` on.
  struct Fit {
    const Shape* shape = nullptr;
    Region* region = nullptr;
    std::uint64_t first = 0, count = 0;
  } fit = {};
};

struct Memory::Contents {
  Contents();
  ~Contents();
  std::map<std::uint64_t, std::unique_ptr<Region>> regions;  // by their first address
  bool hides = false;                                        // what it allocates from the host
  int allocations = 0;
  Textures textures;
  Heap heap;
  int under_way = 0;                // launches that have begun, and not ended
  std::uint64_t turns_in_vain = 0;  // of blocks of these, that ended with waits, since one did not
  Shapes shapes;                    // of all launches: they say nothing about memory
  // Of launches that are over, for the memory that they have.
  std::vector<std::unique_ptr<Block>> spare_blocks;
  std::vector<std::vector<Met>> spare_met;  // of operations that have met nothing

  // What blocks of all launches told each other, at addresses where they exchange what is there: a
  // lock orders those of two launches as those of one. It goes by what was told within each launch.
  std::unordered_map<std::uint64_t, Told> told_at_locks;
  std::deque<ToldInLaunch> told_in_launches;  // which stay where they are
  void keep_told(ToldInLaunch&& in_launch) {
    if (!told_at_locks.empty()) told_in_launches.push_back(std::move(in_launch));
  }
  void forget_told() { told_at_locks.clear(), told_in_launches.clear(); }

  Region* at(std::uint64_t address);
  // The region nearest to an address, to describe an access outside all of them.
  const Region* nearest(std::uint64_t address) const;
  void insert(std::unique_ptr<Region>);
  void erase(std::uint64_t first);
  // Erases it for all that ask from now on.
  std::unique_ptr<Region> take(std::uint64_t first);
  // What a run that is over got from the heap and did not free is given back, or stays.
  void heap_at_end(const Run&, bool is_given_back);

  // Called before each operation. While launches are under way there must be numbers left for it.
  Numbering begin(std::uint64_t blocks, const Past&);
  bool has_numbers_for(std::uint64_t blocks) const { return last_ + blocks < Traces::in_parts; }
  // In traces, as if a thread had made it. That takes its time, and is done where somebody may not
  // count on it.
  void enter(const HostAccess&, std::uint32_t number);
  // Leaves words as if nobody had written them.
  void unwrite(std::uint64_t first, std::size_t bytes);
  Traces& traces_of(Region& region) {
    if (region.traces.size() == 0) give_traces(region);
    return region.traces;
  }

 private:
  void give_traces(Region&);
  std::uint32_t last_ = 0;        // block that has a number
  std::uint32_t last_quiet_ = 0;  // likewise, when a launch last began and no other was under way
  // Of regions that are gone: memory from the system is dear.
  std::vector<Traces> spare_traces_;
};

}  // namespace ptx
