#include "regress/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>

#include "regress/decide/statistics.h"
#include "regress/problems.h"

namespace assay {
namespace {

constexpr const char* yardstick = "cublas";

// A process warms its GPU up for seconds: one for each problem would take longer than the problems.
constexpr std::size_t problems_at_a_time = 4;

Ratio scaled(const Ratio& ratio, double scale) {
  return {scale * ratio.value, scale * ratio.low, scale * ratio.high, ratio.processes};
}

// The least time that this card could take, for the arithmetic or for the fewest bytes.
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
    const Replicate replicate = replicate_of(*timing, false, true);  // the report shows how cold
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
  line.time_us = scaled(ratio_of(times), 1);
  line.tflops = tflops(line.cell.problem, line.time_us.value);
  line.percent_of_cublas =
      line.cell.variant == yardstick ? Ratio{100, 100, 100} : scaled(ratio_of(to_cublas), 100);
  if (line.arithmetic == Arithmetic::fp32) {
    line.percent_of_peak = 100 * line.tflops / report.peak_tflops;
    line.percent_of_roofline = 100 * floor_us(line.cell.problem, report) / line.time_us.value;
  }
  line.clock_mhz = median(clocks);
}

// If each product takes as long as on the largest problem that was timed; 0 where none was.
double expected_us(const Cell& cell, const std::vector<BenchLine>& timed) {
  double us = 0, most = 0;
  for (const BenchLine& line : timed) {
    const double products = line.cell.problem.multiply_adds();
    if (line.cell.variant != cell.variant || !line.why_not.empty() || products <= most) continue;
    most = products;
    us = line.time_us.value * cell.problem.multiply_adds() / products;
  }
  return us;
}

std::string why_left_out(const Cell& cell, const BenchOptions& options,
                         const std::vector<BenchLine>& timed) {
  std::string why = not_timed(entry_named(cell.variant, Backend::cuda).variant, cell.problem);
  const double us = expected_us(cell, timed);
  if (!why.empty() || options.longest_us == 0 || us <= options.longest_us) return why;
  return fmt::format("a launch would take about {:.2g} s: --problem times it all the same",
                     us / 1e6);
}

std::vector<BenchLine> lines_for(std::span<const Case> problems, const BenchOptions& options,
                                 const std::vector<BenchLine>& timed) {
  std::vector<BenchLine> lines;
  for (const Case& problem : problems) {
    for (const std::string& variant : options.variants) {
      const Cell cell = {variant, problem};
      lines.push_back({.cell = cell,
                       .arithmetic = entry_named(variant, Backend::cuda).variant.arithmetic,
                       .why_not = why_left_out(cell, options, timed)});
    }
  }
  return lines;
}

TimingJob job_for(const std::vector<BenchLine>& lines, const BenchOptions& options) {
  TimingJob job = {.seed = options.seed, .warm = options.warm, .control = false};
  const bool has_yardstick = !variants_to_time({yardstick}).empty();
  for (const BenchLine& line : lines) {
    const bool beside = has_yardstick && line.cell.variant != yardstick;
    if (line.why_not.empty())
      job.cells.push_back({.cell = line.cell, .rival = beside ? yardstick : ""});
  }
  return job;
}

// The card, why it is unfit, and what it can do at most, by the fastest of the first processes.
void describe_card(BenchReport& report, const std::vector<ProcessTiming>& timings) {
  for (const ProcessTiming& timing : timings) {
    if (report.unfit.empty()) report.unfit = timing.unfit;
    report.device = timing.device;
  }
  if (!report.unfit.empty() || report.peak_tflops > 0) return;
  for (const ProcessTiming& timing : timings) {
    report.peak_tflops = std::max(report.peak_tflops, timing.canaries.at("arithmetic_tflops"));
    report.memory_gb_s = std::max(report.memory_gb_s, timing.canaries.at("memory_gb_s"));
  }
}

// Adds the lines of some problems.
void time_problems(BenchReport& report, std::span<const Case> problems, const BenchOptions& options,
                   const TimingProgress& progress) {
  std::vector<BenchLine> lines = lines_for(problems, options, report.lines);
  const TimingJob job = job_for(lines, options);
  std::vector<ProcessTiming> timings;
  if (!job.cells.empty()) timings = options.time(job, options.processes, progress);
  describe_card(report, timings);
  if (!report.unfit.empty()) return;
  std::size_t cell = 0;
  for (BenchLine& line : lines) {
    if (line.why_not.empty()) {
      std::vector<const CellTiming*> all;
      for (const ProcessTiming& timing : timings) all.push_back(&timing.cells.at(cell));
      ++cell;
      describe(line, all, report);
    }
    report.lines.push_back(std::move(line));
  }
}

}  // namespace

BenchReport bench(const BenchOptions& options, const TimingProgress& progress,
                  const std::function<void(const BenchReport&)>& done) {
  const auto start = std::chrono::steady_clock::now();
  const auto problems = static_cast<int>(options.problems.size());
  BenchReport report = {.processes = options.processes, .problems_left = problems};
  for (std::span<const Case> left = options.problems; !left.empty();) {
    const int before = problems - report.problems_left;
    const auto now = left.first(std::min(problems_at_a_time, left.size()));
    left = left.subspan(now.size());
    time_problems(report, now, options, [&](const std::string& step, double share) {
      if (!progress) return;
      const auto count = static_cast<double>(now.size());
      progress(fmt::format("{} of {} problems, {}", before, problems, step),
               (before + count * share) / problems);
    });
    report.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!report.unfit.empty()) break;
    report.problems_left = static_cast<int>(left.size());
    if (done) done(report);
  }
  return report;
}

namespace {
std::optional<Variant> kept_apart;
}

void keep_yardstick_apart() {
  kept_apart = yardstick_here();
  forget_variants();
}

std::optional<Variant> yardstick_here() {
  if (kept_apart) return kept_apart;
  for (const Variant& variant : variants_to_time({yardstick})) return variant;
  return std::nullopt;
}

std::string name_of_yardstick() { return yardstick_here() ? yardstick : ""; }

}  // namespace assay
