#include "regress/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "base/errors.h"
#include "base/suggestion.h"
#include "base/text.h"
#include "regress/decide/statistics.h"
#include "regress/problems.h"
#include "regress/store/changes.h"

namespace assay {
namespace {

constexpr double share_of_controls = 0.05;  // of the cells that are proven unchanged

// One cell on its way through the gate.
struct CellRun {
  CellJob job;
  bool anchor_is_baseline = false;
  CellTiming survey = {};  // what it would launch now
  CellBatches batches = {};
  std::vector<CellTiming> timings = {};  // of all batches
};

// What stays the same while a gate runs.
struct Session {
  const GateOptions& options;
  const TimingProgress& progress;
  const Baseline& baseline;
};

struct Batch {
  const char* step;
  std::uint64_t number;
  int processes;
  std::vector<Replicate> CellBatches::*replicates;
};

bool is_wanted(const std::string& variant, const GateOptions& options) {
  if (options.cell) return variant == options.cell->variant;
  return options.variants.empty() || std::ranges::count(options.variants, variant) > 0;
}

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

// A cell of each variant without a baseline, to see whether its launch could be stored.
std::vector<CellJob> cells_without_baseline(const Session& session,
                                            std::vector<std::string>& not_gated) {
  const std::vector<Case> problems = gate_problems();
  std::vector<CellJob> cells;
  for (const Variant& variant : variants_to_time(session.options.variants)) {
    if (session.baseline.accepted.contains(variant.name)) continue;
    if (const auto removed = session.baseline.removed.find(variant.name);
        removed != session.baseline.removed.end()) {
      const Provenance& why = removed->second.provenance;
      not_gated.push_back(
          fmt::format("{}: given up on {}, because: {}", variant.name, why.date, why.reason));
      continue;
    }
    const auto problem = std::ranges::find_if(
        problems, [&](const Case& c) { return not_timed(variant, c).empty(); });
    if (problem != problems.end()) {
      cells.push_back({.cell = {variant.name, *problem}});
    } else {
      not_gated.push_back(
          fmt::format("{}: it accepts none of the problems that are gated on", variant.name));
    }
  }
  return cells;
}

Baseline stored_or_none(const std::string& folder, const std::string& gpu) {
  try {
    return read_baseline(folder, gpu);
  } catch (const NoBaseline&) {
    return {};
  }
}

// Without those that the change removes with a reason: they are listed among what it changes.
std::vector<std::string> gone_variants(const Session& session, const Baseline& after) {
  std::set<std::string> here;
  for (const Variant& variant : variants_to_time({})) here.insert(variant.name);
  std::vector<std::string> gone;
  for (const auto& [name, accepted] : session.baseline.accepted) {
    if (is_wanted(name, session.options) && !here.contains(name) && !after.removed.contains(name))
      gone.push_back(name);
  }
  return gone;
}

TimingJob job_for(const std::vector<CellRun>& runs, const std::vector<std::size_t>& which,
                  const GateOptions& options) {
  TimingJob job = {.baselines = options.baselines, .seed = options.seed};
  for (const std::size_t i : which) job.cells.push_back(runs[i].job);
  return job;
}

// Looks at what each cell would launch now.
void survey(std::vector<CellRun>& runs, const std::vector<CellJob>& newcomers,
            const GateOptions& options, GateReport& report) {
  std::vector<std::size_t> all(runs.size());
  std::iota(all.begin(), all.end(), 0);
  TimingJob job = job_for(runs, all, options);
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
    unchanged.resize(static_cast<std::size_t>(std::ceil(share_of_controls * unchanged.size())));
  }
  std::ranges::sort(unchanged);
  return unchanged;
}

void measure(std::vector<CellRun>& runs, const std::vector<std::size_t>& which, const Batch& batch,
             const Session& session, GateReport& report) {
  const auto& [options, progress, baseline] = session;
  if (which.empty()) return;
  TimingJob job = job_for(runs, which, options);
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
      CellRun& run = runs[which[i]];
      auto& replicates = run.batches.*batch.replicates;
      if (timing.cells.size() != which.size() || !complaint.empty()) {
        replicates.push_back({.fault = complaint});
        continue;
      }
      replicates.push_back(replicate_of(timing.cells[i], run.anchor_is_baseline));
      report.at_power_limit = report.at_power_limit || replicates.back().at_power_limit;
      run.timings.push_back(timing.cells[i]);
    }
  }
}

std::vector<CellBatches> batches_of(const std::vector<CellRun>& runs) {
  std::vector<CellBatches> batches;
  for (const CellRun& run : runs) batches.push_back(run.batches);
  return batches;
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
      baseline.push_back(round[static_cast<std::size_t>(Arm::baseline)].time_us);
      if (round[0].clock_mhz > 0) clock.push_back(round[0].clock_mhz);
    }
  }
  if (!head.empty()) line.head_us = median(head), line.baseline_us = median(baseline);
  if (!clock.empty()) line.clock_mhz = median(clock);
  return line;
}

