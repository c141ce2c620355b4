#include "regress/accept.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <set>

#include "base/errors.h"
#include "base/text.h"
#include "regress/code/compiled_kernel.h"
#include "regress/decide/decide.h"
#include "regress/decide/statistics.h"
#include "regress/problems.h"
#include "regress/store/baseline.h"

namespace assay {
namespace {

// One launch of a cell that is gated. `assay bench` times what takes longer.
constexpr double longest_gated_us = 6000;

// What several processes measured of one cell.
struct Measurement {
  std::vector<double> times, to_rival, to_anchor, to_twin, clocks;
  std::uint64_t throttled = 0;
  std::string fault;
  bool wrong = false;
  int processes = 0;

  void add(const CellTiming& timing, bool anchor_is_baseline) {
    const Replicate replicate = replicate_of(timing, anchor_is_baseline);
    ++processes;
    if (!replicate.fault.empty()) {
      if (fault.empty() || timing.wrong) fault = replicate.fault;
      wrong = wrong || timing.wrong;
      return;
    }
    times.push_back(replicate.head_us);
    clocks.push_back(replicate.clock_mhz);
    if (replicate.to_baseline) to_rival.push_back(*replicate.to_baseline);
    if (replicate.to_anchor) to_anchor.push_back(*replicate.to_anchor);
    if (replicate.to_twin) to_twin.push_back(*replicate.to_twin);
    for (const Round& round : timing.rounds) {
      for (const Sample& sample : round) throttled |= sample.throttled;
    }
  }

