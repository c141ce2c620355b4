// An Enqueuer is what can be timed: it enqueues the same product again and again, on any operands,
// and has the workspace for it.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <string>

#include "kernels/gemm.h"
#include "oracle/cuda/device_array.h"
#include "regress/store/recipe.h"

namespace assay {

// Memory for the workspace of launches that follow one another in a stream, none of which may count
// on what it holds: NaN at first.
class DeviceWorkspace {
 public:
  void hold(std::int64_t bytes);  // at least
  void* first() const { return memory_ == nullptr ? nullptr : memory_->get(); }

 private:
  std::unique_ptr<DeviceArray<std::byte>> memory_;
};

class Enqueuer {
 public:
  virtual ~Enqueuer() = default;
  // Only the addresses may differ from call to call. Throws std::runtime_error if the GPU refuses.
  virtual void enqueue(const Gemm&, cudaStream_t) = 0;
};

// Runs a recipe from a copy of its machine code that is loaded for it alone.
std::unique_ptr<Enqueuer> load(const Recipe&, const std::string& cubin);

// Calls a variant's own launch function, where there is no recipe.
std::unique_ptr<Enqueuer> direct(const Variant&);

}  // namespace assay
