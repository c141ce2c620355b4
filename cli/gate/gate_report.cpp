#include "cli/gate/gate_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/printable.h"
#include "base/text.h"
#include "cli/out/result.h"
#include "cli/out/table.h"
#include "report/junit_xml.h"

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

// Of cells of one variant that would all be told alike, one is.
std::string what_is_told(const GateLine& line) {
  return fmt::format("{}\n{}\n{}\n{}", line.cell.variant, to_string(line.verdict.outcome),
                     line.verdict.reason, line.cause);
}

std::string device_text(const GateReport& report) {
  for (const char* name : {"name", "gpu", "key"}) {
    if (const auto fact = report.device.find(name); fact != report.device.end())
      return fact->second;
  }
  return "";
}

std::string notes_text(const GateReport& report) {
  std::string text;
  for (const std::string& note : notes(report)) text += printable(note) + "\n";
  return text.empty() ? text : "\n" + text;
}

std::string percent_of(const std::optional<double>& log_ratio) {
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
                   {percent_of(r.to_baseline)},
                   {percent_of(r.to_anchor)},
                   {percent_of(r.to_twin)},
                   {fmt::format("{:.3f}", r.head_us)},
                   {r.clock_mhz > 0 ? fmt::format("{:.0f}", r.clock_mhz) : "-"},
                   {fmt::format("{:.3f}", 100 * r.clock_apart)},
                   {fmt::to_string(r.rounds)},
                   {fmt::to_string(r.dropped), r.dropped > 0 ? Colour::yellow : Colour::plain},
                   {r.fault, Colour::yellow}});
  }
  return "\n" + table.text(screen);
}

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
                    {"host", line.cell.host},
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
                    {"accepted_us", line.accepted_us},
                    {"accepted_to_anchor", line.accepted_to_anchor},
                    {"anchor_commit", line.anchor_commit},
                    {"clock_mhz", line.clock_mhz},
                    {"screen", json_of(line.batches.screen)},
                    {"confirm", json_of(line.batches.confirm)},
                    {"extra", json_of(line.batches.extra)},
                    {"repeat", repeat_line(line, request)}};
  if (v.outcome != CellOutcome::same || request.explain) json.add("rounds", json_of(line.rounds));
  return json;
}

using Outcome = JUnitCase::Outcome;

Outcome outcome_of(CellOutcome outcome) {
  switch (outcome) {
    case CellOutcome::wrong:
    case CellOutcome::slower: return Outcome::failure;
    case CellOutcome::undecided:
    case CellOutcome::invalid: return Outcome::error;
    case CellOutcome::no_baseline: return Outcome::skipped;
    case CellOutcome::faster:
    case CellOutcome::same: break;
  }
  return Outcome::passed;
}

JUnitCase case_of(const GateLine& line, const GateRequest& request) {
  const CellVerdict& v = line.verdict;
  JUnitCase test{.name = (line.cell.host ? "host " : "") + to_string(line.cell.problem),
                 .outcome = outcome_of(v.outcome),
                 .message = v.reason};
  if (test.outcome == Outcome::failure || test.outcome == Outcome::error) {
    test.type = to_string(v.outcome);
    test.details = fmt::format(
        "ratio: {:.4f}, 99 % interval {:.4f} to {:.4f}\ntime: {:.2f} us, baseline {:.2f} us\n"
        "cause: {}\nrepeat: {}\n",
        v.ratio, v.interval.low, v.interval.high, line.head_us, line.baseline_us, line.cause,
        repeat_line(line, request));
  }
  return test;
}

// A suite of its own where nothing was measured or compared: no cell is to blame.
std::vector<JUnitSuite> suites_of_the_run(const GateResult& result) {
  const std::string& unfit = result.report.unfit;
  JUnitCase test{.name = "measured", .outcome = Outcome::error};
  if (!result.why_not.empty()) {
    test.outcome = Outcome::skipped;
    test.message = result.why_not;
  } else if (!result.no_baseline.empty()) {
    test.type = "no baseline";
    test.message = result.no_baseline;
  } else if (!unfit.empty()) {
    test.type = "unfit";
    test.message = unfit;
  } else {
    return {};
  }
  return {{"run", {test}}};
}

// Text inside a cell of a Markdown table.
std::string in_cell(std::string_view text) {
  std::string safe;
  for (char c : text) {
    switch (c) {
      case '|': safe += "\\|"; break;
      case '<': safe += "&lt;"; break;
      case '\n': safe += ' '; break;
      default: safe += c;
    }
  }
  return safe;
}

std::string percent(double ratio) { return fmt::format("{:+.2f} %", 100 * (ratio - 1)); }

std::string row(const GateLine& line) {
  const CellVerdict& v = line.verdict;
  const bool timed = v.ratio > 0;
  const std::string why = line.cause.empty() ? v.reason : v.reason + "; " + line.cause;
  return fmt::format("| {} | `{}` | {} | {} | {} | {} | {} | {} |\n", outcome_text(v),
                     in_cell(to_string(line.cell)), timed ? percent(v.ratio) : "",
                     timed ? percent(v.interval.low) + " to " + percent(v.interval.high) : "",
                     line.head_us > 0 ? fmt::format("{:.2f} us", line.head_us) : "",
                     line.baseline_us > 0 ? fmt::format("{:.2f} us", line.baseline_us) : "",
                     line.clock_mhz > 0 ? fmt::format("{:.0f} MHz", line.clock_mhz) : "",
                     in_cell(why));
}

