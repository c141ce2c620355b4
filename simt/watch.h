// What the comparisons in watched kernels see, and which ways their branches go.
//
// A kernel file built with `simt_add_kernels(... WATCHED)` calls the executor at every comparison
// and at the beginning of every block of its code, in kernels and in launch functions. While
// nobody watches, such a call costs a test of one pointer.
//
// It knows a comparison by its place in the code. It does not know the operator, nor comparisons
// that were never reached.
#pragma once

#include <csetjmp>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace simt {

// One comparison in the code, and all that it has seen. Values are signed numbers; those of a
// comparison with a constant are the other side's.
struct Comparison {
  const void* where = nullptr;  // the address after the call, in the code of the watched kernel
  // Of one inside a helper such as `min`: the address there. `where` is then the one after the call
  // of the helper, marked in its highest bits, which addresses leave free.
  const void* inside = nullptr;
  enum class Kind : std::uint8_t { whole_numbers, floats, switches };
  Kind kind = Kind::whole_numbers;
  int bytes = 0;  // of each value
  bool with_constant = false;
  double constant = 0;                                        // if there is one
  std::span<const std::uint64_t> labels;                      // of a switch
  double least = infinite, greatest = -infinite;              // of the first value
  double least_other = infinite, greatest_other = -infinite;  // of the second, if not a constant
  // The differences next to zero, of the first value minus the second.
  double below = -infinite, above = infinite;
  bool equal = false;
  std::uint64_t first_call = 0;  // of the watch, that reached it
  const void* ways[2] = {};      // the blocks that came next: two once it went both ways

  bool went_both_ways() const { return ways[1] != nullptr; }
  // Where the line of source is that compares.
  const void* line() const {
    constexpr std::uintptr_t address = (std::uintptr_t{1} << 48) - 1;
    return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(where) & address);
  }
  static constexpr double infinite = std::numeric_limits<double>::infinity();
};

// What is known of comparisons by their place, in its order. Both lists must outlive the watch.
struct Hints {
  std::span<const void* const> in_helpers;  // these count as made by the line that calls the helper
  std::span<const void* const> branches;    // of these only the way counts in a path
};

// Given in `Settings`. Allocates nothing while kernels run, and keeps to the comparisons that it
// saw first where a kernel has more than it can hold.
class Watch {
 public:
  // Kernels end, as if they had never come to their end, after this many calls.
  explicit Watch(std::uint64_t most_calls = std::numeric_limits<std::uint64_t>::max(),
                 const Hints& = {});

  std::vector<Comparison> comparisons() const;  // those that were reached, in the order of the code
  std::uint64_t calls() const { return calls_; }

  // Runs code of the host, and notes which sides of its comparisons it takes. Returns false where
  // that took more than so many calls, or was cut short: at a fault, or at an index outside an
  // array. What the code held at that moment, such as a lock, is never given back; so what takes
  // too many calls comes to its own end, until all such runs together have taken `overtime` more.
  bool run(std::uint64_t most_calls, const std::function<void()>& host_code);
  // Equal if that took equal sides of the same comparisons, in whatever order.
  std::uint64_t path() const;
  bool took_new_side() const { return took_new_side_; }  // that no such run had taken
  void end_host_code();  // returns if none runs. Safe in a signal handler

  // Called by watched code, with the frame of the callback.
  void enter_block(const void* block);
  void compare(const void* where, const void* frame, Comparison::Kind, int bytes, double value,
               double other, bool with_constant);
  void choose(const void* where, double value, std::span<const std::uint64_t> labels);
  // Called before a memset or memcpy, whose every 64 bytes cost as much as a call.
  void touch(std::size_t bytes);

 private:
  static constexpr std::size_t slots = 1 << 13, most_found = slots / 2;
  enum Side : std::uint8_t { less = 1, equal = 2, greater = 4, first_way = 8, second_way = 16 };
  struct Sides {  // of a comparison that were taken
    std::uint64_t run = 0;
    std::uint8_t then = 0, ever = 0;
    bool is_branch = false;
  };

  Comparison* find(const void* where);
  Sides& sides_of(const Comparison&);
  Comparison* find_in_caller(Comparison& in_helper, const void* frame);
  void take(const Comparison&, Side);
  void count(std::uint64_t calls = 1);

  std::vector<Comparison> found_;            // in the order in which they were reached
  std::vector<Sides> sides_;                 // of each
  std::unique_ptr<std::uint16_t[]> number_;  // in `found_` from 1, by a hash of the place
  std::vector<std::uint16_t> touched_;       // by this run
  std::uint64_t run_ = 0, end_of_run_ = 0;
  bool took_new_side_ = false;
  sigjmp_buf* leave_ = nullptr;
  static constexpr std::uint64_t overtime = 50'000'000;
  std::uint64_t overtime_left_ = overtime;
  const Hints hints_;
  Comparison* last_ = nullptr;  // compared, and its way not yet known
  std::uint64_t calls_ = 0;
  const std::uint64_t most_calls_;
};

// Who watches on this operating system thread, if anybody.
extern constinit thread_local Watch* watching;

}  // namespace simt
