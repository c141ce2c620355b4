// Times a batch of launches on the GPU alone. It holds the stream while the host enqueues the
// batch, so that no work of the host is timed.
#pragma once

#include <cuda_runtime.h>

#include "oracle/cuda/nvml.h"
#include "regress/decide/replicate.h"
#include "regress/device/enqueuer.h"
#include "regress/device/operand_sets.h"
#include "regress/device/probes.h"

namespace assay {

class Stopwatch {
 public:
  explicit Stopwatch(const Card&);
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  cudaStream_t stream() const { return stream_; }

  // Times `launches` (most_launches at most), each on the next set of operands. Launches `planted`
  // more, and does not count them.
  Sample sample(Enqueuer&, OperandSets&, int launches, int planted = 0);

  // Whether enqueuing waits for what the stream still has to do.
  bool waits(Enqueuer&, const Gemm&);

  // Times anything that `enqueue` enqueues, as a whole. Throws std::runtime_error if the GPU did
  // not wait until all was enqueued.
  template <class Enqueue>
  Sample time(const Enqueue& enqueue) {
    begin();
    try {
      enqueue(stream_);
    } catch (...) {
      *go_ = 1;
      throw;
    }
    return end();
  }

 private:
  void begin();
  Sample end();

  const Card& card_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
  volatile int* go_ = nullptr;       // in the host's memory, read by the GPU
  volatile int* gave_up_ = nullptr;  // the next
  Stamp* stamps_ = nullptr;          // two, likewise
};

}  // namespace assay
