// Something that can be timed: it enqueues one product, again and again, on whatever operands.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <string>

#include "kernels/gemm.h"
#include "regress/store/recipe.h"

namespace assay {

class Enqueuer {
 public:
  virtual ~Enqueuer() = default;
  // Of `gemm` only the addresses may differ from call to call. Throws std::runtime_error if it
  // cannot.
  virtual void enqueue(const Gemm&, cudaStream_t) = 0;
};

// A recipe, run from a copy of its machine code that is loaded for it alone.
std::unique_ptr<Enqueuer> load(const Recipe&, const std::string& cubin);

// A variant's own launch function, for what has no recipe.
std::unique_ptr<Enqueuer> direct(const Variant&);

}  // namespace assay
