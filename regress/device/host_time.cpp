#include "regress/device/host_time.h"

#include <chrono>

#include "kernels/registry.h"
#include "oracle/cuda/cuda_check.h"
#include "regress/device/dry_launches.h"

namespace assay {
namespace {

constexpr int calls = 100, rounds = 40;

// Launches an empty kernel a few times: some 180 ns, beside which it does not matter how the
// compiler placed a launch of 5 ns.
class EmptyLaunches : public Enqueuer {
 public:
  void enqueue(const Gemm&, cudaStream_t stream) override {
    for (int i = 0; i < 4; ++i) enqueue_empty_canary(stream);
  }
};

class AndOneLaunch : public Enqueuer {
 public:
  explicit AndOneLaunch(const Variant& variant) : launch_(direct(variant)) {}
  void enqueue(const Gemm& gemm, cudaStream_t stream) override {
    empty_.enqueue(gemm, stream);
    launch_->enqueue(gemm, stream);
  }

 private:
  EmptyLaunches empty_;
  std::unique_ptr<Enqueuer> launch_;
};

Sample time_calls(Enqueuer& arm, ProcessTools& tools) {
  const cudaStream_t stream = tools.stopwatch.stream();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) arm.enqueue(tools.sets.next(), stream);
  const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
  return {.time_us = taken.count() / calls};
}

}  // namespace

CellTiming time_host(const CellJob& job, ProcessTools& tools) {
  tools.sets.arrange(job.cell.problem);
  const Variant variant = entry_named(job.cell.variant, Backend::cuda).variant;
  Enqueuers enqueuers;
  for (const Arm arm : {Arm::head, Arm::twin})
    enqueuers[static_cast<std::size_t>(arm)] = std::make_unique<AndOneLaunch>(variant);
  enqueuers[static_cast<std::size_t>(Arm::baseline)] = std::make_unique<EmptyLaunches>();
  CellTiming timing = {.cell = job.cell, .launches = calls};
  const auto sample = [&](Arm, Enqueuer& arm) { return time_calls(arm, tools); };
  {
    const DryLaunches dry;
    time_rounds(enqueuers, 2, sample, tools.random);  // what is loaded lazily is loaded now
    timing.rounds = time_rounds(enqueuers, rounds, sample, tools.random);
  }
  cuda_check(cudaStreamSynchronize(tools.stopwatch.stream()), "what a launch did not drop");
  return timing;
}

}  // namespace assay
