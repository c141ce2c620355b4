#include "regress/device/timing_process.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <optional>

#include "base/errors.h"
#include "regress/device/fitness.h"
#include "regress/device/host_time.h"
#include "regress/device/time_cell.h"
#include "regress/processes.h"

namespace assay {
namespace {

constexpr std::int64_t least_memory_floats = std::int64_t{1} << 27;  // for the canary of memory

std::vector<Case> problems_of(const TimingJob& job) {
  std::vector<Case> problems;
  for (const CellJob& one : job.cells) problems.push_back(one.cell.problem);
  return problems;
}

// An error that ends a context ends the process: its message names the cell.
CellTiming time_or_name(const CellJob& job, ProcessTools& tools) {
  try {
    const bool on_host = job.cell.host && tools.job.rounds > 0;
    return on_host ? time_host(job, tools) : time_cell(job, tools);
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("{}: {}", to_string(job.cell), error.what()));
  }
}

std::optional<Baseline> baseline_for(const TimingJob& job, const std::string& gpu) {
  if (job.baselines.empty()) return std::nullopt;
  return read_baseline(job.baselines, gpu);
}

// Keeps standard output for the result alone: whatever a launch or a kernel prints goes to standard
// error.
class KeptOutput {
 public:
  KeptOutput() : file_(fdopen(dup(STDOUT_FILENO), "w")) { dup2(STDERR_FILENO, STDOUT_FILENO); }
  // The exit code of the process.
  int write(const std::string& text) const {
    const bool written = file_ != nullptr && std::fputs(text.c_str(), file_) >= 0;
    return written && std::fclose(file_) == 0 ? 0 : 1;
  }

 private:
  std::FILE* file_;
};

}  // namespace

ProcessTiming time_here(const TimingJob& job, const std::vector<std::string>& libraries) {
  const auto start = std::chrono::steady_clock::now();
  cuda_check(cudaSetDevice(0), "cudaSetDevice");
  cuda_check(cudaFree(nullptr), "starting the GPU");
  const Card card(0);
  ProcessTiming timing;
  timing.device = describe_card(card);
  const auto baseline = baseline_for(job, timing.device.at("key"));
  const ProgramCode code(architecture(), libraries);

  Stopwatch stopwatch(card);
  std::mt19937_64 random(job.seed);
  OperandSets sets(problems_of(job), l2_bytes(), job.warm, job.seed, stopwatch.stream());
  ResultCheck check;
  ProcessTools tools{job, code, baseline ? &*baseline : nullptr, sets, stopwatch, check, random};
  if (job.rounds > 0) {
    const DeviceArray<float> memory(least_memory_floats);
    warm_up(stopwatch);
    timing.canaries = measure_canaries(stopwatch, memory);
    timing.unfit = why_unfit(card);
  }
  for (const CellJob& cell : job.cells) timing.cells.push_back(time_or_name(cell, tools));
  if (job.rounds > 0 && timing.unfit.empty()) timing.unfit = why_unfit(card);
  timing.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return timing;
}

int serve_timing(const std::vector<std::string>& libraries) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody would read the result
  const KeptOutput output;
  try {
    const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
    return output.write(to_text(time_here(job_of(text), libraries)));
  } catch (const BadInput& error) {
    ProcessTiming refusal;
    refusal.unfit = error.what();
    return output.write(to_text(refusal));
  } catch (const std::exception& error) {
    ProcessTiming failure;
    failure.unfit = fmt::format("measuring failed: {}", error.what());
    return output.write(to_text(failure));
  }
}

}  // namespace assay