constexpr const char* table_head =
    "| | cell | change of time | 99 % interval | now | baseline | clock | why |\n"
    "|---|---|---:|---|---:|---:|---:|---|\n";

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
  if (conclusion.code != ExitCode::passed) text += verdict;
  if (!request.quiet) {
    const std::string device = device_text(report);
    text += fmt::format("assay gate time: {}{}, seed {}\n",
                        plural(static_cast<std::int64_t>(report.lines.size()), "cell"),
                        device.empty() ? "" : " on " + device, request.seed);
  }
  std::set<std::string> told;
  for (const GateLine* line : noteworthy(report)) {
    const CellOutcome outcome = line->verdict.outcome;
    const bool is_void = !report.unfit.empty() && outcome != CellOutcome::wrong;
    if (is_void || (request.quiet && outcome == CellOutcome::faster) || request.explain) continue;
    if (!told.insert(what_is_told(*line)).second) continue;
    text += line_text(*line, request, screen);
    const auto alike = std::ranges::count(report.lines, what_is_told(*line), what_is_told);
    if (alike > 1)
      text += say("also", fmt::format("{} of {}, for the same reason", plural(alike - 1, "cell"),
                                      line->cell.variant));
  }
  if (request.explain) {
    for (const GateLine& line : report.lines) text += explanation_text(line, screen);
  }
  if (!request.quiet) text += notes_text(report);
  text += fmt::format("{}{}\n", request.quiet ? "" : "\n", reach(report));
  return text + verdict;
}

std::string json_of(const GateResult& result, const Conclusion& conclusion) {
  const GateReport& report = result.report;
  const auto line_json = [&](const GateLine& line) { return json_of(line, result.request); };
  return result_text({.command = "gate time",
                      .arguments = result.request.arguments,
                      .conclusion = conclusion,
                      .origin = result.origin,
                      .device = report.device},
                     {{"seed", result.request.seed},
                      {"baselines", result.request.baselines},
                      {"against", result.request.against},
                      {"base", result.request.base},
                      {"accepted_here", report.accepted_here},
                      {"other_compiler", report.other_compiler},
                      {"at_power_limit", report.at_power_limit},
                      {"accepted_by_review", result.request.accepted_by_review},
                      {"seconds", report.seconds},
                      {"canaries", report.canaries},
                      {"unfit", report.unfit},
                      {"detectable", report.detectable},
                      {"proven_unchanged", report.proven_unchanged},
                      {"processes", report.processes},
                      {"confirmed", report.confirmed},
                      {"controls", report.controls},
                      {"new_variants", report.new_variants},
                      {"not_gated", report.not_gated},
                      {"gone_variants", report.gone_variants},
                      {"moved_anchors", report.moved_anchors},
                      {"not_watched", report.unwatched.for_a_reason},
                      {"without_record", report.unwatched.without_record},
                      {"without_anchor", report.unwatched.without_anchor},
                      {"results", json_list(report.lines, line_json)}});
}

std::string junit_of(const GateResult& result) {
  std::vector<JUnitSuite> suites = suites_of_the_run(result);
  for (const GateLine& line : result.report.lines) {
    auto suite = std::find_if(suites.begin(), suites.end(),
                              [&](const JUnitSuite& s) { return s.name == line.cell.variant; });
    if (suite == suites.end()) suite = suites.insert(suite, {line.cell.variant, {}});
    suite->cases.push_back(case_of(line, result.request));
  }
  return junit_text("assay gate time", result.report.seconds, suites);
}

std::string markdown_of(const GateResult& result, const Conclusion& conclusion) {
  const GateReport& report = result.report;
  std::string text =
      fmt::format("### Timing gate: {}\n\n{}\n\n", conclusion.word, in_cell(conclusion.sentence));
  const auto lines = noteworthy(report);
  if (!lines.empty()) {
    text += table_head;
    for (const GateLine* line : lines) text += row(*line);
    text += "\n";
  }
  for (const GateLine* line : lines) {
    if (line->verdict.outcome != CellOutcome::faster)
      text += fmt::format("- `{}`\n", in_cell(repeat_line(*line, result.request)));
  }
  for (const std::string& note : notes(report)) text += fmt::format("\n{}\n", in_cell(note));
  if (!result.why_not.empty() || !result.no_baseline.empty()) return text;
  text += fmt::format("\nOf this run: {}.\n", reach(report));
  if (!report.lines.empty()) {
    text += fmt::format("\n<details><summary>All {}</summary>\n\n{}",
                        plural(static_cast<std::int64_t>(report.lines.size()), "cell"), table_head);
    for (const GateLine& line : report.lines) text += row(line);
    text += "\n</details>\n";
  }
  return text;
}

}  // namespace assay
