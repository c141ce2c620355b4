#include "regress/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "base/errors.h"
#include "base/suggestion.h"
#include "base/text.h"
#include "regress/decide/statistics.h"
#include "regress/gate_run.h"
#include "regress/problems.h"
#include "regress/store/changes.h"

namespace assay {
namespace {

// Of the cells that are proven unchanged.
constexpr double share_of_controls = 0.05;
constexpr std::size_t most_controls = 8;

// Cells that are judged as one family, by one rule.
struct Family {
  std::vector<CellRun> runs;
  DecisionRule rule;

  std::vector<CellBatches> batches() const {
    std::vector<CellBatches> all;
    for (const CellRun& run : runs) all.push_back(run.batches);
    return all;
  }
};

// Some cells, of one family or more, that are timed together.
using Chosen = std::vector<CellRun*>;

void add(Chosen& chosen, Family& family, const std::vector<std::size_t>& which) {
  for (const std::size_t i : which) chosen.push_back(&family.runs[i]);
}

struct Batch {
  const char* step;
  std::uint64_t number;
  int processes;
  std::vector<Replicate> CellBatches::*replicates;
};

GateLine refused_line(const Cell& cell, const std::string& why) {
  GateLine line = {.cell = cell};
  line.verdict.reason = "it no longer accepts this problem: " + why;
  return line;
}

std::vector<CellRun> cells_with_baseline(const Session& session, std::vector<GateLine>& refused) {
  const auto& [options, progress, baseline] = session;
  std::vector<CellJob> jobs;
  for (const Variant& variant : variants_to_time(options.variants)) {
    const auto accepted = baseline.accepted.find(variant.name);
    if (accepted == baseline.accepted.end()) continue;
    for (const CellRecord& record : accepted->second.cells) {
      const Cell cell = {variant.name, record.problem};
      if (options.cell && cell != *options.cell) continue;
      if (const std::string why = not_timed(variant, record.problem); !why.empty()) {
        refused.push_back(refused_line(cell, why));
        continue;
      }
      const int launches = record.time_us > 0 ? launches_for(record.time_us) : 0;
      jobs.push_back({.cell = cell, .launches = launches});
    }
  }
  sort_by_problem(jobs);
  std::vector<CellRun> runs;
  for (const CellJob& job : jobs)
    runs.push_back({.job = job, .anchor_is_baseline = anchor_is_baseline(baseline, job.cell)});
  return runs;
}

// What a launch takes on the host, where that was accepted.
std::vector<CellRun> host_cells(const Session& session) {
  const auto& [options, progress, baseline] = session;
  std::vector<CellRun> runs;
  for (const Variant& variant : variants_to_time(options.variants)) {
    const auto accepted = baseline.accepted.find(variant.name);
    if (accepted == baseline.accepted.end()) continue;
    for (const CellRecord& record : accepted->second.cells) {
      const Cell cell = {variant.name, record.problem, true};
      if (record.launch_to_empty.processes == 0 || !not_timed(variant, record.problem).empty())
        continue;
      if (options.cell && cell != *options.cell) continue;
      runs.push_back({.job = {.cell = cell}, .launch_to_empty = record.launch_to_empty.value});
    }
  }
  return runs;
}

TimingJob job_for(const Chosen& chosen, const GateOptions& options) {
  TimingJob job = {.baselines = options.baselines, .seed = options.seed};
  for (const CellRun* run : chosen) job.cells.push_back(run->job);
  return job;
}

// Looks at what each cell would launch now.
void survey(std::vector<CellRun>& runs, const std::vector<CellJob>& newcomers,
            const GateOptions& options, GateReport& report) {
  Chosen all;
  for (CellRun& run : runs) all.push_back(&run);
  TimingJob job = job_for(all, options);
  job.cells.insert(job.cells.end(), newcomers.begin(), newcomers.end());
  job.rounds = 0;
  const ProcessTiming timing = options.time(job, 1, {}).front();
  require_fit(timing);
  for (std::size_t i = 0; i < job.cells.size(); ++i) {
    const CellTiming& found = timing.cells.at(i);
    if (i < runs.size()) {
      runs[i].survey = found;
      runs[i].batches.unchanged = found.unchanged;
      report.proven_unchanged += found.unchanged;
    } else if (found.no_recipe.empty()) {
      report.new_variants.push_back(found.cell.variant);
    } else {
      report.not_gated.push_back(found.cell.variant + ": " + found.no_recipe);
    }
  }
}

std::vector<std::size_t> cells_that(const std::vector<CellRun>& runs, bool are_unchanged) {
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].batches.unchanged == are_unchanged) which.push_back(i);
  }
  return which;
}

