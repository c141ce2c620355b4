// What the comparisons of a launch saw: plain data.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ptx {

struct SourceLine {
  std::string file;  // as the compiler was given it
  int line = 0;
};

// One comparison in the code, and all that it has seen. Values are signed numbers.
struct Comparison {
  static constexpr double infinite = std::numeric_limits<double>::infinity();

  // A name of it, and no address: the same in every launch and every process that runs this text.
  const void* where = nullptr;
  // Of the source, then those that it was inlined at. None without -lineinfo, and none of what the
  // compiler compares on its own account. `Watched` keeps them.
  std::span<const SourceLine> lines;
  bool is_of_floats = false;
  int bytes = 0;  // of each value
  bool with_constant = false;
  double constant = 0;                                        // the second value, if there is one
  double least = infinite, greatest = -infinite;              // of the first value
  double least_other = infinite, greatest_other = -infinite;  // of the second
  // The differences next to zero, of the first value minus the second.
  double below = -infinite, above = infinite;
  bool equal = false;
  bool was_true = false, was_false = false;
  std::uint64_t first_call = 0;  // how many comparisons of threads came before
};

struct Watched {
  std::vector<Comparison> comparisons;  // that were reached, in the order of the code
  std::uint64_t calls = 0;              // comparisons of threads
  std::uint64_t threads = 0;            // of the blocks that were started
  std::shared_ptr<const void> keeps_lines;
};

}  // namespace ptx
