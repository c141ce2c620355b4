#include "regress/device/host_time.h"

#include <chrono>

#include "oracle/cuda/cuda_check.h"

namespace assay {
namespace {

constexpr int calls = 25, rounds = 12;

Sample time_calls(Enqueuer& arm, ProcessTools& tools) {
  const cudaStream_t stream = tools.stopwatch.stream();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) arm.enqueue(tools.sets.next(), stream);
  const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
  cuda_check(cudaStreamSynchronize(stream), "launches back to back");
  return {.time_us = taken.count() / calls};
}

}  // namespace

CellTiming time_host(const CellJob& job, ProcessTools& tools) {
  tools.sets.arrange(job.cell.problem);
  const Launches launches = launches_of(job, tools);
  CellTiming timing = {.cell = job.cell, .launches = calls};
  const CellRecord* accepted = launches.accepted;
  if (accepted == nullptr && !launches.now.why_not.empty()) {
    timing.fault = launches.now.why_not;
    return timing;
  }
  Enqueuers enqueuers;
  for (const Arm arm : {Arm::head, Arm::twin})
    enqueuers[static_cast<std::size_t>(arm)] = direct(launches.variant);
  enqueuers[static_cast<std::size_t>(Arm::baseline)] =
      accepted != nullptr
          ? load(accepted->recipe, machine_code(tools.baseline->cubins, accepted->cubin))
          : load(launches.now.recipe, machine_code(tools.code.cubins(), launches.now.cubin));
  const auto sample = [&](Arm, Enqueuer& arm) { return time_calls(arm, tools); };
  time_rounds(enqueuers, 1, sample, tools.random);  // what is loaded lazily is loaded now
  timing.rounds = time_rounds(enqueuers, rounds, sample, tools.random);
  return timing;
}

}  // namespace assay
