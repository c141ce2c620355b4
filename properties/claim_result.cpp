#include "properties/claim_result.h"

#include <fmt/format.h>

namespace assay {

ClaimStatus ClaimResult::status() const {
  if (failure) return ClaimStatus::fails;
  if (!harness_error.empty()) return ClaimStatus::harness_error;
  if (exempt) return ClaimStatus::exempt;
  if (skipped) return ClaimStatus::not_judged;
  return cases < wanted ? ClaimStatus::too_few : ClaimStatus::holds;
}

std::string ClaimResult::reason() const {
  switch (status()) {
    case ClaimStatus::holds: return "";
    case ClaimStatus::fails:
      return fmt::format("{}: {}", to_string(failure->verdict.status), failure->verdict.reason);
    case ClaimStatus::exempt: return exempt->reason;
    case ClaimStatus::not_judged: return skipped->reason;
    case ClaimStatus::too_few:
      return cases > 0
                 ? fmt::format("judged only {} of {} cases", cases, wanted)
                 : fmt::format("judged nothing in {} empty case{}", empty, empty == 1 ? "" : "s");
    case ClaimStatus::harness_error: return harness_error;
  }
  return "";
}

std::string replay_line(const ClaimResult& result, const Case& c) {
  const bool usual = result.watchdog_seconds == default_watchdog_seconds;
  return fmt::format("assay check {} --backend {} --claim {} --case \"{}\"{}",
                     result.entry.variant.name, to_string(result.entry.backend), result.claim->name,
                     to_string(c),
                     usual ? "" : fmt::format(" --watchdog {}", result.watchdog_seconds));
}

}  // namespace assay
