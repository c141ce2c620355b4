#include "cli/gate/gate_markdown.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/out/table.h"

namespace assay {
namespace {

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
  if (!report.new_variants.empty()) {
    text += fmt::format("\nNew, without a baseline: {}. Run {}\n", joined(report.new_variants),
                        accept_line(report.new_variants));
  }
  for (const std::string& reason : report.not_gated)
    text += fmt::format("\nNot gated: {}\n", in_cell(reason));
  if (!report.gone_variants.empty()) {
    text += fmt::format("\nGone, with a baseline that nothing is compared with: {}\n",
                        joined(report.gone_variants));
  }
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