  // As many as the gate asks for: what fewer processes measured may be luck.
  bool is_enough(const std::vector<double>& usable) const {
    return usable.size() >= DecisionRule().usable * processes;
  }
  std::string too_few(const std::vector<double>& usable) const {
    return fmt::format("only {} of {} processes gave usable data{}{}", usable.size(), processes,
                       fault.empty() ? "" : ": ", fault);
  }
};

// One cell on its way into the baseline.
struct CellRun {
  Cell cell;
  CellTiming survey;  // what it launches
  bool anchor_is_baseline = false;
  Measurement beside_cublas = {}, beside_accepted = {};
};

// What all cells are timed beside.
struct Rival {
  const char* step;
  const char* variant;  // of this program; or none, and the stored baseline is meant
  std::string baselines;
  std::uint64_t seed;
  Measurement CellRun::*measurement;
};

// Why a cell is not accepted.
struct Refusal {
  std::string why;
  bool wrong = false;
  bool lost = false;
};

std::optional<Baseline> accepted_so_far(const std::string& folder, const std::string& gpu) {
  try {
    return read_baseline(folder, gpu);
  } catch (const NoBaseline&) {
    return std::nullopt;
  }
}

Provenance provenance_on(const ProcessTiming& here, const AcceptOptions& options) {
  Provenance provenance = options.provenance;
  provenance.date = today();
  provenance.gpu = here.device.at("name");
  provenance.driver = here.device.at("driver");
  provenance.runtime = here.device.at("runtime");
  provenance.reason = options.reason;
  return provenance;
}

std::vector<CellJob> cells_to_accept(const AcceptOptions& options) {
  std::vector<CellJob> jobs;
  for (const Variant& variant : variants_to_time(options.variants)) {
    for (const Case& problem : gate_problems()) {
      if (not_timed(variant, problem).empty()) jobs.push_back({.cell = {variant.name, problem}});
    }
  }
  sort_by_problem(jobs);
  return jobs;
}

// Looks at what each cell launches, and leaves out the variants whose launch cannot be stored.
std::vector<CellRun> survey(const AcceptOptions& options, const std::optional<Baseline>& old,
                            std::vector<std::string>& left_out) {
  const TimingJob job = {.cells = cells_to_accept(options), .seed = options.seed, .rounds = 0};
  const ProcessTiming timing = options.time(job, 1, {}).front();
  require_fit(timing);
  std::vector<CellRun> runs;
  std::set<std::string> named;
  for (std::size_t i = 0; i < job.cells.size(); ++i) {
    const CellTiming& found = timing.cells.at(i);
    if (found.no_recipe.empty()) {
      const bool one = old && anchor_is_baseline(*old, found.cell);
      runs.push_back({.cell = found.cell, .survey = found, .anchor_is_baseline = one});
    } else if (named.insert(found.cell.variant).second) {
      left_out.push_back(fmt::format("{}: {}", found.cell.variant, found.no_recipe));
    }
  }
  return runs;
}

// Adds what all processes measured to each cell, and the median canaries to the baseline.
void measure(std::vector<CellRun>& runs, const Rival& rival, const AcceptOptions& options,
             const TimingProgress& progress, Baseline& next) {
  if (runs.empty() || !options.measured) return;
  TimingJob job = {.baselines = rival.baselines, .seed = rival.seed};
  for (const CellRun& run : runs) job.cells.push_back({.cell = run.cell, .rival = rival.variant});
  const auto timings =
      options.time(job, options.processes, [&](const std::string& text, double done) {
        if (progress) progress(fmt::format("{}: {}", rival.step, text), done);
      });
  std::map<std::string, std::vector<double>> canaries;
  for (const ProcessTiming& timing : timings) {
    if (const std::string why = why_unusable(timing, {}); !why.empty()) throw UnfitEnvironment(why);
    for (const auto& [name, value] : timing.canaries) canaries[name].push_back(value);
    for (std::size_t i = 0; i < runs.size(); ++i)
      (runs[i].*rival.measurement).add(timing.cells.at(i), runs[i].anchor_is_baseline);
  }
  for (const auto& [name, values] : canaries) next.canaries[name] = median(values);
}

std::optional<Refusal> refusal_of(const CellRun& run, const std::optional<Baseline>& old,
                                  const AcceptOptions& options) {
  const Measurement &found = run.beside_cublas, &against = run.beside_accepted;
  for (const Measurement* measured : {&found, &against}) {
    if (measured->wrong) return Refusal{measured->fault, true, true};
  }
  if (!options.measured) return std::nullopt;
  if (!found.is_enough(found.times)) return Refusal{found.too_few(found.times), false, true};
  // A cell stored without a ratio would read as if there had been nothing before.
  const bool was_accepted = old && record_of(old->accepted, run.cell) != nullptr;
  const bool has_anchor = was_accepted && record_of(old->anchor, run.cell) != nullptr;
  for (const auto& [expected, ratios] :
       {std::pair{was_accepted, &against.to_rival}, {has_anchor, &against.to_anchor}}) {
    if (expected && !against.is_enough(*ratios))
      return Refusal{"beside what was accepted, " + against.too_few(*ratios), false, true};
  }
  if (const double time = median(found.times); time > longest_gated_us) {
    return Refusal{fmt::format("one launch takes {:.1f} ms, and more than {:.0f} ms are not gated",
                               time / 1e3, longest_gated_us / 1e3),
                   false, was_accepted};
  }
  return std::nullopt;
}

CellRecord new_record(const CellRun& run) {
  CellRecord record = {
      .problem = run.cell.problem, .recipe = run.survey.recipe, .cubin = run.survey.cubin};
  const Measurement &found = run.beside_cublas, &against = run.beside_accepted;
  if (found.times.empty()) return record;
  record.time_us = median(found.times);
  record.tflops = tflops(record.problem, record.time_us);
  record.to_cublas = ratio_of(found.to_rival);
  record.to_baseline = ratio_of(against.to_rival);
  record.to_anchor = ratio_of(against.to_anchor);
  record.process_spread = summarize(found.to_twin).deviation;
  const DecisionRule rule;
  record.detectable = std::expm1(detectable_mean(rule.confirm_processes, record.process_spread,
                                                 std::log1p(rule.margin), rule.confirm_p, 0.95));
  record.clock_mhz = median(found.clocks);
  record.throttled = found.throttled;
  return record;
}

// Each accepted variant; the refused cells go into the report.
std::map<std::string, VariantBaseline> variants_of(const std::vector<CellRun>& runs,
                                                   const Provenance& provenance,
                                                   const std::optional<Baseline>& old,
                                                   const AcceptOptions& options,
                                                   AcceptReport& report) {
  std::map<std::string, VariantBaseline> variants;
  for (const CellRun& run : runs) {
    if (const auto refusal = refusal_of(run, old, options)) {
      report.left_out.push_back(fmt::format("{}: {}", to_string(run.cell), refusal->why));
      report.wrong = report.wrong || refusal->wrong;
      if (refusal->lost) report.lost.push_back(run.cell);
      continue;
    }
    VariantBaseline& variant = variants[run.cell.variant];
    variant.provenance = provenance;
    variant.cells.push_back(new_record(run));
    ++report.cells;
  }
  return variants;
}

// Reports the cells of a variant that were accepted before, and are no longer gated on.
void report_dropped(const std::string& variant, const std::vector<CellRun>& runs,
                    const Baseline& old, AcceptReport& report) {
  const auto before = old.accepted.find(variant);
  if (before == old.accepted.end()) return;
  for (const CellRecord& record : before->second.cells) {
    const Cell cell = {variant, record.problem};
    if (std::ranges::count(runs, cell, &CellRun::cell) > 0) continue;
    report.lost.push_back(cell);
    report.left_out.push_back(
        fmt::format("{}: it was accepted before, and is no longer gated on", to_string(cell)));
  }
}

void add_cubins(Baseline& baseline, const VariantBaseline& variant, const ProgramCode& code) {
  for (const CellRecord& record : variant.cells) {
    if (!record.cubin.empty()) baseline.cubins[record.cubin] = code.cubins().at(record.cubin);
  }
}

// Throws UnfitEnvironment where nothing can be accepted.
void run_accept(const AcceptOptions& options, const TimingProgress& progress,
                AcceptReport& report) {
  const ProcessTiming here = options.time({.rounds = 0}, 1, {}).front();
  require_fit(here);
  const std::string gpu = here.device.at("key");
  const std::optional<Baseline> old = accepted_so_far(options.baselines, gpu);
  Baseline next = old.value_or(Baseline());
  next.gpu = gpu;
  next.architecture = std::stoi(here.device.at("architecture").substr(3));  // "sm_90"
  next.device = here.device;

  std::vector<CellRun> runs = survey(options, old, report.left_out);
  measure(runs, {"beside cuBLAS", "cublas", "", options.seed, &CellRun::beside_cublas}, options,
          progress, next);
  if (old) {
    const Rival accepted = {"against what was accepted", "", options.baselines, options.seed + 1,
                            &CellRun::beside_accepted};
    measure(runs, accepted, options, progress, next);
  }

  const ProgramCode code(next.architecture);
  const Provenance provenance = provenance_on(here, options);
  for (const auto& [name, variant] : variants_of(runs, provenance, old, options, report)) {
    if (old) report_dropped(name, runs, *old, report);
    report.accepted.push_back(name);
    if (options.move_anchor || !next.anchor.contains(name)) next.anchor[name] = variant;
    next.accepted[name] = variant;
    add_cubins(next, variant, code);
  }
  if (report.accepted.empty()) return;
  write_baseline(options.baselines, next);
  report.folder = options.baselines + "/" + next.gpu;
}

}  // namespace

AcceptReport accept_time(const AcceptOptions& options, const TimingProgress& progress) {
  const auto start = std::chrono::steady_clock::now();
  AcceptReport report;
  try {
    run_accept(options, progress, report);
  } catch (const UnfitEnvironment& error) {
    report.unfit = error.what();
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace assay
