#include "cli/check/check_json.h"

#include "base/text.h"
#include "cli/check/paths.h"
#include "cli/out/json.h"

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

JsonValue json_of_failure(const ClaimResult& result) {
  if (!result.failure) return {};
  const Failure& failure = *result.failure;
  return {
      {"claim", result.broken().name},
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

JsonValue json_of_result(const ClaimResult& r) {
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
          {"failure", json_of_failure(r)}};
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

}  // namespace

std::string json_of(const CheckReport& report, const Conclusion& conclusion) {
  std::vector<std::string> given;
  for (const Case& c : report.given) given.push_back(to_string(c));
  return json_text("check", {{"argv", report.arguments},
                             {"seed", report.budget.seed},
                             {"cases", report.budget.cases},
                             {"case", given.empty() ? JsonValue() : joined(given, "; ")},
                             {"verdict", conclusion.word},
                             {"summary", conclusion.text()},
                             {"exit_code", static_cast<int>(conclusion.code)},
                             {"seconds", report.seconds},
                             {"backends", json_of(report.backends)},
                             {"paths", json_list(paths_of(report), json_of_paths)},
                             {"results", json_list(report.results, json_of_result)}});
}

}  // namespace assay
