#include "cli/check/check_json.h"

#include <algorithm>

#include "base/text.h"
#include "cli/check/paths.h"
#include "cli/out/result.h"

namespace assay {
namespace {

const char* word_for(ClaimStatus status) {
  switch (status) {
    case ClaimStatus::holds: return "holds";
    case ClaimStatus::fails: return "fails";
    case ClaimStatus::interrupted: return "interrupted";
    case ClaimStatus::exempt: return "exempt";
    case ClaimStatus::not_judged:
    case ClaimStatus::too_few: return "not_judged";
    case ClaimStatus::harness_error: return "error";
  }
  return "";
}

JsonValue json_of_branch(const std::optional<Branch>& branch) {
  if (!branch) return {};
  return {{"file", branch->file},
          {"line", branch->line},
          {"condition", branch->condition},
          {"is_true", branch->is_true}};
}

// `lead`: the failure of its variant that says best what to look for.
JsonValue json_of_failure(const ClaimResult& result, const ClaimResult* lead) {
  if (!result.failure) return {};
  const Failure& failure = *result.failure;
  return {
      {"claim", result.broken().name},
      {"leads", &result == lead},
      {"headline", failure.headline()},
      {"original", to_string(failure.original)},
      {"shrunk", to_string(failure.shrunk)},
      {"before", json_list(failure.before, [](const Case& c) { return JsonValue(to_string(c)); })},
      {"status", to_string(failure.verdict.status)},
      {"finding", to_string(failure.verdict.finding.fault)},
      {"reason", failure.verdict.reason},
      {"diagnosis", failure.verdict.diagnosis},
      {"original_diagnosis", failure.original_verdict.diagnosis},
      {"picture", failure.verdict.picture},
      {"branch", json_of_branch(failure.branch)},
      {"shrink_steps", failure.shrink_steps},
      {"shrunk_fully", failure.shrunk_fully},
      {"replay", replay_line(result, failure.sequence())}};
}

JsonValue json_of_result(const ClaimResult& r, const ClaimResult* lead) {
  return {{"variant", r.entry.variant.name},
          {"backend", to_string(r.entry.backend)},
          {"claim", r.claim->name},
          {"status", word_for(r.status())},
          {"reason", r.reason()},
          {"remark", r.remark},
          {"cases", r.cases},
          {"looked_at", r.looked_at},
          {"empty", r.empty},
          {"elements", r.elements},
          {"worst_gulps", r.worst_gulps},
          {"allowed_gulps", r.allowed_gulps},
          {"seconds", r.seconds},
          {"failure", json_of_failure(r, lead)}};
}

JsonValue json_of_one_way(const OneWay& way) {
  return {
      {"file", way.file}, {"line", way.line}, {"source", way.source}, {"evidence", way.evidence}};
}

JsonValue json_of_paths(const Paths& paths) {
  const Exploration& found = *paths.exploration;
  return {{"variant", paths.entry.variant.name},
          {"comparisons", found.comparisons},
          {"went_both_ways", found.went_both_ways},
          {"one_way", json_list(found.one_way, json_of_one_way)},
          {"unknown", found.unknown}};
}

JsonValue::List json_of_results(const std::vector<ClaimResult>& results) {
  JsonValue::List list;
  for (auto first = results.begin(); first != results.end();) {
    const auto last = std::find_if(first, results.end(), [&](const ClaimResult& result) {
      return !same_entry(result.entry, first->entry);
    });
    const ClaimResult* lead = lead_of({first, last});
    for (; first != last; ++first) list.push_back(json_of_result(*first, lead));
  }
  return list;
}

JsonValue::List json_of_variants(const std::vector<Entry>& entries) {
  JsonValue::List list;
  std::vector<std::string> seen;
  for (const Entry& entry : entries) {
    if (std::find(seen.begin(), seen.end(), entry.variant.name) != seen.end()) continue;
    seen.emplace_back(entry.variant.name);
    list.push_back(json_of(entry.variant));
  }
  return list;
}

JsonValue json_of_claim(const Claim* claim) {
  return {{"name", claim->name}, {"heading", claim->heading}, {"sentence", claim->sentence}};
}

bool is_about_a_gpu(const CheckReport& report) {
  const auto& entries = report.selection.entries;
  return std::any_of(entries.begin(), entries.end(),
                     [](const Entry& entry) { return entry.backend == Backend::cuda; });
}

}  // namespace

std::string json_of(const CheckReport& report, const Conclusion& conclusion) {
  std::vector<std::string> given;
  for (const Case& c : report.given) given.push_back(to_string(c));
  return result_text(
      {.command = "check",
       .arguments = report.arguments,
       .conclusion = conclusion,
       .device = is_about_a_gpu(report) ? device_here() : std::map<std::string, std::string>()},
      {{"seed", report.budget.seed},
       {"cases", report.budget.cases},
       {"case", given.empty() ? JsonValue() : joined(given, "; ")},
       {"seconds", report.seconds},
       {"backends", json_of(report.backends)},
       {"variants", json_of_variants(report.selection.entries)},
       {"claims", json_list(report.selection.claims, json_of_claim)},
       {"paths", json_list(paths_of(report), json_of_paths)},
       {"results", json_of_results(report.results)}});
}

}  // namespace assay