// What was accepted over the budget stays over it, though nothing changed since.
void recall_creep(GateLine& line, const CellRun& run, const Baseline& baseline) {
  const Ratio to_anchor = record_of(baseline.accepted, line.cell)->to_anchor;
  CellVerdict& verdict = line.verdict;
  const bool tells_nothing = verdict.outcome != CellOutcome::same || !run.batches.unchanged;
  if (tells_nothing || run.anchor_is_baseline || !is_over_budget(to_anchor)) return;
  const Provenance& accepted = baseline.accepted.at(line.cell.variant).provenance;
  verdict.outcome = CellOutcome::slower;
  verdict.crept = true;
  verdict.anchor_ratio = to_anchor.value;
  verdict.reason = fmt::format(
      "it was accepted over the budget of creep, on {}, because: {}; make it faster, or accept it "
      "with --move-anchor \"WHY\"",
      accepted.date, accepted.reason);
}

// So that a result of what was not timed tells its speed too.
void add_accepted(GateLine& line, const CellRun& run, const Baseline& baseline) {
  const CellRecord& record = *record_of(baseline.accepted, line.cell);
  line.accepted_us = record.time_us;
  line.accepted_to_anchor = run.anchor_is_baseline ? 1 : record.to_anchor.value;
  if (const auto anchor = baseline.anchor.find(line.cell.variant); anchor != baseline.anchor.end())
    line.anchor_commit = anchor->second.provenance.commit;
}

// That all code changed at once, though nobody need have touched it.
std::string other_compiler(const std::vector<CellRun>& runs, const Session& session) {
  const std::string& now = session.options.compiler;
  std::vector<std::string> before;
  for (const CellRun& run : runs) {
    if (run.batches.unchanged) return "";
    add_once(before, session.baseline.accepted.at(run.job.cell.variant).provenance.compiler);
  }
  if (runs.empty() || std::ranges::count(before, now) > 0) return "";
  return fmt::format(
      "every cell changed with the compiler, {} -> {}: where that is all, accept what is not "
      "slower "
      "with `assay accept time --upgrade --reason \"{}\"`",
      joined(before), now, now);
}

// Of each variant whose anchor was moved over the budget.
std::vector<std::string> moved_anchors(const Session& session) {
  std::vector<std::string> moved;
  for (const auto& [name, anchor] : session.baseline.anchor) {
    if (!is_wanted(name, session.options)) continue;
    double most = 0;
    const auto over = std::ranges::count_if(anchor.cells, [&](const CellRecord& record) {
      if (!is_over_budget(record.to_anchor)) return false;
      most = std::max(most, record.to_anchor.value);
      return true;
    });
    if (over == 0) continue;
    moved.push_back(fmt::format(
        "{}: {} of {} cells, up to {:.3f} times the anchor before, moved on "
        "{}, because: {}",
        name, over, anchor.cells.size(), most, anchor.provenance.date, anchor.provenance.reason));
  }
  return moved;
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
  std::vector<CellRun> runs = cells_with_baseline(session, report.lines);
  const std::vector<CellJob> newcomers = cells_without_baseline(session, report.not_gated);
  const Baseline after =
      options.after.empty() ? baseline : stored_or_none(options.after, baseline.gpu);
  report.gone_variants = gone_variants(session, after);
  report.moved_anchors = moved_anchors(session);
  if (!options.cell) report.unwatched = unwatched(after, options.variants);
  if (!runs.empty() || !newcomers.empty()) survey(runs, newcomers, options, report);

  report.other_compiler = other_compiler(runs, session);
  const DecisionRule& rule = options.rule;
  const auto screened = cells_to_screen(runs, options);
  report.controls = static_cast<int>(screened.size());
  measure(runs, screened, {"screening", 1, rule.screen_processes, &CellBatches::screen}, session,
          report);
  // A few processes can all meet the faster of two states: what changed gets many at once.
  std::vector<std::size_t> suspects = to_confirm(batches_of(runs), rule);
  for (const std::size_t i : cells_that(runs, false)) suspects.push_back(i);
  std::ranges::sort(suspects);
  report.confirmed = static_cast<int>(suspects.size());
  report.processes = rule.confirm_processes;
  measure(runs, suspects, {"confirming", 2, rule.confirm_processes, &CellBatches::confirm}, session,
          report);
  measure(runs, to_repeat(batches_of(runs), rule),
          {"once more", 3, rule.confirm_processes, &CellBatches::extra}, session, report);

  const auto verdicts = decide(batches_of(runs), rule);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (verdicts[i].processes > 0)
      report.detectable = std::max(report.detectable, verdicts[i].detectable);
    report.lines.push_back(line_of(runs[i], verdicts[i]));
    add_accepted(report.lines.back(), runs[i], baseline);
    recall_creep(report.lines.back(), runs[i], baseline);
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
