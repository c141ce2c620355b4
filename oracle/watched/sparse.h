// An operand in memory of its own, which appears page by page as it is touched: however huge, it
// costs only what is used of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "oracle/case.h"
#include "oracle/diagnosis/whereabouts.h"

namespace assay {

// Around it lies readable memory of at least a page in all, and beyond that `fence` bytes that
// fault: no other memory is within that distance.
class Sparse {
 public:
  static constexpr std::ptrdiff_t fence = 1 << 20;

  // Its first element lies `offset` floats past the beginning of a page, however large pages are.
  Sparse(std::int64_t rows, std::int64_t ld, int offset);
  ~Sparse();
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;

  float* first() const { return first_; }
  // As one row.
  Placed placed() const {
    return {reinterpret_cast<const std::byte*>(first_), 1, floats_, floats_};
  }
  // The first `floats` with small numbers in no order; with some that are none for the fill
  // `special`. The others are 0.
  void fill(Fill fill, std::uint64_t seed, std::int64_t floats);

 private:
  std::size_t bytes() const { return static_cast<std::size_t>(mapped_) * sizeof(float); }
  std::int64_t floats_, mapped_;
  std::byte* base_;
  float* first_;
};

// The workspace that a launch asks for, which it is then given; null if it asks for none, or more
// than there are addresses.
std::unique_ptr<Sparse> give_workspace(const Variant&, Given&);

// Whether a case has an operand of more than 2^40 bytes, for which there are no addresses.
bool is_too_large(const Case&);

}  // namespace assay
