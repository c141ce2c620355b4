#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "regress/gate_run.h"
#include "regress/problems.h"

namespace assay {

bool is_wanted(const std::string& variant, const GateOptions& options) {
  if (options.cell) return variant == options.cell->variant;
  return options.variants.empty() || std::ranges::count(options.variants, variant) > 0;
}

std::vector<CellJob> cells_without_baseline(const Session& session,
                                            std::vector<std::string>& not_gated) {
  const std::vector<Case> problems = gate_problems();
  std::vector<CellJob> cells;
  for (const Variant& variant : variants_to_time(session.options.variants)) {
    if (!is_wanted(variant.name, session.options)) continue;
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

void add_accepted(GateLine& line, const CellRun& run, const Baseline& baseline) {
  if (line.cell.host) return;
  const CellRecord& record = *record_of(baseline.accepted, line.cell);
  line.accepted_us = record.time_us;
  line.accepted_to_anchor = run.anchor_is_baseline ? 1 : record.to_anchor.value;
  if (const auto anchor = baseline.anchor.find(line.cell.variant); anchor != baseline.anchor.end())
    line.anchor_commit = anchor->second.provenance.commit;
}

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

}  // namespace assay
