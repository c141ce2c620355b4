// An operand of any size that costs only what is touched of it. An input repeats some numbers over
// all its memory; a result begins as zeros, and tells which of its elements hold something else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "oracle/case.h"

namespace assay {

class VastOperand {
 public:
  // Its element (0, 0) lies `offset` floats past the beginning of a page. Throws std::bad_alloc
  // where there are no addresses.
  VastOperand(std::int64_t rows, std::int64_t columns, std::int64_t ld, int offset);
  ~VastOperand();
  VastOperand(const VastOperand&) = delete;
  VastOperand& operator=(const VastOperand&) = delete;

  void fill();  // as an input

  float* first() const { return first_; }
  float at(std::int64_t row, std::int64_t column) const { return first_[row * ld_ + column]; }
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  std::int64_t ld() const { return ld_; }

  struct Element {
    std::int64_t row, column;
  };
  // Those that do not hold zero, at most about `most` of them, from all over the operand.
  std::vector<Element> changed(std::size_t most) const;

 private:
  std::int64_t rows_, columns_, ld_;
  std::size_t bytes_;  // whole pages
  std::byte* base_;
  float* first_;
};

}  // namespace assay
