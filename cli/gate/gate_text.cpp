#include "cli/gate/gate_text.h"

#include <fmt/format.h>

#include <cmath>

#include "base/printable.h"
#include "base/text.h"

namespace assay {
namespace {

Colour colour_of(CellOutcome outcome) {
  switch (outcome) {
    case CellOutcome::wrong:
    case CellOutcome::slower: return Colour::red;
    case CellOutcome::faster:
    case CellOutcome::same: return Colour::green;
    default: return Colour::yellow;
  }
}

std::string microseconds(double us) { return fmt::format("{:.{}f} us", us, us < 100 ? 2 : 1); }

std::string ratio_text(const CellVerdict& verdict) {
  return fmt::format("{:.4f}, 99 % interval {:.4f} to {:.4f}, from {} process{}", verdict.ratio,
                     verdict.interval.low, verdict.interval.high, verdict.processes,
                     verdict.processes == 1 ? "" : "es");
}

std::string times_text(const GateLine& line) {
  std::string text = microseconds(line.head_us);
  if (line.baseline_us > 0) text += fmt::format(", baseline {}", microseconds(line.baseline_us));
  if (line.clock_mhz > 0) text += fmt::format(", at {:.0f} MHz", line.clock_mhz);
  return text;
}

std::string line_text(const GateLine& line, const GateRequest& request, const Screen& screen) {
  const CellOutcome outcome = line.verdict.outcome;
  const CellVerdict& verdict = line.verdict;
  std::string text =
      fmt::format("\n{}: {}: {}\n", screen.paint(outcome_text(verdict), colour_of(outcome)),
                  to_string(line.cell), printable(verdict.reason));
  if (verdict.ratio > 0) text += say("ratio", ratio_text(verdict));
  if (verdict.anchor_ratio > 0 && verdict.crept)
    text += say("anchor", fmt::format("{:.4f} of its time", verdict.anchor_ratio));
  if (line.head_us > 0) text += say("time", times_text(line));
  if (!line.cause.empty()) text += say("cause", line.cause);
  if (outcome == CellOutcome::undecided && verdict.processes_needed > 0)
    text += say("needs", fmt::format("about {} processes to settle it", verdict.processes_needed));
  text += say("repeat", repeat_line(line, request));
  return text;
}

std::string device_text(const GateReport& report) {
  for (const char* name : {"name", "gpu", "key"}) {
    if (const auto fact = report.device.find(name); fact != report.device.end())
      return fact->second;
  }
  return "";
}

std::string variants_text(const GateReport& report) {
  std::string text;
  if (!report.new_variants.empty()) {
    text += fmt::format("new, without a baseline: {}; once they are as they should be: {}\n",
                        joined(report.new_variants), accept_line(report.new_variants));
  }
  for (const std::string& reason : report.not_gated)
    text += fmt::format("not gated: {}\n", printable(reason));
  if (!report.gone_variants.empty()) {
    text += fmt::format("gone, with a baseline that nothing is compared with: {}\n",
                        joined(report.gone_variants));
  }
  return text.empty() ? text : "\n" + text;
}

std::string percent(const std::optional<double>& log_ratio) {
  return log_ratio ? fmt::format("{:+.3f}", 100 * std::expm1(*log_ratio)) : "-";
}

std::string batch_text(const char* name, const std::vector<Replicate>& batch,
                       const Screen& screen) {
  if (batch.empty()) return "";
  Table table;
  table.add_column(name, Side::left);
  for (const char* heading : {"% to baseline", "% to anchor", "% to twin", "head us", "MHz",
                              "clocks apart %", "rounds", "dropped"})
    table.add_column(heading, Side::right);
  table.add_column("fault", Side::left);
  int number = 0;
  for (const Replicate& r : batch) {
    table.add_row({{fmt::to_string(++number)},
                   {percent(r.to_baseline)},
                   {percent(r.to_anchor)},
                   {percent(r.to_twin)},
                   {fmt::format("{:.3f}", r.head_us)},
                   {r.clock_mhz > 0 ? fmt::format("{:.0f}", r.clock_mhz) : "-"},
                   {fmt::format("{:.3f}", 100 * r.clock_apart)},
                   {fmt::to_string(r.rounds)},
                   {fmt::to_string(r.dropped), r.dropped > 0 ? Colour::yellow : Colour::plain},
                   {r.fault, Colour::yellow}});
  }
  return "\n" + table.text(screen);
}

}  // namespace

std::string explanation_text(const GateLine& line, const Screen& screen) {
  const CellOutcome outcome = line.verdict.outcome;
  const CellVerdict& v = line.verdict;
  std::string text =
      fmt::format("\n{}: {}: {}\n", screen.paint(to_string(outcome), colour_of(outcome)),
                  to_string(line.cell), printable(v.reason));
  if (v.ratio > 0) {
    text += say("ratio", ratio_text(v));
    text += say("p", fmt::format("{:.3g} that it is not slower by more than the margin", v.p));
    text += say("spread", fmt::format("{:.3f} % from process to process", 100 * v.spread));
    text += say("detectable",
                fmt::format("{:.2f} % slower, with 95 % probability", 100 * v.detectable));
  }
  if (v.anchor_ratio > 0) text += say("anchor", fmt::format("{:.4f} of its time", v.anchor_ratio));
  if (v.processes_needed > 0)
    text += say("needs", fmt::format("about {} processes to settle it", v.processes_needed));
  if (line.head_us > 0) text += say("time", times_text(line));
  if (!line.cause.empty()) text += say("cause", line.cause);
  text += batch_text("screen", line.batches.screen, screen);
  text += batch_text("confirm", line.batches.confirm, screen);
  text += batch_text("extra", line.batches.extra, screen);
  if (line.batches.screen.empty() && line.batches.confirm.empty() && line.batches.extra.empty())
    text += say("measured",
                line.batches.unchanged ? "nothing: --all times it all the same" : "nothing");
  return text;
}

std::string gate_text(const GateResult& result, const Conclusion& conclusion,
                      const Screen& screen) {
  const GateReport& report = result.report;
  const GateRequest& request = result.request;
  const std::string verdict = conclusion_text(conclusion, screen);
  if (!result.why_not.empty() || !result.no_baseline.empty()) return verdict;
  std::string text;
  if (conclusion.code != ExitCode::passed || !unmatched_variants(report).empty()) text += verdict;
  if (!request.quiet) {
    const std::string device = device_text(report);
    text += fmt::format("assay gate time: {}{}, seed {}\n",
                        plural(static_cast<std::int64_t>(report.lines.size()), "cell"),
                        device.empty() ? "" : " on " + device, request.seed);
  }
  for (const GateLine* line : noteworthy(report)) {
    const CellOutcome outcome = line->verdict.outcome;
    const bool is_void = !report.unfit.empty() && outcome != CellOutcome::wrong;
    if (is_void || (request.quiet && outcome == CellOutcome::faster) || request.explain) continue;
    text += line_text(*line, request, screen);
  }
  if (request.explain) {
    for (const GateLine& line : report.lines) text += explanation_text(line, screen);
  }
  if (!request.quiet) text += variants_text(report);
  text += fmt::format("{}{}\n", request.quiet ? "" : "\n", reach(report));
  return text + verdict;
}

}  // namespace assay
