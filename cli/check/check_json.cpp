#include "cli/check/check_json.h"

#include "cli/out/json.h"

namespace assay {
namespace {

const char* status_of(Standing standing) {
  switch (standing) {
    case Standing::holds:
      return "holds";
    case Standing::fails:
      return "fails";
    case Standing::exempt:
      return "exempt";
    case Standing::harness_error:
      return "error";
    default:
      return "not_judged";
  }
}

JsonValue json_of_failure(const ClaimResult& result) {
  if (!result.failure) return {};
  const Failure& failure = *result.failure;
  return {{"original", to_string(failure.original)},      {"shrunk", to_string(failure.shrunk)},
          {"status", to_string(failure.verdict.status)},  {"reason", failure.verdict.reason},
          {"diagnosis", failure.verdict.diagnosis},       {"picture", failure.verdict.picture},
          {"shrink_steps", failure.shrink_steps},         {"shrunk_fully", failure.shrunk_fully},
          {"replay", replay_line(result, failure.shrunk)}};
}

JsonValue json_of_line(const Line& line) {
  const ClaimResult& r = line.result;
  return {{"variant", r.entry.variant.name},
          {"backend", to_string(r.entry.backend)},
          {"claim", r.claim->name},
          {"status", status_of(line.standing)},
          {"reason", line.reason},
          {"cases", r.cases},
          {"empty", r.empty},
          {"elements", r.elements},
          {"worst_gulps", r.worst_gulps},
          {"allowed_gulps", r.allowed_gulps},
          {"seconds", r.seconds},
          {"failure", json_of_failure(r)}};
}

}  // namespace

std::string json_of(const CheckReport& report, const Conclusion& conclusion) {
  return json_text("check", {{"argv", report.arguments},
                             {"seed", report.budget.seed},
                             {"cases", report.budget.cases},
                             {"case", report.given ? to_string(*report.given) : JsonValue()},
                             {"verdict", conclusion.word},
                             {"summary", conclusion.text()},
                             {"exit_code", static_cast<int>(conclusion.code)},
                             {"seconds", report.seconds},
                             {"backends", json_of(report.backends)},
                             {"results", json_list(report.lines, json_of_line)}});
}

}  // namespace assay
