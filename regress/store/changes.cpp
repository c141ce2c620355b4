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

std::string why_unwatched(const VariantBaseline& variant, const Case& problem) {
  const auto why = variant.not_watched.find(to_string(problem));
  return why == variant.not_watched.end() ? "no reason is given" : why->second;
}

void add_accepted(const std::string& name, const VariantBaseline& now, const Baseline& before,
                  std::vector<std::string>& lines) {
  for (const CellRecord& record : now.cells) {
    const Cell cell = {name, record.problem};
    const CellRecord* then = record_of(before.accepted, cell);
    if (then != nullptr && *then == record) continue;
    lines.push_back(
        fmt::format("{}: {} of the time of the baseline, {} of the anchor's, because: "
                    "{}",
                    to_string(cell), to_text(record.to_baseline), to_text(record.to_anchor),
                    now.provenance.reason));
  }
}

void add_unwatched(const std::string& name, const VariantBaseline& then, const Baseline& after,
                   std::vector<std::string>& lines) {
  if (const VariantBaseline* now = find(after.accepted, name)) {
    for (const CellRecord& record : then.cells) {
      const Cell cell = {name, record.problem};
      if (record_of(after.accepted, cell) == nullptr)
        lines.push_back(fmt::format("{}: no longer watched: {}", to_string(cell),
                                    why_unwatched(*now, record.problem)));
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
  } else if (*now != then) {
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
