#include "regress/store/changes.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

using Variants = std::map<std::string, VariantBaseline>;

const VariantBaseline* find(const Variants& variants, const std::string& name) {
  const auto found = variants.find(name);
  return found == variants.end() ? nullptr : &found->second;
}

std::string why_unwatched(const VariantBaseline& variant, const std::string& key) {
  const auto why = variant.not_watched.find(key);
  return why == variant.not_watched.end() ? "no reason is given" : why->second;
}

bool same_but_for_the_host(CellRecord a, const CellRecord& b) {
  a.launch_to_empty = b.launch_to_empty;
  return a == b;
}

// Whether an anchor has all that it had; a problem that is new may have come.
bool keeps(const VariantBaseline& now, const VariantBaseline& then) {
  return now.provenance == then.provenance &&
         std::ranges::all_of(then.cells, [&](const CellRecord& record) {
           return std::ranges::count(now.cells, record) > 0;
         });
}

void add_accepted(const std::string& name, const VariantBaseline& now, const Baseline& before,
                  std::vector<std::string>& lines) {
  for (const CellRecord& record : now.cells) {
    const Cell cell = {name, record.problem};
    const CellRecord* then = record_of(before.accepted, cell);
    const std::string& why = record.reason.empty() ? now.provenance.reason : record.reason;
    if (then == nullptr || !same_but_for_the_host(*then, record)) {
      lines.push_back(fmt::format(
          "{}: {} of the time of the baseline, {} of the anchor's, because: {}", to_string(cell),
          to_text(record.to_baseline), to_text(record.to_anchor), why));
    }
    const Ratio launch_then = then == nullptr ? Ratio() : then->launch_to_empty;
    if (launch_then == record.launch_to_empty) continue;
    const bool is_watched = record.launch_to_empty.processes > 0;
    lines.push_back(
        to_string(Cell{name, record.problem, true}) +
        (is_watched
             ? fmt::format(": {} of the time of empty launches alone, before {}, because: {}",
                           to_text(record.launch_to_empty), to_text(launch_then), why)
             : ": no longer watched: " + why_unwatched(now, "host " + to_string(record.problem))));
  }
}

void add_unwatched(const std::string& name, const VariantBaseline& then, const Baseline& after,
                   std::vector<std::string>& lines) {
  if (const VariantBaseline* now = find(after.accepted, name)) {
    for (const CellRecord& record : then.cells) {
      const Cell cell = {name, record.problem};
      if (record_of(after.accepted, cell) == nullptr)
        lines.push_back(fmt::format("{}: no longer watched: {}", to_string(cell),
                                    why_unwatched(*now, to_string(record.problem))));
    }
    return;
  }
  const VariantBaseline* removed = find(after.removed, name);
  lines.push_back(fmt::format("{}: no longer watched: {}", name,
                              removed ? removed->provenance.reason : "no reason is given"));
}

void add_anchor(const std::string& name, const VariantBaseline& then, const Baseline& after,
                std::vector<std::string>& lines) {
  const VariantBaseline* now = find(after.anchor, name);
  if (now == nullptr) {
    if (after.accepted.contains(name)) lines.push_back(name + ": its anchor is deleted");
  } else if (!keeps(*now, then)) {
    lines.push_back(fmt::format("{}: its anchor moved, because: {}", name, now->provenance.reason));
  }
}

}  // namespace

std::vector<std::string> changes(const Baseline& before, const Baseline& after) {
  std::vector<std::string> lines;
  for (const auto& [name, now] : after.accepted) add_accepted(name, now, before, lines);
  for (const auto& [name, then] : before.accepted) add_unwatched(name, then, after, lines);
  for (const auto& [name, then] : before.anchor) add_anchor(name, then, after, lines);
  if (!before.gpu.empty() && before.canaries != after.canaries)
    lines.push_back("the canaries of the card, which tell whether it is as it was");
  return lines;
}

std::string to_text(const Ratio& ratio) {
  if (ratio.processes == 0) return "none";
  return fmt::format("{:.4f} ({:.4f} to {:.4f})", ratio.value, ratio.low, ratio.high);
}

}  // namespace assay
