// The machine of the backend `cuda`: one GPU, two streams, and memory that faults on both sides of
// every operand. settings.h launches with its parts.
//
// It keeps what a trial needs for the next one: mapping memory and creating streams waits for every
// other process of the host that does so.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "oracle/cuda/cuda_check.h"
#include "oracle/cuda/device_region.h"
#include "oracle/deadline.h"
#include "oracle/machine.h"

namespace assay {

class Stream {
 public:
  Stream() {
    cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// One operand, or the workspace, on the device.
struct Slot {
  DeviceRegion region, sparse;
  std::byte* image = nullptr;  // with its guards
  std::size_t bytes = 0;       // of the image
  std::int64_t columns = 0;
  float* first = nullptr;   // element (0, 0)
  bool unreadable = false;  // or there is none
  bool is_sparse = false;   // its rows alone are memory
};

class CudaMachine : public Machine {
 public:
  explicit CudaMachine(const Resources&);

  float* place(Operand, const Image&, Placement) override;
  void fetch(Operand, Image&) override;
  LaunchFailure launch(const Variant&, const Given&, const Case&, const Plan&,
                       const Resources&) override;
  std::optional<Reference> reference(const Case&, const Operands&) override;
  std::string disagreement(const Case&) override;

  // Calls the variant's launch function, and fails where it reports an error or hides one.
  LaunchFailure start(const Variant&, const Given&, cudaStream_t);
  // Waits for all work on the GPU, in whatever stream.
  LaunchFailure wait();
  // Starts in `stream`, and waits.
  LaunchFailure run(const Variant&, const Given&);

  void copy(std::byte* to, const std::byte* from, std::size_t bytes);
  std::vector<std::byte> to_host(const std::byte* from, std::size_t bytes);
  // Whether some operand has no memory between its rows.
  bool has_holes() const;
  // What one launch took tells how long the next may take.
  void learn_pace(const Case&, double seconds);

  const int device;
  const Stream stream, beside;
  ByOperand<Slot> slots;
  ByOperand<DeviceRegion> copies;
  DeviceRegion scratch;

 private:
  using Clock = std::chrono::steady_clock;
  Deadline deadline_;
  Clock::time_point launched_;
  std::chrono::duration<double> limit_{};
  std::string variant_;           // that was launched last
  double seconds_of_a_step_ = 0;  // of it, along k; 0: few, or not yet known
  bool left_error_ = false;       // a call that failed where there are holes; nobody may have asked
};

}  // namespace assay
