#include <fmt/format.h>

#include "cli/gate/timing_files.h"
#include "cli/out/json.h"

namespace assay {
namespace {

Json begin(const char* command, const std::vector<std::string>& arguments,
           const Conclusion& conclusion) {
  Json json = begin_json(command);
  json["argv"] = arguments;
  json["verdict"] = conclusion.word;
  json["summary"] = conclusion.text();
  json["exit_code"] = static_cast<int>(conclusion.code);
  return json;
}

Json json_of(const Estimate& e) {
  return {{"value", e.value}, {"low", e.low}, {"high", e.high}};
}

Json json_of(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json json_of(const std::vector<Replicate>& batch) {
  Json all = Json::array();
  for (const Replicate& r : batch) {
    all.push_back({{"log_to_baseline", json_of(r.to_baseline)},
                   {"log_to_anchor", json_of(r.to_anchor)},
                   {"log_to_twin", json_of(r.to_twin)},
                   {"head_us", r.head_us},
                   {"clock_mhz", r.clock_mhz},
                   {"clock_apart", r.clock_apart},
                   {"rounds", r.rounds},
                   {"dropped", r.dropped},
                   {"fault", r.fault}});
  }
  return all;
}

// For each process and round the arms by name; one that was not run is left out.
Json json_of(const std::vector<std::vector<Round>>& processes) {
  Json all = Json::array();
  for (const std::vector<Round>& rounds : processes) {
    Json process = Json::array();
    for (const Round& round : rounds) {
      Json samples = Json::object();
      for (std::size_t i = 0; i < arms.size(); ++i) {
        if (round[i].time_us == 0) continue;
        samples[to_string(arms[i])] = {{"time_us", round[i].time_us},
                                       {"clock_mhz", round[i].clock_mhz},
                                       {"throttled", round[i].throttled}};
      }
      process.push_back(std::move(samples));
    }
    all.push_back(std::move(process));
  }
  return all;
}

Json json_of(const GateLine& line, const GateRequest& request) {
  const CellVerdict& v = line.verdict;
  Json json = {{"variant", line.variant},
               {"problem", line.problem},
               {"status", to_string(mark_of(line))},
               {"crept", v.crept},
               {"unchanged", line.data.unchanged},
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
               {"screen", json_of(line.data.screen)},
               {"confirm", json_of(line.data.confirm)},
               {"extra", json_of(line.data.extra)},
               {"repeat", repeat_line(line, request)}};
  if (mark_of(line) != Mark::same || request.explain) json["rounds"] = json_of(line.rounds);
  return json;
}

}  // namespace

std::string json_of(const BenchResult& result, const Conclusion& conclusion) {
  const BenchReport& report = result.report;
  Json json = begin("bench", result.request.arguments, conclusion);
  json["seed"] = result.request.seed;
  json["warm"] = result.request.warm;
  json["processes"] = report.processes;
  json["seconds"] = report.seconds;
  json["device"] = report.device;
  json["peak_tflops"] = report.peak_tflops;
  json["memory_gb_s"] = report.memory_gb_s;
  json["unfit"] = report.unfit;
  json["results"] = Json::array();
  for (const BenchLine& line : report.lines) {
    json["results"].push_back({{"variant", line.variant},
                               {"problem", line.problem},
                               {"status", line.wrong             ? "wrong"
                                          : line.why_not.empty() ? "timed"
                                                                 : "not_timed"},
                               {"reason", line.why_not},
                               {"time_us", json_of(line.time_us)},
                               {"tflops", line.tflops},
                               {"percent_of_cublas", json_of(line.percent_of_cublas)},
                               {"percent_of_peak", line.percent_of_peak},
                               {"percent_of_roofline", line.percent_of_roofline},
                               {"clock_mhz", line.clock_mhz},
                               {"cold", line.cold}});
  }
  return finished(json);
}

std::string json_of(const AcceptResult& result, const Conclusion& conclusion) {
  const AcceptReport& report = result.report;
  Json json = begin("accept time", result.request.arguments, conclusion);
  json["folder"] = report.folder;
  json["reason"] = result.request.reason;
  json["accepted"] = report.accepted;
  json["left_out"] = report.left_out;
  json["lost"] = report.lost;
  json["cells"] = report.cells;
  json["unfit"] = report.unfit;
  json["seconds"] = report.seconds;
  return finished(json);
}

std::string json_of(const GateResult& result, const Conclusion& conclusion) {
  const GateReport& report = result.report;
  Json json = begin("gate time", result.request.arguments, conclusion);
  json["seed"] = result.request.seed;
  json["baselines"] = result.request.baselines;
  json["against"] = result.request.against ? Json(*result.request.against) : Json(nullptr);
  json["seconds"] = report.seconds;
  json["device"] = report.device;
  json["canaries"] = report.canaries;
  json["unfit"] = report.unfit;
  json["detectable"] = report.detectable;
  json["proven_unchanged"] = report.proven_unchanged;
  json["screened"] = report.screened;
  json["confirmed"] = report.confirmed;
  json["controls"] = report.controls;
  json["new_variants"] = report.new_variants;
  json["not_gated"] = report.not_gated;
  json["gone_variants"] = report.gone_variants;
  json["results"] = Json::array();
  for (const GateLine& line : report.lines)
    json["results"].push_back(json_of(line, result.request));
  return finished(json);
}

}  // namespace assay
