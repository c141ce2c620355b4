#include "cli/out/json.h"

#include "cli/check/result_files.h"
#include "cli/out/table.h"

namespace assay {
namespace {

std::string text_of(std::string_view text) {
  return std::string(text);
}

Json json_of_backends(const std::vector<BackendState>& backends) {
  Json all = Json::array();
  for (const BackendState& state : backends) {
    all.push_back({{"backend", text_of(to_string(state.backend))},
                   {"available", state.why_not.empty()},
                   {"reason", state.why_not}});
  }
  return all;
}

std::string status_of(Standing standing) {
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

Json json_of_failure(const ClaimResult& result) {
  const Failure& failure = *result.failure;
  return {{"original", to_string(failure.original)},
          {"shrunk", to_string(failure.shrunk)},
          {"status", text_of(to_string(failure.verdict.status))},
          {"reason", failure.verdict.reason},
          {"diagnosis", failure.verdict.diagnosis},
          {"picture", failure.verdict.picture},
          {"shrink_steps", failure.shrink_steps},
          {"shrunk_fully", failure.shrunk_fully},
          {"replay", replay_line(result, failure.shrunk)}};
}

Json json_of_line(const Line& line) {
  const ClaimResult& r = line.result;
  Json json = {{"variant", r.entry.variant.name},
               {"backend", text_of(to_string(r.entry.backend))},
               {"claim", r.claim->name},
               {"status", status_of(line.standing)},
               {"reason", line.reason},
               {"cases", r.cases},
               {"empty", r.empty},
               {"elements", r.elements},
               {"worst_gulps", r.worst_gulps},
               {"allowed_gulps", r.allowed_gulps},
               {"seconds", r.seconds},
               {"failure", nullptr}};
  if (r.failure) json["failure"] = json_of_failure(r);
  return json;
}

}  // namespace

Json begin_json(const char* command) {
  return {{"schema", 1}, {"command", command}, {"version", ASSAY_VERSION}};
}

std::string finished(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";  // of what is no UTF-8
}

std::string json_of(const std::vector<ListedVariant>& variants) {
  Json json = begin_json("list");
  json["variants"] = Json::array();
  for (const auto& [variant, backends] : variants) {
    json["variants"].push_back(
        {{"name", variant.name},
         {"idea", variant.idea},
         {"needs", describe(variant.needs)},
         {"arithmetic", text_of(to_string(variant.arithmetic))},
         {"order", text_of(to_string(variant.order))},
         {"tile", {{"m", variant.tile.m}, {"n", variant.tile.n}, {"k", variant.tile.k}}},
         {"deterministic", variant.deterministic},
         {"backends", json_of_backends(backends)}});
  }
  return finished(json);
}

std::string json_of(const Diagnosis& diagnosis) {
  Json json = begin_json("doctor");
  json["verdict"] = diagnosis.verdict;
  json["exit_code"] = static_cast<int>(diagnosis.code);
  json["findings"] = Json::array();
  for (const Finding& finding : diagnosis.findings) {
    json["findings"].push_back(
        {{"topic", finding.topic}, {"good", finding.good}, {"text", finding.text}});
  }
  return finished(json);
}

std::string json_of(const CheckReport& report, const Conclusion& conclusion) {
  Json json = begin_json("check");
  json["argv"] = report.arguments;
  json["seed"] = report.budget.seed;
  json["cases"] = report.budget.cases;
  json["case"] = report.given ? Json(to_string(*report.given)) : Json(nullptr);
  json["verdict"] = conclusion.word;
  json["summary"] = conclusion.text();
  json["exit_code"] = static_cast<int>(conclusion.code);
  json["seconds"] = report.seconds;
  json["backends"] = json_of_backends(report.backends);
  json["results"] = Json::array();
  for (const Line& line : report.lines) json["results"].push_back(json_of_line(line));
  return finished(json);
}

}  // namespace assay
