#include "properties/claim_result.h"

#include <fmt/format.h>

#include <utility>

namespace assay {

ClaimStatus ClaimResult::status() const {
  if (failure) return ClaimStatus::fails;
  if (!harness_error.empty()) return ClaimStatus::harness_error;
  if (exempt) return ClaimStatus::exempt;
  if (skipped) return ClaimStatus::not_judged;
  if (interruption) return ClaimStatus::interrupted;
  return cases < wanted ? ClaimStatus::too_few : ClaimStatus::holds;
}

std::string ClaimResult::reason() const {
  switch (status()) {
    case ClaimStatus::holds: return "";
    case ClaimStatus::fails:
      return fmt::format("{}: {}", to_string(failure->verdict.status), failure->verdict.reason);
    case ClaimStatus::interrupted:
      return fmt::format("a trial ended at a fault that {} names", interruption->names->name);
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

std::string Failure::headline() const {
  if (verdict.status == TrialStatus::hung) return "never ends";
  const std::string& text = verdict.diagnosis.empty() ? verdict.reason : verdict.diagnosis;
  return text.substr(0, text.find('\n'));
}

std::vector<Case> Failure::sequence() const {
  std::vector<Case> cases = before;
  cases.push_back(shrunk);
  return cases;
}

const ClaimResult* lead_of(std::span<const ClaimResult> results) {
  const ClaimResult* lead = nullptr;
  // A fault whose operand is known says more than the same fault without.
  const auto rank = [](const ClaimResult& r) {
    const Finding& finding = r.failure->verdict.finding;
    return std::pair(finding.fault, !finding.operand);
  };
  for (const ClaimResult& result : results) {
    if (!result.failure || (lead != nullptr && !(rank(result) < rank(*lead)))) continue;
    lead = &result;
  }
  return lead;
}

std::string replay_line(const ClaimResult& result, const std::vector<Case>& cases) {
  const bool usual = result.watchdog_seconds == default_watchdog_seconds;
  std::string texts;
  for (const Case& c : cases) texts += fmt::format(" --case \"{}\"", to_string(c));
  const std::string& source = result.entry.source;
  return fmt::format("assay check {}{}{} --backend {} --claim {}{}{}", source,
                     source.empty() ? "" : " ", result.entry.variant.name,
                     to_string(result.entry.backend), result.broken().name, texts,
                     usual ? "" : fmt::format(" --watchdog {}", result.watchdog_seconds));
}

}  // namespace assay
