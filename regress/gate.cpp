#include "regress/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "kernels/registry.h"
#include "regress/cells.h"
#include "regress/decide/statistics.h"
#include "regress/timing_parts.h"

namespace assay {
namespace {

constexpr double share_of_controls = 0.05;  // of the cells that are proven unchanged

bool is_chosen(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

// One cell on its way through the gate.
struct Watched {
  CellJob job;
  const CellRecord* record;
  bool anchor_is_baseline;
  CellTiming survey;
};

class Gate {
 public:
  Gate(const GateOptions& options, const TimingProgress& progress)
      : options_(options), progress_(progress) {}

  GateReport run() {
    const auto start = std::chrono::steady_clock::now();
    if (find_baseline() && survey()) {
      const auto screened = cells_to_screen();
      report_.screened = static_cast<int>(screened.size());
      measure(screened, options_.rule.screen_processes, "screening", &CellData::screen);
      if (report_.unfit.empty()) {
        const auto suspects = to_confirm(data_, options_.rule);
        report_.confirmed = static_cast<int>(suspects.size());
        measure(suspects, options_.rule.confirm_processes, "confirming", &CellData::confirm);
        measure(to_repeat(data_, options_.rule), options_.rule.confirm_processes, "once more",
                &CellData::extra);
      }
      if (report_.unfit.empty()) conclude();
    }
    report_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(report_);
  }

 private:
  // Answers whether there is anything to be compared with it.
  bool find_baseline() {
    const ProcessTiming here = options_.time({.rounds = 0}, 1, {}).front();
    report_.device = here.device;
    report_.unfit = here.unfit;
    if (!report_.unfit.empty()) return false;
    baseline_ = read_baseline(options_.baselines, here.device.at("key"));
    list_cells();
    return !cells_.empty() || !newcomers_.empty();
  }

  void list_cells() {
    std::set<std::string> here;
    for (const Entry& entry : registered()) {
      if (entry.backend != Backend::cuda) continue;
      const std::string name = entry.variant.name;
      if (!here.insert(name).second || !is_chosen(options_.variants, name)) continue;
      const auto accepted = baseline_.accepted.find(name);
      if (accepted == baseline_.accepted.end()) {
        add_newcomer(entry.variant);
        continue;
      }
      for (const CellRecord& record : accepted->second.cells) add_cell(entry.variant, record);
    }
    for (const auto& [name, unused] : baseline_.accepted) {
      if (!here.contains(name) && is_chosen(options_.variants, name))
        report_.gone_variants.push_back(name);
    }
    std::stable_sort(cells_.begin(), cells_.end(), [](const Watched& a, const Watched& b) {
      return a.job.problem < b.job.problem;  // references of one problem are computed once
    });
    for (const Watched& cell : cells_)
      data_.push_back({.name = cell.job.variant + " " + cell.job.problem});
  }

  // It has no baseline; one problem tells whether it could have one.
  void add_newcomer(const Variant& variant) {
    for (const Case& c : gate_problems()) {
      if (!not_timed(variant, c).empty()) continue;
      newcomers_.push_back({.variant = variant.name, .problem = to_string(c)});
      return;
    }
    report_.not_gated.push_back(
        fmt::format("{}: it accepts none of the problems that are gated on", variant.name));
  }

  void add_cell(const Variant& variant, const CellRecord& record) {
    CellJob job = {.variant = variant.name, .problem = record.problem};
    if (!options_.cell.empty() && options_.cell != job.variant + " " + job.problem) return;
    if (const std::string why = not_timed(variant, parse_case(job.problem)); !why.empty()) {
      CellVerdict refused;
      refused.reason = "it no longer accepts this problem: " + why;
      report_.lines.push_back(
          {.variant = job.variant, .problem = job.problem, .verdict = std::move(refused)});
      return;
    }
    if (record.time_us > 0) job.launches = launches_for(record.time_us);
    const CellRecord* anchor = record_of(baseline_.anchor, job);
    const bool same = anchor != nullptr && same_launch(anchor->recipe, record.recipe);
    cells_.push_back({std::move(job), &record, same, {}});
  }

  TimingJob job_for(const std::vector<std::size_t>& which) const {
    TimingJob job = {.baselines = options_.baselines, .seed = options_.seed};
    for (const std::size_t i : which) job.cells.push_back(cells_[i].job);
    return job;
  }

  // What each cell would launch now. Answers whether there is anything to go on with.
  bool survey() {
    std::vector<std::size_t> all(cells_.size());
    std::iota(all.begin(), all.end(), 0);
    TimingJob job = job_for(all);
    job.cells.insert(job.cells.end(), newcomers_.begin(), newcomers_.end());
    job.rounds = 0;
    const auto timings = options_.time(job, 1, {});
    report_.unfit = timings.front().unfit;
    if (!report_.unfit.empty()) return false;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      cells_[i].survey = timings.front().cells[i];
      data_[i].unchanged = cells_[i].survey.unchanged;
      report_.proven_unchanged += data_[i].unchanged;
    }
    for (std::size_t i = 0; i < newcomers_.size(); ++i) {
      const CellTiming& survey = timings.front().cells[cells_.size() + i];
      if (survey.no_recipe.empty())
        report_.new_variants.push_back(survey.variant);
      else
        report_.not_gated.push_back(survey.variant + ": " + survey.no_recipe);
    }
    return !cells_.empty();
  }

  std::vector<std::size_t> cells_to_screen() {
    std::vector<std::size_t> changed, unchanged;
    for (std::size_t i = 0; i < cells_.size(); ++i)
      (data_[i].unchanged ? unchanged : changed).push_back(i);
    const bool all = options_.remeasure_unchanged || !options_.cell.empty();
    const auto controls =
        all ? unchanged.size()
            : static_cast<std::size_t>(std::ceil(share_of_controls * unchanged.size()));
    std::mt19937_64 random(options_.seed);
    std::shuffle(unchanged.begin(), unchanged.end(), random);
    changed.insert(changed.end(), unchanged.begin(), unchanged.begin() + controls);
    std::sort(changed.begin(), changed.end());
    report_.controls = static_cast<int>(controls);
    return changed;
  }

  void measure(const std::vector<std::size_t>& which, int processes, const char* step,
               std::vector<Replicate> CellData::*batch) {
    if (which.empty() || !report_.unfit.empty()) return;
    TimingJob job = job_for(which);
    job.seed += static_cast<std::uint64_t>(1000 * ++batches_);
    const auto timings = options_.time(job, processes, [&](const std::string& text, double done) {
      if (progress_) progress_(fmt::format("{} {} cells: {}", step, which.size(), text), done);
    });
    if (timings.size() == 1 && processes > 1) {
      report_.unfit = timings.front().unfit;
      return;
    }
    for (const ProcessTiming& timing : timings) {
      const std::string complaint = why_unusable(timing, baseline_.canaries);
      report_.canaries = timing.canaries;
      for (std::size_t i = 0; i < which.size(); ++i) {
        const std::size_t cell = which[i];
        if (timing.cells.size() != which.size() || !complaint.empty()) {
          (data_[cell].*batch).push_back({.fault = complaint});
          continue;
        }
        (data_[cell].*batch)
            .push_back(replicate_of(timing.cells[i], cells_[cell].anchor_is_baseline));
        timings_[cell].push_back(timing.cells[i]);
      }
    }
  }

  void conclude() {
    const auto verdicts = decide(data_, options_.rule);
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      GateLine line = {.variant = cells_[i].job.variant,
                       .problem = cells_[i].job.problem,
                       .verdict = verdicts[i],
                       .data = data_[i],
                       .cause = cells_[i].survey.cause};
      std::vector<double> head, baseline, clock;
      for (const CellTiming& timing : timings_[i]) {
        line.wrong = line.wrong || timing.wrong;
        if (timing.wrong) line.verdict.reason = timing.fault;
        line.rounds.push_back(timing.rounds);
        for (const Round& round : timing.rounds) {
          head.push_back(round[0].time_us);
          baseline.push_back(round[static_cast<std::size_t>(Arm::baseline)].time_us);
          if (round[0].clock_mhz > 0) clock.push_back(round[0].clock_mhz);
        }
      }
      if (!head.empty()) line.head_us = median(head), line.baseline_us = median(baseline);
      if (!clock.empty()) line.clock_mhz = median(clock);
      if (line.verdict.processes > 0)
        report_.detectable = std::max(report_.detectable, line.verdict.detectable);
      report_.lines.push_back(std::move(line));
    }
  }

  const GateOptions& options_;
  const TimingProgress& progress_;
  GateReport report_;
  Baseline baseline_;
  std::vector<Watched> cells_;
  std::vector<CellJob> newcomers_;
  std::vector<CellData> data_;
  std::map<std::size_t, std::vector<CellTiming>> timings_;
  int batches_ = 0;
};

}  // namespace

GateReport gate_time(const GateOptions& options, const TimingProgress& progress) {
  return Gate(options, progress).run();
}

}  // namespace assay