// Some that did not change, as live controls.
std::vector<std::size_t> cells_to_screen(const std::vector<CellRun>& runs,
                                         const GateOptions& options) {
  std::vector<std::size_t> unchanged = cells_that(runs, true);
  if (!options.remeasure_unchanged && !options.cell) {
    std::mt19937_64 random(options.seed);
    std::shuffle(unchanged.begin(), unchanged.end(), random);
    const double some = std::ceil(share_of_controls * static_cast<double>(unchanged.size()));
    unchanged.resize(std::min(most_controls, static_cast<std::size_t>(some)));
  }
  std::ranges::sort(unchanged);
  return unchanged;
}

// Of the host's time, by what it was over the same empty launches when it was accepted.
void relate_to_accepted(Replicate& replicate, const CellRun& run) {
  if (replicate.to_baseline) *replicate.to_baseline -= std::log(run.launch_to_empty);
}

void measure(const Chosen& which, const Batch& batch, const Session& session, GateReport& report) {
  const auto& [options, progress, baseline] = session;
  if (which.empty()) return;
  TimingJob job = job_for(which, options);
  job.seed += 1000 * batch.number;
  const auto tell = [&](const std::string& text, double done) {
    if (progress) progress(fmt::format("{} {} cells: {}", batch.step, which.size(), text), done);
  };
  const auto timings = options.time(job, batch.processes, tell);
  if (timings.size() == 1 && batch.processes > 1) require_fit(timings.front());
  for (const ProcessTiming& timing : timings) {
    const std::string complaint = why_unusable(timing, baseline.canaries);
    report.canaries = timing.canaries;
    for (std::size_t i = 0; i < which.size(); ++i) {
      CellRun& run = *which[i];
      auto& replicates = run.batches.*batch.replicates;
      if (timing.cells.size() != which.size() || !complaint.empty()) {
        replicates.push_back({.fault = complaint});
        continue;
      }
      replicates.push_back(replicate_of(timing.cells[i], run.anchor_is_baseline));
      relate_to_accepted(replicates.back(), run);
      report.at_power_limit = report.at_power_limit || replicates.back().at_power_limit;
      run.timings.push_back(timing.cells[i]);
    }
  }
}

GateLine line_of(const CellRun& run, const CellVerdict& verdict) {
  GateLine line = {
      .cell = run.job.cell, .verdict = verdict, .batches = run.batches, .cause = run.survey.cause};
  std::vector<double> head, baseline, clock;
  for (const CellTiming& timing : run.timings) {
    if (timing.wrong) {
      line.verdict.outcome = CellOutcome::wrong;
      line.verdict.reason = timing.fault;
    }
    line.rounds.push_back(timing.rounds);
    for (const Round& round : timing.rounds) {
      head.push_back(round[0].time_us);
      const double beside = round[static_cast<std::size_t>(Arm::baseline)].time_us;
      baseline.push_back(beside * run.launch_to_empty);
      if (round[0].clock_mhz > 0) clock.push_back(round[0].clock_mhz);
    }
  }
  if (!head.empty()) line.head_us = median(head), line.baseline_us = median(baseline);
  if (!clock.empty()) line.clock_mhz = median(clock);
  return line;
}

Baseline stored_or_none(const std::string& folder, const std::string& gpu) {
  try {
    return read_baseline(folder, gpu);
  } catch (const NoBaseline&) {
    return {};
  }
}

// Controls and the host's time in a few processes; what changed, and what these leave open, in
// many.
void measure_in_stages(Family& kernels, Family& hosts, const Session& session, GateReport& report) {
  const auto& [options, progress, baseline] = session;
  const DecisionRule& rule = options.rule;
  Chosen screened, suspects, open;
  add(screened, kernels, cells_to_screen(kernels.runs, options));
  report.controls = static_cast<int>(screened.size());
  Chosen all_hosts;
  for (CellRun& host : hosts.runs) all_hosts.push_back(&host);
  Chosen& at_first = options.cell ? suspects : screened;  // who asks about one cell wants to know
  at_first.insert(at_first.end(), all_hosts.begin(), all_hosts.end());
  measure(screened, {"screening", 1, rule.screen_processes, &CellBatches::screen}, session, report);

  // A few processes can all meet the faster of two states: what changed gets many at once.
  std::vector<std::size_t> changed = to_confirm(kernels.batches(), rule);
  for (const std::size_t i : cells_that(kernels.runs, false)) changed.push_back(i);
  std::ranges::sort(changed);
  add(suspects, kernels, changed);
  add(suspects, hosts, to_confirm(hosts.batches(), hosts.rule));
  report.confirmed = static_cast<int>(suspects.size());
  report.processes = rule.confirm_processes;
  measure(suspects, {"confirming", 2, rule.confirm_processes, &CellBatches::confirm}, session,
          report);
  int more = 0;
  for (Family* family : {&kernels, &hosts}) {
    add(open, *family, to_repeat(family->batches(), family->rule));
    more = std::max(more, processes_to_repeat(family->batches(), family->rule));
  }
  measure(open, {"once more", 3, more, &CellBatches::extra}, session, report);
}

