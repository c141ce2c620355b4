// The operands that kernels are timed on: many sets of the same shape, used in turn. When a set
// comes round again, the L2 cache has forgotten it.
#pragma once

#include <cuda_runtime.h>

#include <vector>

#include "kernels/gemm.h"
#include "oracle/case.h"
#include "oracle/cuda/device_array.h"

namespace assay {

// How the matrices of one problem lie in memory, in floats.
struct Layout {
  explicit Layout(const Case&);
  Case c;
  std::int64_t a_floats, b_floats, c_floats;  // from the first byte of a set's matrix to the last
  std::int64_t inputs() const { return a_floats + b_floats; }
};

// How many sets are needed to leave the cache behind twice, at least two; one where operands may
// stay in it.
std::int64_t sets_for(const Layout&, std::int64_t l2_bytes, bool warm);

// Memory for all problems of a process: random numbers that are only read, and room for results.
class OperandSets {
 public:
  OperandSets(const std::vector<Case>& problems, std::int64_t l2_bytes, bool warm,
              std::uint64_t seed, cudaStream_t);

  void arrange(const Case&);  // for this problem from now on
  const Layout& layout() const { return layout_; }
  std::int64_t count() const { return count_; }
  Gemm set(std::int64_t number) const;
  Gemm next() { return set(next_++ % count_); }

  const DeviceArray<float>& inputs() const { return inputs_; }

 private:
  std::int64_t l2_bytes_;
  bool warm_;
  DeviceArray<float> inputs_, results_;
  Layout layout_{Case{.m = 1, .n = 1, .k = 1}};
  std::int64_t count_ = 1, next_ = 0;
};

}  // namespace assay
