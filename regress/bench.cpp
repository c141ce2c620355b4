#include "regress/bench.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "regress/decide/statistics.h"
#include "regress/timing_parts.h"

namespace assay {
namespace {

constexpr const char* yardstick = "cublas";

Estimate estimate_of(const Ratio& ratio, double scale) {
  return {scale * ratio.value, scale * ratio.low, scale * ratio.high};
}

bool is_registered(const std::string& name) {
  const auto all = registered();
  return std::any_of(all.begin(), all.end(), [&](const Entry& entry) {
    return entry.backend == Backend::cuda && entry.variant.name == name;
  });
}

// What the card cannot do faster: the arithmetic, or the fewest bytes.
double floor_us(const Case& c, const BenchReport& report) {
  const double arithmetic = 2 * c.multiply_adds() / (report.peak_tflops * 1e6);
  const auto m = static_cast<double>(c.m), n = static_cast<double>(c.n),
             k = static_cast<double>(c.k);
  const double floats = m * k + k * n + m * n * (c.beta == 0 ? 1 : 2);
  return std::max(arithmetic, floats * sizeof(float) / (report.memory_gb_s * 1e3));
}

void describe(BenchLine& line, const std::vector<const CellTiming*>& timings,
              const BenchReport& report) {
  std::vector<double> times, to_cublas, clocks;
  for (const CellTiming* timing : timings) {
    const Replicate replicate = replicate_of(*timing, false, true);  // coldness is told beside
    line.wrong = line.wrong || timing->wrong;
    if (!replicate.fault.empty()) {
      line.why_not = replicate.fault;
      return;
    }
    times.push_back(std::log(replicate.head_us));
    if (replicate.to_baseline) to_cublas.push_back(-*replicate.to_baseline);
    clocks.push_back(replicate.clock_mhz);
    line.cold = line.cold == 0 ? timing->cold : std::min(line.cold, timing->cold);
  }
  const Case c = parse_case(line.problem);
  line.time_us = estimate_of(ratio_of(times), 1);
  line.tflops = tflops(line.problem, line.time_us.value);
  line.percent_of_cublas =
      line.variant == yardstick ? Estimate{100, 100, 100} : estimate_of(ratio_of(to_cublas), 100);
  line.percent_of_peak = 100 * line.tflops / report.peak_tflops;
  line.percent_of_roofline = 100 * floor_us(c, report) / line.time_us.value;
  line.clock_mhz = median(clocks);
}

}  // namespace

BenchReport bench(const BenchOptions& options, const TimingProgress& progress) {
  const auto start = std::chrono::steady_clock::now();
  BenchReport report;
  report.processes = options.processes;
  TimingJob job = {.seed = options.seed, .warm = options.warm, .control = false};
  const bool has_yardstick = is_registered(yardstick);
  for (const Case& c : options.problems) {
    for (const std::string& variant : options.variants) {
      BenchLine line = {.variant = variant, .problem = to_string(c)};
      line.why_not = not_timed(entry_named(variant, Backend::cuda).variant, c);
      if (line.why_not.empty()) {
        const bool beside = has_yardstick && variant != yardstick;
        job.cells.push_back(
            {.variant = variant, .problem = line.problem, .rival = beside ? yardstick : ""});
      }
      report.lines.push_back(std::move(line));
    }
  }
  std::vector<ProcessTiming> timings;
  if (!job.cells.empty()) timings = options.time(job, options.processes, progress);
  std::vector<double> peaks, bandwidths;
  for (const ProcessTiming& timing : timings) {
    if (report.unfit.empty()) report.unfit = timing.unfit;
    report.device = timing.device;
    if (!timing.unfit.empty()) continue;
    peaks.push_back(timing.canaries.at("arithmetic_tflops"));
    bandwidths.push_back(timing.canaries.at("memory_gb_s"));
  }
  if (report.unfit.empty() && !timings.empty()) {
    report.peak_tflops = *std::max_element(peaks.begin(), peaks.end());
    report.memory_gb_s = *std::max_element(bandwidths.begin(), bandwidths.end());
    std::size_t cell = 0;
    for (BenchLine& line : report.lines) {
      if (!line.why_not.empty()) continue;
      std::vector<const CellTiming*> all;
      for (const ProcessTiming& timing : timings) all.push_back(&timing.cells.at(cell));
      ++cell;
      describe(line, all, report);
    }
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace assay
