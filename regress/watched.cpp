#include "regress/watched.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/errors.h"
#include "base/suggestion.h"
#include "base/text.h"
#include "regress/problems.h"

namespace assay {
namespace {

bool is_cell(const std::string& name) { return name.find(' ') != name.npos; }

bool has(const Baseline& baseline, const std::string& name) {
  return is_cell(name) ? has_record(baseline, parse_cell(name)) : baseline.accepted.contains(name);
}

// By which a variant's baseline knows a cell: "m=1 n=1 k=1", "host m=1 n=1 k=1".
std::string key_of(const Cell& cell) { return to_string(cell).substr(cell.variant.size() + 1); }

void give_up(Baseline& baseline, const std::string& name, const Provenance& why) {
  if (!is_cell(name)) {
    baseline.accepted.erase(name);
    baseline.anchor.erase(name);
    baseline.removed[name].provenance = why;
    return;
  }
  const Cell cell = parse_cell(name);
  for (auto* variants : {&baseline.accepted, &baseline.anchor}) {
    if (!variants->contains(cell.variant)) continue;
    auto& cells = variants->at(cell.variant).cells;
    const auto record = std::ranges::find(cells, cell.problem, &CellRecord::problem);
    if (record == cells.end()) continue;
    if (cell.host) {
      record->launch_to_empty = {};
    } else {
      cells.erase(record);
    }
  }
  baseline.accepted.at(cell.variant).not_watched[key_of(cell)] =
      fmt::format("given up on {}, because: {}", why.date, why.reason);
}

void refuse_unknown(const std::string& name, const std::vector<Baseline>& stored) {
  std::vector<std::string> names;
  for (const Baseline& baseline : stored) {
    if (has(baseline, name)) return;
    for (const auto& [variant, accepted] : baseline.accepted) {
      if (!is_cell(name)) add_once(names, variant);
      for (const CellRecord& record : accepted.cells) {
        if (!is_cell(name)) continue;
        for (const bool host : {false, true}) {
          const Cell cell = {variant, record.problem, host};
          if (has_record(baseline, cell)) add_once(names, to_string(cell));
        }
      }
    }
  }
  throw BadInput(
      fmt::format("--remove {}: no GPU has a baseline of it{}", name, suggestion(name, names)));
}

}  // namespace

// Only calls of the runtime that this program is linked with can be kept from enqueuing.
static bool has_host_cell(const Variant& variant) {
  return entry_named(variant.name, Backend::cuda).source.empty();
}

std::vector<Cell> cells_to_watch(const std::vector<std::string>& variants) {
  std::vector<Cell> cells;
  const std::vector<Case> problems = gate_problems();
  for (const Variant& variant : variants_to_time(variants)) {
    std::optional<Case> first;
    for (const Case& problem : problems) {
      if (!not_timed(variant, problem).empty()) continue;
      if (!first) first = problem;
      cells.push_back({variant.name, problem});
    }
    if (first && has_host_cell(variant)) cells.push_back({variant.name, *first, true});
  }
  return cells;
}

bool has_record(const Baseline& baseline, const Cell& cell) {
  const CellRecord* record = record_of(baseline.accepted, cell);
  const auto is_unmeasured = [](const CellRecord& r) { return r.time_us == 0; };
  return record != nullptr &&
         (!cell.host || record->launch_to_empty.processes > 0 || is_unmeasured(*record));
}

std::string why_not_watched(const Baseline& baseline, const Cell& cell) {
  const auto accepted = baseline.accepted.find(cell.variant);
  if (accepted == baseline.accepted.end()) return "";
  const auto why = accepted->second.not_watched.find(key_of(cell));
  return why == accepted->second.not_watched.end() ? "" : why->second;
}

Unwatched unwatched(const Baseline& baseline, const std::vector<std::string>& variants) {
  Unwatched found;
  for (const Cell& cell : cells_to_watch(variants)) {
    if (!baseline.accepted.contains(cell.variant) || has_record(baseline, cell)) continue;
    if (const std::string why = why_not_watched(baseline, cell); !why.empty()) {
      found.for_a_reason.push_back(fmt::format("{}: {}", to_string(cell), why));
    } else {
      found.without_record.push_back(to_string(cell));
    }
  }
  for (const Variant& variant : variants_to_time(variants)) {
    const auto accepted = baseline.accepted.find(variant.name);
    if (accepted == baseline.accepted.end()) continue;
    for (const CellRecord& record : accepted->second.cells) {
      const Cell cell = {variant.name, record.problem};
      if (!record_of(baseline.anchor, cell)) found.without_anchor.push_back(to_string(cell));
    }
  }
  return found;
}

std::vector<std::string> give_up(const std::filesystem::path& baselines,
                                 const std::vector<std::string>& names, const Provenance& why) {
  std::vector<Baseline> stored;
  for (const std::string& gpu : stored_gpus(baselines))
    stored.push_back(read_baseline(baselines, gpu));
  for (const std::string& name : names) refuse_unknown(name, stored);
  std::vector<std::string> given_up;
  for (const Baseline& seen : stored) {
    Baseline next = seen;
    for (const std::string& name : names) {
      if (!has(seen, name)) continue;
      give_up(next, name, why);
      given_up.push_back(fmt::format("{}: {}", seen.gpu, name));
    }
    write_baseline(baselines, next, seen);
  }
  return given_up;
}

}  // namespace assay
