#include "regress/accept.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <set>

#include "base/errors.h"
#include "base/text.h"
#include "regress/bench.h"
#include "regress/code/compiled_kernel.h"
#include "regress/decide/decide.h"
#include "regress/decide/statistics.h"
#include "regress/problems.h"
#include "regress/store/baseline.h"
#include "regress/watched.h"

namespace assay {
namespace {

// One launch of a cell that is gated. `assay bench` times what takes longer.
constexpr double longest_gated_us = 6000;

std::string too_long(double us) {
  return fmt::format("one launch takes {:.1f} ms, and more than {:.0f} ms are not gated", us / 1e3,
                     longest_gated_us / 1e3);
}

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

  // Also on a clock that was still low. Nobody waits for twelve processes to time it.
  bool is_hopeless() const { return survey.first_us > 2 * longest_gated_us; }
};

// What all cells are timed beside.
struct Rival {
  const char* step;
  std::string variant;  // of this program; or none, and the stored baseline is meant, if any
  std::string baselines;
  std::uint64_t seed;
  Measurement CellRun::*measurement;
};

// Why a cell is not accepted, and its variant neither, unless the cell may go unwatched.
struct Refusal {
  std::string why;
  bool wrong = false;
  bool may_go_unwatched = false;
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

std::vector<CellJob> cells_to_accept(const AcceptOptions& options,
                                     const std::optional<Baseline>& old) {
  std::vector<CellJob> jobs;
  for (const Cell& cell : cells_to_watch(options.variants)) {
    const bool stays =
        options.only_new && old && (has_record(*old, cell) || !why_not_watched(*old, cell).empty());
    if (!stays && (options.measured || !cell.host)) jobs.push_back({.cell = cell});
  }
  sort_by_problem(jobs);
  return jobs;
}

// Looks at what each cell launches, and leaves out the variants whose launch cannot be stored.
std::vector<CellRun> survey(const AcceptOptions& options, const std::optional<Baseline>& old,
                            std::vector<std::string>& not_gated) {
  const TimingJob job = {.cells = cells_to_accept(options, old), .seed = options.seed, .rounds = 0};
  const ProcessTiming timing = options.time(job, 1, {}).front();
  require_fit(timing);
  std::vector<CellRun> runs;
  std::set<std::string> named;
  for (std::size_t i = 0; i < job.cells.size(); ++i) {
    const CellTiming& found = timing.cells.at(i);
    if (found.no_recipe.empty()) {
      const bool one = old && !found.cell.host && anchor_is_baseline(*old, found.cell);
      runs.push_back({.cell = found.cell, .survey = found, .anchor_is_baseline = one});
    } else if (named.insert(found.cell.variant).second) {
      not_gated.push_back(fmt::format("{}: {}", found.cell.variant, found.no_recipe));
    }
  }
  return runs;
}

using Canaries = std::map<std::string, std::vector<double>>;  // of each process, by name

// Adds what all processes measured to each cell, and to the canaries. Throws UnfitEnvironment where
// these are not the `known` ones.
void measure(std::vector<CellRun>& runs, const Rival& rival, const AcceptOptions& options,
             const TimingProgress& progress, const std::map<std::string, double>& known,
             Canaries& canaries) {
  const bool beside_accepted = !rival.baselines.empty();
  TimingJob job = {.baselines = rival.baselines, .seed = rival.seed};
  std::vector<CellRun*> timed;
  for (CellRun& run : runs) {
    // What is new has nothing to be timed beside, and the host's time is a ratio already.
    if (run.is_hopeless() || (beside_accepted && (options.only_new || run.cell.host))) continue;
    timed.push_back(&run);
    job.cells.push_back({.cell = run.cell, .rival = run.cell.host ? "" : rival.variant});
  }
  if (timed.empty() || !options.measured) return;
  const auto timings =
      options.time(job, options.processes, [&](const std::string& text, double done) {
        if (progress) progress(fmt::format("{}: {}", rival.step, text), done);
      });
  for (const ProcessTiming& timing : timings) {
    if (const std::string why = why_unusable(timing, known); !why.empty()) {
      throw UnfitEnvironment(timing.unfit.empty()
                                 ? why +
                                       "; if the driver or the card was changed on purpose, "
                                       "accept all variants with --upgrade"
                                 : why);
    }
    for (const auto& [name, value] : timing.canaries) canaries[name].push_back(value);
    for (std::size_t i = 0; i < timed.size(); ++i)
      (timed[i]->*rival.measurement).add(timing.cells.at(i), timed[i]->anchor_is_baseline);
  }
}

std::string how_to_give_up(const Cell& cell) {
  return fmt::format("and was watched: say `assay accept time --remove \"{}\" --reason \"WHY\"`",
                     to_string(cell));
}

std::optional<Refusal> refusal_of(const CellRun& run, const std::optional<Baseline>& old,
                                  const AcceptOptions& options) {
  const Measurement &found = run.beside_cublas, &against = run.beside_accepted;
  for (const Measurement* measured : {&found, &against}) {
    if (measured->wrong) return Refusal{measured->fault, true};
  }
  if (!options.measured) return std::nullopt;
  if (run.cell.host) {
    if (found.is_enough(found.to_rival)) return std::nullopt;
    return Refusal{found.too_few(found.to_rival)};
  }
  const bool was_accepted = old && record_of(old->accepted, run.cell) != nullptr;
  const std::string give_up = was_accepted ? ", " + how_to_give_up(run.cell) : "";
  if (run.is_hopeless())
    return Refusal{too_long(run.survey.first_us) + give_up, false, !was_accepted};
  if (!found.is_enough(found.times))
    return Refusal{found.too_few(found.times), false, !was_accepted};
  // A cell stored without a ratio would read as if there had been nothing before.
  const bool has_anchor = was_accepted && record_of(old->anchor, run.cell) != nullptr;
  for (const auto& [expected, ratios] :
       {std::pair{was_accepted, &against.to_rival}, {has_anchor, &against.to_anchor}}) {
    if (expected && !against.is_enough(*ratios))
      return Refusal{"beside what was accepted, " + against.too_few(*ratios)};
  }
  if (const double time = median(found.times); time > longest_gated_us)
    return Refusal{too_long(time) + give_up, false, !was_accepted};
  if (was_accepted && !has_anchor && options.move_anchor.empty()) {
    return Refusal{"its anchor is lost: restore it from git, or say --move-anchor \"WHY\""};
  }
  const Ratio to_anchor = ratio_of(against.to_anchor);
  if (is_over_budget(to_anchor) && options.move_anchor.empty()) {
    return Refusal{
        fmt::format("it takes {:.3f} times as long as the anchor, over the budget of "
                    "{:.0f} %: make it faster, or say --move-anchor \"WHY\"",
                    to_anchor.value, 100 * DecisionRule().creep_budget)};
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

// How much longer a launch takes on the host than it did when it was accepted.
Ratio over_accepted(const CellRun& run, const std::optional<Baseline>& old) {
  const CellRecord* accepted = old ? record_of(old->accepted, run.cell) : nullptr;
  const double before = accepted == nullptr ? 0 : accepted->launch_to_empty.value;
  const Ratio launch = ratio_of(run.beside_cublas.to_rival);
  if (!(before > 0) || launch.processes == 0) return {};
  return {launch.value / before, launch.low / before, launch.high / before, launch.processes};
}

// A variant without cells; or where only what is new is accepted, as it was.
VariantBaseline before_its_cells(const std::string& variant, const Provenance& provenance,
                                 const std::optional<Baseline>& old, bool only_new) {
  if (only_new && old && old->accepted.contains(variant)) return old->accepted.at(variant);
  return {.provenance = provenance};
}

// Each variant as it would be accepted; what is refused goes into the report.
std::map<std::string, VariantBaseline> variants_of(const std::vector<CellRun>& runs,
                                                   const Provenance& provenance,
                                                   const std::optional<Baseline>& old,
                                                   const AcceptOptions& options,
                                                   AcceptReport& report) {
  std::map<std::string, VariantBaseline> variants;
  std::vector<const CellRun*> hosts;
  for (const CellRun& run : runs) {
    const auto refusal = refusal_of(run, old, options);
    const std::string why = refusal ? refusal->why : "";
    const std::string& name = run.cell.variant;
    if (!variants.contains(name))
      variants[name] = before_its_cells(name, provenance, old, options.only_new);
    VariantBaseline& variant = variants[name];
    const Measurement& against = run.beside_accepted;
    report.lines.push_back({run.cell,
                            run.cell.host ? over_accepted(run, old) : ratio_of(against.to_rival),
                            ratio_of(against.to_anchor), why});
    if (!refusal && run.cell.host) {
      hosts.push_back(&run);
    } else if (!refusal) {
      variant.cells.push_back(new_record(run));
      if (variant.provenance != provenance) {
        variant.cells.back().commit = provenance.commit;
        variant.cells.back().reason = provenance.reason;
      }
    } else if (refusal && refusal->may_go_unwatched) {
      variant.not_watched[to_string(run.cell.problem)] = why;
      report.not_gated.push_back(fmt::format("{}: {}", to_string(run.cell), why));
    } else if (refusal) {
      report.wrong = report.wrong || refusal->wrong;
      add_once(report.refused, run.cell.variant);
    }
  }
  for (const CellRun* host : hosts) {
    for (CellRecord& record : variants[host->cell.variant].cells) {
      if (record.problem == host->cell.problem)
        record.launch_to_empty = ratio_of(host->beside_cublas.to_rival);
    }
  }
  return variants;
}

// Refuses a variant with cells that were accepted before, and that nobody gates on any longer.
void refuse_dropped(const std::string& variant, const std::vector<CellRun>& runs,
                    const Baseline& old, AcceptReport& report) {
  const auto before = old.accepted.find(variant);
  if (before == old.accepted.end()) return;
  for (const CellRecord& record : before->second.cells) {
    const Cell cell = {variant, record.problem};
    if (std::ranges::count(runs, cell, &CellRun::cell) > 0) continue;
    report.lines.push_back(
        {.cell = cell, .refusal = "it is no longer gated on, " + how_to_give_up(cell)});
    add_once(report.refused, variant);
  }
}

// The anchor of a problem that was not watched before is what is accepted first.
void add_new_cells(VariantBaseline& anchor, const VariantBaseline& accepted) {
  for (const CellRecord& record : accepted.cells) {
    if (std::ranges::count(anchor.cells, record.problem, &CellRecord::problem) > 0) continue;
    anchor.cells.push_back(record);
    if (record.commit.empty()) anchor.cells.back().commit = accepted.provenance.commit;
  }
}

void add_cubins(Baseline& baseline, const VariantBaseline& variant, const ProgramCode& code) {
  for (const CellRecord& record : variant.cells) {
    if (!record.cubin.empty() && !baseline.cubins.contains(record.cubin))
      baseline.cubins[record.cubin] = code.cubins().at(record.cubin);
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

  std::vector<CellRun> runs = survey(options, old, report.not_gated);
  Canaries canaries;
  const auto known = old && !options.upgrade ? old->canaries : std::map<std::string, double>();
  measure(runs, {"beside cuBLAS", name_of_yardstick(), "", options.seed, &CellRun::beside_cublas},
          options, progress, known, canaries);
  if (old) {
    const Rival accepted = {"against what was accepted", "", options.baselines, options.seed + 1,
                            &CellRun::beside_accepted};
    measure(runs, accepted, options, progress, known, canaries);
  }
  if (!old || options.upgrade) {
    next.device = here.device;
    for (const auto& [name, values] : canaries) next.canaries[name] = median(values);
  }
  const ProgramCode code(next.architecture, options.libraries);
  const Provenance provenance = provenance_on(here, options);
  for (const auto& [name, variant] : variants_of(runs, provenance, old, options, report)) {
    if (old && !options.only_new) refuse_dropped(name, runs, *old, report);
    if (std::ranges::count(report.refused, name) > 0 || variant.cells.empty()) continue;
    report.accepted.push_back(name);
    next.accepted[name] = variant;
    next.removed.erase(name);
    add_cubins(next, variant, code);
    if (next.anchor.contains(name) && options.move_anchor.empty()) {
      add_new_cells(next.anchor[name], variant);
      continue;
    }
    next.anchor[name] = variant;
    next.anchor[name].not_watched.clear();
    if (!options.move_anchor.empty()) next.anchor[name].provenance.reason = options.move_anchor;
  }
  if (report.accepted.empty()) return;
  write_baseline(options.baselines, next, old.value_or(Baseline()));
  report.folder = options.baselines + "/" + next.gpu;
}

}  // namespace

int AcceptReport::cells() const {
  return static_cast<int>(std::ranges::count_if(lines, [&](const AcceptLine& line) {
    return line.refusal.empty() && std::ranges::count(accepted, line.cell.variant) > 0;
  }));
}

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
