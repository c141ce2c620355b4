#include "regress/watched.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/errors.h"
#include "base/suggestion.h"
#include "base/text.h"
#include "regress/problems.h"

namespace assay {
namespace {

bool is_cell(const std::string& name) { return name.find(' ') != name.npos; }

bool has(const Baseline& baseline, const std::string& name) {
  return is_cell(name) ? record_of(baseline.accepted, parse_cell(name)) != nullptr
                       : baseline.accepted.contains(name);
}

void give_up(Baseline& baseline, const std::string& name, const Provenance& why) {
  if (!is_cell(name)) {
    baseline.accepted.erase(name);
    baseline.anchor.erase(name);
    baseline.removed[name].provenance = why;
    return;
  }
  const Cell cell = parse_cell(name);
  for (auto* variants : {&baseline.accepted, &baseline.anchor}) {
    if (variants->contains(cell.variant)) {
      std::erase_if(variants->at(cell.variant).cells,
                    [&](const CellRecord& record) { return record.problem == cell.problem; });
    }
  }
  baseline.accepted.at(cell.variant).not_watched[to_string(cell.problem)] =
      fmt::format("given up on {}, because: {}", why.date, why.reason);
}

void refuse_unknown(const std::string& name, const std::vector<Baseline>& stored) {
  std::vector<std::string> names;
  for (const Baseline& baseline : stored) {
    if (has(baseline, name)) return;
    for (const auto& [variant, accepted] : baseline.accepted) {
      if (!is_cell(name)) add_once(names, variant);
      for (const CellRecord& record : accepted.cells) {
        if (is_cell(name)) add_once(names, to_string(Cell{variant, record.problem}));
      }
    }
  }
  throw BadInput(
      fmt::format("--remove {}: no GPU has a baseline of it{}", name, suggestion(name, names)));
}

}  // namespace

Unwatched unwatched(const Baseline& baseline, const std::vector<std::string>& variants) {
  Unwatched found;
  const std::vector<Case> problems = gate_problems();
  for (const Variant& variant : variants_to_time(variants)) {
    const auto accepted = baseline.accepted.find(variant.name);
    if (accepted == baseline.accepted.end()) continue;
    const auto& reasons = accepted->second.not_watched;
    for (const Case& problem : problems) {
      const Cell cell = {variant.name, problem};
      if (!not_timed(variant, problem).empty() || record_of(baseline.accepted, cell)) continue;
      if (const auto why = reasons.find(to_string(problem)); why != reasons.end()) {
        found.for_a_reason.push_back(fmt::format("{}: {}", to_string(cell), why->second));
      } else {
        found.without_record.push_back(to_string(cell));
      }
    }
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
