// Device memory as the machine sees it: regions, and what threads did to each of their words.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ptx/machine/machine.h"
#include "ptx/machine/shapes/shape.h"

namespace ptx {

// Who last wrote a word, and who read it since. A stamp holds the block, the time of that block and
// the thread; see shared_shadow.h for the last two. 0 is nobody.
struct Trace {
  std::uint64_t write = 0, read = 0;
  std::uint32_t write_op = 0, read_op = 0;
  std::uint32_t launch = 0;  // the one that it is of: for any other, there is none
  bool write_is_atomic = false, read_is_atomic = false;
  bool is_in_parts = false;  // each byte has a trace of its own
};

// Zeros, given by the system page by page when they are first touched.
template <class T>
class LazyArray {
 public:
  LazyArray() = default;
  explicit LazyArray(std::size_t count);
  ~LazyArray();
  LazyArray(LazyArray&& other) noexcept
      : items_(std::exchange(other.items_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  LazyArray& operator=(LazyArray&& other) noexcept {
    std::swap(items_, other.items_);
    std::swap(count_, other.count_);
    return *this;
  }
  T& operator[](std::size_t i) { return items_[i]; }
  bool empty() const { return items_ == nullptr; }
  std::size_t size() const { return count_; }

 private:
  T* items_ = nullptr;
  std::size_t count_ = 0;
};

struct Region {
  Area area;
  std::uint64_t end = 0;
  std::unique_ptr<std::byte[]> own;  // of the machine's allocations
  LazyArray<Trace> traces;           // of each word, of this launch and of earlier ones
  std::unordered_map<std::size_t, std::array<Trace, 4>>
      parts;                           // of words that were written in such
  LazyArray<std::uint8_t> is_written;  // 1 for each word that was; empty: all were

  // Whether all of an access lies in one row.
  bool holds(std::uint64_t address, std::uint64_t bytes) const {
    const std::uint64_t at = address - area.first;
    if (address < area.first || address + bytes > end) return false;
    return area.pitch_bytes == area.row_bytes || at % area.pitch_bytes + bytes <= area.row_bytes;
  }
  std::size_t word(std::uint64_t address) const { return (address - area.first) / 4; }
};

struct Memory::Contents {
  std::map<std::uint64_t, std::unique_ptr<Region>> regions;  // by their first address
  int allocations = 0;
  std::uint32_t launch = 0;  // how many there were
  Shapes shapes;             // of all launches: they say nothing about memory

  Region* at(std::uint64_t address);
  // The region nearest to an address, to describe an access outside all of them.
  const Region* nearest(std::uint64_t address) const;
  void erase(std::uint64_t first);

  void forget_traces() { ++launch; }
  LazyArray<Trace>& traces_of(Region& region) {
    if (region.traces.empty()) give_traces(region);
    return region.traces;
  }
  Trace& trace_of(Region& region, std::size_t word) {
    return of_this_launch(traces_of(region)[word]);
  }
  Trace& of_this_launch(Trace& t) const {
    return t.launch == launch ? t : t = Trace{.launch = launch};
  }

 private:
  void give_traces(Region&);
  // Of regions that are gone: memory from the system is dear.
  std::vector<LazyArray<Trace>> spare_traces_;
};

}  // namespace ptx
