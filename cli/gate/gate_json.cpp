#include "cli/gate/gate_json.h"

#include "cli/out/json.h"

namespace assay {
namespace {

JsonValue json_of(const Replicate& r) {
  return {{"log_to_baseline", r.to_baseline},
          {"log_to_anchor", r.to_anchor},
          {"log_to_twin", r.to_twin},
          {"head_us", r.head_us},
          {"clock_mhz", r.clock_mhz},
          {"clock_apart", r.clock_apart},
          {"rounds", r.rounds},
          {"dropped", r.dropped},
          {"fault", r.fault}};
}

JsonValue json_of(const std::vector<Replicate>& batch) {
  return json_list(batch, [](const Replicate& r) { return json_of(r); });
}

// The arms by name, without those that were not run.
JsonValue json_of(const Round& round) {
  JsonValue samples = JsonValue::Fields();
  for (std::size_t i = 0; i < arms.size(); ++i) {
    if (round[i].time_us == 0) continue;
    samples.add(to_string(arms[i]), {{"time_us", round[i].time_us},
                                     {"clock_mhz", round[i].clock_mhz},
                                     {"throttled", round[i].throttled}});
  }
  return samples;
}

JsonValue json_of(const std::vector<std::vector<Round>>& processes) {
  return json_list(processes, [](const std::vector<Round>& rounds) {
    return json_list(rounds, [](const Round& round) { return json_of(round); });
  });
}

JsonValue json_of(const GateLine& line, const GateRequest& request) {
  const CellVerdict& v = line.verdict;
  JsonValue json = {{"variant", line.cell.variant},
                    {"problem", to_string(line.cell.problem)},
                    {"status", to_string(v.outcome)},
                    {"crept", v.crept},
                    {"unchanged", line.batches.unchanged},
                    {"reason", v.reason},
                    {"cause", line.cause},
                    {"ratio", v.ratio},
                    {"interval_99", {{"low", v.interval.low}, {"high", v.interval.high}}},
                    {"anchor_ratio", v.anchor_ratio},
                    {"p", v.p},
                    {"spread", v.spread},
                    {"detectable", v.detectable},
                    {"processes", v.processes},
                    {"processes_needed", v.processes_needed},
                    {"head_us", line.head_us},
                    {"baseline_us", line.baseline_us},
                    {"clock_mhz", line.clock_mhz},
                    {"screen", json_of(line.batches.screen)},
                    {"confirm", json_of(line.batches.confirm)},
                    {"extra", json_of(line.batches.extra)},
                    {"repeat", repeat_line(line, request)}};
  if (v.outcome != CellOutcome::same || request.explain) json.add("rounds", json_of(line.rounds));
  return json;
}

}  // namespace

std::string json_of(const GateResult& result, const Conclusion& conclusion) {
  const GateReport& report = result.report;
  const auto line_json = [&](const GateLine& line) { return json_of(line, result.request); };
  return json_text("gate time", result.request.arguments, conclusion,
                   {{"seed", result.request.seed},
                    {"baselines", result.request.baselines},
                    {"against", result.request.against},
                    {"seconds", report.seconds},
                    {"device", report.device},
                    {"canaries", report.canaries},
                    {"unfit", report.unfit},
                    {"detectable", report.detectable},
                    {"proven_unchanged", report.proven_unchanged},
                    {"screened", report.screened},
                    {"confirmed", report.confirmed},
                    {"controls", report.controls},
                    {"new_variants", report.new_variants},
                    {"not_gated", report.not_gated},
                    {"gone_variants", report.gone_variants},
                    {"results", json_list(report.lines, line_json)}});
}

}  // namespace assay
