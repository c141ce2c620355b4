#include "cli/bench/bench_json.h"

#include "cli/out/json.h"

namespace assay {
namespace {

JsonValue json_of(const Estimate& e) {
  return {{"value", e.value}, {"low", e.low}, {"high", e.high}};
}

JsonValue json_of(const BenchLine& line) {
  return {{"variant", line.cell.variant},
          {"problem", to_string(line.cell.problem)},
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
          {"cold", line.cold}};
}

}  // namespace

std::string json_of(const BenchResult& result, const Conclusion& conclusion) {
  const BenchReport& report = result.report;
  return json_text(
      "bench",
      {{"argv", result.request.arguments},
       {"verdict", conclusion.word},
       {"summary", conclusion.text()},
       {"exit_code", static_cast<int>(conclusion.code)},
       {"seed", result.request.seed},
       {"warm", result.request.warm},
       {"processes", report.processes},
       {"seconds", report.seconds},
       {"device", report.device},
       {"peak_tflops", report.peak_tflops},
       {"memory_gb_s", report.memory_gb_s},
       {"unfit", report.unfit},
       {"results", json_list(report.lines, [](const BenchLine& line) { return json_of(line); })}});
}

}  // namespace assay