// Throws UnfitEnvironment where the measurement as a whole is void.
void run_gate(const GateOptions& options, const TimingProgress& progress, GateReport& report) {
  const ProcessTiming here = options.time({.rounds = 0}, 1, {}).front();
  report.device = here.device;
  require_fit(here);
  const std::string& gpu = here.device.at("key");
  if (!options.after.empty()) {
    report.accepted_here =
        changes(stored_or_none(options.before, gpu), stored_or_none(options.after, gpu));
    if (options.cell || !options.variants.empty()) {
      std::erase_if(report.accepted_here, [&](const std::string& line) {
        return !is_wanted(line.substr(0, line.find_first_of(" :")), options);
      });
    }
  }
  const Baseline baseline = read_baseline(options.baselines, gpu);
  if (options.cell) check_cell(*options.cell, baseline);

  const Session session = {options, progress, baseline};
  Family kernels = {cells_with_baseline(session, report.lines), options.rule};
  Family hosts = {host_cells(session), rule_for_host(options.rule)};
  const std::vector<CellJob> newcomers = cells_without_baseline(session, report.not_gated);
  const Baseline after =
      options.after.empty() ? baseline : stored_or_none(options.after, baseline.gpu);
  report.gone_variants = gone_variants(session, after);
  report.moved_anchors = moved_anchors(session);
  if (!options.cell) report.unwatched = unwatched(after, options.variants);
  if (!kernels.runs.empty() || !newcomers.empty()) survey(kernels.runs, newcomers, options, report);
  report.other_compiler = other_compiler(kernels.runs, session);

  measure_in_stages(kernels, hosts, session, report);
  for (const Family* family : {&kernels, &hosts}) {
    const auto verdicts = decide(family->batches(), family->rule);
    for (std::size_t i = 0; i < family->runs.size(); ++i) {
      const CellRun& run = family->runs[i];
      if (verdicts[i].processes > 0 && family == &kernels)
        report.detectable = std::max(report.detectable, verdicts[i].detectable);
      report.lines.push_back(line_of(run, verdicts[i]));
      add_accepted(report.lines.back(), run, baseline);
      recall_creep(report.lines.back(), run, baseline);
    }
  }
}

}  // namespace

GateReport gate_time(const GateOptions& options, const TimingProgress& progress) {
  const auto start = std::chrono::steady_clock::now();
  GateReport report = {.only = options.cell};
  try {
    run_gate(options, progress, report);
  } catch (const UnfitEnvironment& error) {
    report.unfit = error.what();
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

int count(const GateReport& report, CellOutcome outcome) {
  return static_cast<int>(std::ranges::count_if(
      report.lines, [&](const GateLine& line) { return line.verdict.outcome == outcome; }));
}

std::vector<const GateLine*> noteworthy(const GateReport& report) {
  std::vector<const GateLine*> lines;
  for (const GateLine& line : report.lines) {
    if (line.verdict.outcome != CellOutcome::same) lines.push_back(&line);
  }
  std::ranges::stable_sort(lines, {}, [](const GateLine* line) { return line->verdict.outcome; });
  return lines;
}

void check_cell(const Cell& cell, const Baseline& baseline) {
  const auto accepted = baseline.accepted.find(cell.variant);
  if (accepted == baseline.accepted.end() || record_of(baseline.accepted, cell) != nullptr) return;
  std::vector<std::string> names;
  for (const CellRecord& record : accepted->second.cells)
    names.push_back(to_string(Cell{cell.variant, record.problem}));
  throw BadInput(fmt::format("there is no cell '{}'{}; there are {}", to_string(cell),
                             suggestion(to_string(cell), names), joined(names, "; ")));
}

}  // namespace assay
