#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <optional>
#include <set>

#include "base/errors.h"
#include "oracle/case.h"
#include "regress/cells.h"
#include "regress/code/program_code.h"
#include "regress/decide/statistics.h"
#include "regress/gate.h"
#include "regress/timing_parts.h"

namespace assay {
namespace {

// One launch of a cell that is gated: what takes longer is for `bench`.
constexpr double longest_gated_us = 6000;

std::optional<Baseline> baseline_so_far(const std::string& folder, const std::string& gpu) {
  try {
    return read_baseline(folder, gpu);
  } catch (const NoBaseline&) {
    return std::nullopt;
  }
}

// What several processes found of one cell.
struct Findings {
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

  // As the gate will: below that, what is left may be luck.
  bool is_enough(const std::vector<double>& usable) const {
    return usable.size() >= DecisionRule().usable * processes;
  }
  std::string too_few(const std::vector<double>& usable) const {
    return fmt::format("only {} of {} processes gave usable data{}{}", usable.size(), processes,
                       fault.empty() ? "" : ": ", fault);
  }
};

class Acceptance {
 public:
  Acceptance(const AcceptOptions& options, const TimingProgress& progress)
      : options_(options), progress_(progress) {}

  AcceptReport run() {
    const auto start = std::chrono::steady_clock::now();
    if (!look_around()) return std::move(report_);
    list_cells();
    if (!survey() || !measure()) return std::move(report_);
    take_over();
    if (!report_.accepted.empty()) {
      write_baseline(options_.baselines, next_);
      report_.folder = options_.baselines + "/" + next_.gpu;
    }
    report_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(report_);
  }

 private:
  // Which card this is, and what it has a baseline of.
  bool look_around() {
    const ProcessTiming here = options_.time({.rounds = 0}, 1, {}).front();
    report_.unfit = here.unfit;
    if (!report_.unfit.empty()) return false;
    old_ = baseline_so_far(options_.baselines, here.device.at("key"));
    if (old_) next_ = *old_;
    next_.gpu = here.device.at("key");
    next_.architecture = std::stoi(here.device.at("architecture").substr(3));  // "sm_90"
    next_.device = here.device;
    code_ = ProgramCode(next_.architecture);
    provenance_ = options_.provenance;
    provenance_.date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
    provenance_.gpu = here.device.at("name");
    provenance_.driver = here.device.at("driver");
    provenance_.runtime = here.device.at("runtime");
    provenance_.reason = options_.reason;
    return true;
  }

  void list_cells() {
    std::set<std::string> seen;
    for (const Entry& entry : registered()) {
      const std::string name = entry.variant.name;
      const auto& wanted = options_.variants;
      const bool chosen =
          wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
      if (entry.backend != Backend::cuda || !chosen || !seen.insert(name).second) continue;
      for (const Case& c : gate_problems()) {
        if (not_timed(entry.variant, c).empty())
          cells_.push_back({.variant = name, .problem = to_string(c)});
      }
    }
    std::stable_sort(cells_.begin(), cells_.end(), [](const CellJob& a, const CellJob& b) {
      return a.problem < b.problem;  // references of one problem are computed once
    });
  }

  // Leaves out what cannot be stored, or takes too long to be gated.
  bool survey() {
    TimingJob job = {.cells = cells_, .seed = options_.seed, .rounds = 0};
    const ProcessTiming timing = options_.time(job, 1, {}).front();
    report_.unfit = timing.unfit;
    if (!timing.unfit.empty()) return false;
    std::set<std::string> told;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const CellTiming& cell = timing.cells.at(i);
      if (!cell.no_recipe.empty()) {
        if (told.insert(cell.variant).second)
          report_.left_out.push_back(fmt::format("{}: {}", cell.variant, cell.no_recipe));
        continue;
      }
      surveys_.push_back(cell);
      kept_.push_back(cells_[i]);
    }
    findings_.resize(kept_.size());
    against_.resize(kept_.size());
    return true;
  }

  bool measure() {
    if (!options_.measured || kept_.empty()) return true;
    TimingJob beside_cublas = {.cells = kept_, .seed = options_.seed};
    for (CellJob& cell : beside_cublas.cells) cell.rival = "cublas";
    if (!measure(beside_cublas, "beside cuBLAS", findings_)) return false;
    if (!old_) return true;
    TimingJob against_old = {
        .cells = kept_, .baselines = options_.baselines, .seed = options_.seed + 1};
    return measure(against_old, "against what was accepted", against_);
  }

  bool measure(const TimingJob& job, const char* step, std::vector<Findings>& findings) {
    const auto timings =
        options_.time(job, options_.processes, [&](const std::string& text, double done) {
          if (progress_) progress_(fmt::format("{}: {}", step, text), done);
        });
    std::map<std::string, std::vector<double>> canaries;
    for (const ProcessTiming& timing : timings) {
      report_.unfit = why_unusable(timing, {});
      if (!report_.unfit.empty()) return false;
      for (const auto& [name, value] : timing.canaries) canaries[name].push_back(value);
      for (std::size_t i = 0; i < kept_.size(); ++i)
        findings[i].add(timing.cells.at(i), anchor_is_baseline(kept_[i]));
    }
    for (const auto& [name, values] : canaries) next_.canaries[name] = median(values);
    return true;
  }

