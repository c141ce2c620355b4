#include "cli/gate/timing_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/out/table.h"
#include "cli/out/xml.h"

namespace assay {
namespace {

// Text inside a cell of a Markdown table.
std::string in_cell(std::string_view text) {
  std::string safe;
  for (char c : text) {
    switch (c) {
      case '|':
        safe += "\\|";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '\n':
        safe += ' ';
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string percent(double ratio) {
  return fmt::format("{:+.2f} %", 100 * (ratio - 1));
}

std::string row(const GateLine& line) {
  const CellVerdict& v = line.verdict;
  const bool timed = v.ratio > 0;
  const std::string status = v.crept ? "slower by creep" : to_string(mark_of(line));
  const std::string why = line.cause.empty() ? v.reason : v.reason + "; " + line.cause;
  return fmt::format("| {} | `{}` | {} | {} | {} | {} | {} | {} |\n", status,
                     in_cell(name_of(line)), timed ? percent(v.ratio) : "",
                     timed ? percent(v.interval.low) + " to " + percent(v.interval.high) : "",
                     line.head_us > 0 ? fmt::format("{:.2f} us", line.head_us) : "",
                     line.baseline_us > 0 ? fmt::format("{:.2f} us", line.baseline_us) : "",
                     line.clock_mhz > 0 ? fmt::format("{:.0f} MHz", line.clock_mhz) : "",
                     in_cell(why));
}

constexpr const char* table_head =
    "| | cell | change of time | 99 % interval | now | baseline | clock | why |\n"
    "|---|---|---:|---|---:|---:|---:|---|\n";

// The element that tells how a test ended; empty for one that passed.
std::string outcome(const GateLine& line, const GateRequest& request) {
  const Mark mark = mark_of(line);
  if (mark == Mark::same || mark == Mark::faster) return "";
  const std::string reason = escaped(line.verdict.reason);
  if (mark == Mark::no_baseline) return fmt::format("      <skipped message=\"{}\"/>\n", reason);
  const bool failed = mark == Mark::wrong || mark == Mark::slower;
  const CellVerdict& v = line.verdict;
  const std::string details = fmt::format(
      "ratio: {:.4f}, 99 % interval {:.4f} to {:.4f}\ntime: {:.2f} us, baseline {:.2f} us\n"
      "cause: {}\nrepeat: {}\n",
      v.ratio, v.interval.low, v.interval.high, line.head_us, line.baseline_us, line.cause,
      repeat_line(line, request));
  return fmt::format("      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n",
                     failed ? "failure" : "error", to_string(mark), reason, escaped_lines(details));
}

struct Counts {
  int tests = 0, failures = 0, errors = 0, skipped = 0;

  void add(const GateLine& line) {
    const Mark mark = mark_of(line);
    ++tests;
    failures += mark == Mark::wrong || mark == Mark::slower;
    errors += mark == Mark::undecided || mark == Mark::invalid;
    skipped += mark == Mark::no_baseline;
  }
  std::string attributes() const {
    return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", tests, failures,
                       errors, skipped);
  }
};

// That nothing was measured or compared is the fault of no cell.
std::string suite_of_the_run(const GateResult& result, Counts& all) {
  const GateReport& report = result.report;
  const bool skipped = !result.why_not.empty();
  const std::string& why = skipped                       ? result.why_not
                           : !result.no_baseline.empty() ? result.no_baseline
                                                         : report.unfit;
  if (why.empty()) return "";
  ++all.tests;
  ++(skipped ? all.skipped : all.errors);
  const std::string inside =
      skipped ? fmt::format("<skipped message=\"{}\"/>", escaped(why))
              : fmt::format("<error type=\"{}\" message=\"{}\"/>",
                            report.unfit.empty() ? "no baseline" : "unfit", escaped(why));
  return fmt::format(
      "  <testsuite name=\"run\" tests=\"1\" failures=\"0\" errors=\"{}\" skipped=\"{}\">\n"
      "    <testcase classname=\"run\" name=\"measured\">{}</testcase>\n  </testsuite>\n",
      skipped ? 0 : 1, skipped ? 1 : 0, inside);
}

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
    if (mark_of(*line) != Mark::faster)
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

std::string junit_of(const GateResult& result) {
  std::vector<std::string> variants;
  for (const GateLine& line : result.report.lines) {
    if (std::find(variants.begin(), variants.end(), line.variant) == variants.end())
      variants.push_back(line.variant);
  }
  Counts all;
  std::string suites = suite_of_the_run(result, all);
  for (const std::string& variant : variants) {
    Counts counts;
    std::string cases;
    for (const GateLine& line : result.report.lines) {
      if (line.variant != variant) continue;
      counts.add(line);
      all.add(line);
      const std::string inside = outcome(line, result.request);
      cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\"{}\n", escaped(variant),
                           escaped(line.problem), inside.empty() ? "/>" : ">");
      if (!inside.empty()) cases += inside + "    </testcase>\n";
    }
    suites += fmt::format("  <testsuite name=\"{}\" {}>\n{}  </testsuite>\n", escaped(variant),
                          counts.attributes(), cases);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"assay gate time\" {} time=\"{:.3f}\">\n{}</testsuites>\n",
      all.attributes(), result.report.seconds, suites);
}

}  // namespace assay