  bool anchor_is_baseline(const CellJob& cell) const {
    if (!old_) return false;
    const CellRecord* accepted = record_of(old_->accepted, cell);
    const CellRecord* anchor = record_of(old_->anchor, cell);
    return accepted != nullptr && anchor != nullptr &&
           same_launch(accepted->recipe, anchor->recipe);
  }

  void take_over() {
    std::map<std::string, VariantBaseline> fresh;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (const std::string why = why_not(i); !why.empty()) {
        report_.left_out.push_back(fmt::format("{}: {}", name_of(kept_[i]), why));
        continue;
      }
      VariantBaseline& variant = fresh[kept_[i].variant];
      variant.provenance = provenance_;
      variant.cells.push_back(record_for(i));
      if (const std::string& cubin = surveys_[i].cubin; !cubin.empty())
        next_.cubins[cubin] = code_.cubins().at(cubin);
      ++report_.cells;
    }
    for (auto& [name, variant] : fresh) {
      miss_what_was_watched(name);
      report_.accepted.push_back(name);
      if (options_.move_anchor || !next_.anchor.contains(name)) next_.anchor[name] = variant;
      next_.accepted[name] = std::move(variant);
    }
  }

  static std::string name_of(const CellJob& cell) { return cell.variant + " " + cell.problem; }

  // Why a cell is left out; empty if it is not.
  std::string why_not(std::size_t i) {
    const Findings &found = findings_[i], &against = against_[i];
    for (const Findings* findings : {&found, &against}) {
      if (!findings->wrong) continue;
      report_.wrong = true;
      report_.lost.push_back(name_of(kept_[i]));
      return findings->fault;
    }
    if (!options_.measured) return "";
    if (!found.is_enough(found.times)) {
      report_.lost.push_back(name_of(kept_[i]));
      return found.too_few(found.times);
    }
    // Without a ratio it would read as if there had been nothing before.
    const bool was_accepted = old_ && record_of(old_->accepted, kept_[i]) != nullptr;
    const bool has_anchor = was_accepted && record_of(old_->anchor, kept_[i]) != nullptr;
    for (const auto& [expected, ratios] :
         {std::pair{was_accepted, &against.to_rival}, {has_anchor, &against.to_anchor}}) {
      if (!expected || against.is_enough(*ratios)) continue;
      report_.lost.push_back(name_of(kept_[i]));
      return "beside what was accepted, " + against.too_few(*ratios);
    }
    if (const double time = median(found.times); time > longest_gated_us) {
      if (was_accepted) report_.lost.push_back(name_of(kept_[i]));
      return fmt::format("one launch takes {:.1f} ms, and more than {:.0f} ms are not gated",
                         time / 1e3, longest_gated_us / 1e3);
    }
    return "";
  }

  // The problems of a variant that are no longer among those that it is gated on.
  void miss_what_was_watched(const std::string& name) {
    if (!old_ || !old_->accepted.contains(name)) return;
    for (const CellRecord& record : old_->accepted.at(name).cells) {
      const std::string cell = name + " " + record.problem;
      const bool is_here = std::any_of(kept_.begin(), kept_.end(),
                                       [&](const CellJob& job) { return name_of(job) == cell; });
      if (is_here) continue;
      report_.lost.push_back(cell);
      report_.left_out.push_back(
          fmt::format("{}: it was accepted before, and is no longer gated on", cell));
    }
  }

  CellRecord record_for(std::size_t i) const {
    CellRecord record = {
        .problem = kept_[i].problem, .recipe = surveys_[i].recipe, .cubin = surveys_[i].cubin};
    const Findings& found = findings_[i];
    if (found.times.empty()) return record;
    record.time_us = median(found.times);
    record.tflops = tflops(record.problem, record.time_us);
    record.to_cublas = ratio_of(found.to_rival);
    record.to_baseline = ratio_of(against_[i].to_rival);
    record.to_anchor = ratio_of(against_[i].to_anchor);
    record.process_spread = summarize(found.to_twin).deviation;
    const DecisionRule rule;
    record.detectable = std::expm1(detectable_mean(rule.confirm_processes, record.process_spread,
                                                   std::log1p(rule.margin), rule.confirm_p, 0.95));
    record.clock_mhz = median(found.clocks);
    record.throttled = found.throttled;
    return record;
  }

  const AcceptOptions& options_;
  const TimingProgress& progress_;
  AcceptReport report_;
  ProgramCode code_{0};
  Provenance provenance_;
  std::optional<Baseline> old_;
  Baseline next_;
  std::vector<CellJob> cells_, kept_;
  std::vector<CellTiming> surveys_;
  std::vector<Findings> findings_, against_;  // beside cuBLAS, and against what was accepted
};

}  // namespace

AcceptReport accept_time(const AcceptOptions& options, const TimingProgress& progress) {
  return Acceptance(options, progress).run();
}

}  // namespace assay
