#include "cli/gate/gate_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"
#include "base/suggestion.h"
#include "base/text.h"
#include "cli/out/table.h"

namespace assay {
namespace {

std::string verb(int cells) {
  return cells == 1 ? "is" : "are";
}

void add_once(std::vector<std::string>& all, const std::string& one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

std::vector<std::string> variants_of(const GateReport& report, Mark mark) {
  std::vector<std::string> names;
  for (const GateLine& line : report.lines) {
    if (mark_of(line) == mark) add_once(names, line.variant);
  }
  return names;
}

// "2 of 118 cells are slower, 1 is undecided: warptiled, tiled_32": of these marks, those that
// there are; named are the variants of the first.
std::string told(const GateReport& report, const std::vector<Mark>& marks) {
  const auto cells = static_cast<std::int64_t>(report.lines.size());
  std::vector<std::string> parts;
  std::vector<std::string> variants;
  for (Mark mark : marks) {
    const int some = count(report, mark);
    if (some == 0) continue;
    const char* word = mark == Mark::no_baseline ? "without a baseline" : to_string(mark);
    const std::string amount =
        parts.empty() ? fmt::format("{} of {}", some, plural(cells, "cell")) : fmt::to_string(some);
    parts.push_back(fmt::format("{} {} {}", amount, verb(some), word));
    if (variants.empty()) variants = variants_of(report, mark);
  }
  return fmt::format("{}: {}", joined(parts), joined(variants));
}

Conclusion without_cells(const GateReport& report) {
  if (!report.new_variants.empty()) {
    return {
        ExitCode::no_baseline, "NO BASELINE",
        fmt::format("{} not been accepted yet: {}; run {}",
                    report.new_variants.size() == 1 ? "this variant has" : "these variants have",
                    joined(report.new_variants), accept_line(report.new_variants)),
        ""};
  }
  return {ExitCode::nothing_judged, "NOTHING JUDGED", "there is no cell to judge", ""};
}

Conclusion pass(const GateResult& result) {
  const GateReport& report = result.report;
  const std::string unmatched = unmatched_variants(result);
  if (!unmatched.empty() && !result.request.against) {
    return {ExitCode::no_baseline, "NO BASELINE",
            fmt::format("{}; run {}, or remove the files of what is gone from baselines/",
                        unmatched, accept_line(report.new_variants)),
            ""};
  }
  const int faster = count(report, Mark::faster);
  const auto cells = static_cast<std::int64_t>(report.lines.size());
  std::string sentence =
      fmt::format("{}{}{} {} not slower", unmatched, unmatched.empty() ? "" : "; ",
                  plural(cells, "cell"), verb(static_cast<int>(cells)));
  if (faster > 0) sentence += fmt::format(", {} {} faster", faster, verb(faster));
  if (report.detectable > 0)
    sentence +=
        fmt::format("; a slowdown of {:.1f} % would have been seen", 100 * report.detectable);
  return {ExitCode::passed, "PASS", std::move(sentence), ""};
}

}  // namespace

Mark mark_of(const GateLine& line) {
  if (line.wrong) return Mark::wrong;
  if (line.verdict.crept) return Mark::slower;
  switch (line.verdict.change) {
    case Change::same:
      return Mark::same;
    case Change::faster:
      return Mark::faster;
    case Change::slower:
      return Mark::slower;
    case Change::undecided:
      return Mark::undecided;
    case Change::invalid:
      break;
  }
  return line.verdict.reason == no_baseline ? Mark::no_baseline : Mark::invalid;
}

const char* to_string(Mark mark) {
  switch (mark) {
    case Mark::wrong:
      return "wrong";
    case Mark::slower:
      return "slower";
    case Mark::undecided:
      return "undecided";
    case Mark::invalid:
      return "invalid";
    case Mark::no_baseline:
      return "no baseline";
    case Mark::faster:
      return "faster";
    case Mark::same:
      return "same";
  }
  return "?";
}

int count(const GateReport& report, Mark mark) {
  return static_cast<int>(
      std::count_if(report.lines.begin(), report.lines.end(),
                    [&](const GateLine& line) { return mark_of(line) == mark; }));
}

std::string name_of(const GateLine& line) {
  return fmt::format("{} {}", line.variant, line.problem);
}

std::vector<const GateLine*> noteworthy(const GateReport& report) {
  std::vector<const GateLine*> lines;
  for (const GateLine& line : report.lines) {
    if (mark_of(line) != Mark::same) lines.push_back(&line);
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const GateLine* a, const GateLine* b) { return mark_of(*a) < mark_of(*b); });
  return lines;
}

std::string repeat_line(const GateLine& line, const GateRequest& request) {
  std::string text = "assay gate time";
  if (request.against) {
    text += fmt::format(" --against {}", *request.against);
  } else if (request.baselines != ASSAY_BASELINES_PATH) {
    text += fmt::format(" --baselines \"{}\"", request.baselines);
  }
  return fmt::format("{} --cell \"{}\"", text, name_of(line));
}

std::string accept_line(const std::vector<std::string>& variants) {
  return fmt::format("`assay accept time {}--reason \"first baseline\"`",
                     variants.empty() ? "" : joined(variants, " ") + " ");
}

std::string unmatched_variants(const GateResult& result) {
  const GateReport& report = result.report;
  const bool about_one_cell = result.request.cell || result.request.explain;
  if (about_one_cell || report.gone_variants.empty() || report.new_variants.empty()) return "";
  const auto is = [](const std::vector<std::string>& variants) {
    return fmt::format("{} {}", joined(variants), verb(static_cast<int>(variants.size())));
  };
  return fmt::format(
      "{} gone and {} new: if that is one kernel by another name, nothing was compared with its "
      "baseline",
      is(report.gone_variants), is(report.new_variants));
}

std::string reach(const GateReport& report) {
  const std::string smallest =
      report.detectable > 0
          ? fmt::format("the smallest slowdown that this run could have seen is {:.1f} %",
                        100 * report.detectable)
          : "no cell was timed well enough for this run to have seen a slowdown of any size";
  return fmt::format("{}: {} proven unchanged, {} screened, {} confirmed, {} in {}", smallest,
                     plural(report.proven_unchanged, "cell"), report.screened, report.confirmed,
                     plural(report.controls, "control"), duration_text(report.seconds));
}

Conclusion conclude(const GateResult& result) {
  const GateReport& report = result.report;
  const auto any = [&](Mark mark) { return count(report, mark) > 0; };
  if (!result.why_not.empty())
    return {ExitCode::nothing_judged, "NOTHING JUDGED", result.why_not, ""};
  if (!result.no_baseline.empty()) {
    return {ExitCode::no_baseline, "NO BASELINE",
            fmt::format("{}; run {}", result.no_baseline, accept_line({})), ""};
  }
  // A void measurement makes nothing slower, but a wrong result stays wrong.
  const bool is_void = !report.unfit.empty();
  if (any(Mark::wrong) || (any(Mark::slower) && !is_void)) {
    std::vector<Mark> marks = {Mark::wrong};
    if (!is_void)
      marks = {Mark::wrong, Mark::slower, Mark::undecided, Mark::invalid, Mark::no_baseline};
    return {ExitCode::wrong, "FAIL",
            told(report, marks) + (is_void ? "; and nothing could be timed: " + report.unfit : ""),
            ""};
  }
  if (is_void) return {ExitCode::unfit_environment, "UNFIT", report.unfit, ""};
  if (any(Mark::undecided)) {
    return {ExitCode::undecided, "UNDECIDED",
            told(report, {Mark::undecided, Mark::invalid, Mark::no_baseline}), ""};
  }
  if (any(Mark::invalid)) {
    return {ExitCode::unfit_environment, "INVALID",
            told(report, {Mark::invalid, Mark::no_baseline}), ""};
  }
  if (any(Mark::no_baseline)) {
    return {ExitCode::no_baseline, "NO BASELINE",
            fmt::format("{}; run {}", told(report, {Mark::no_baseline}),
                        accept_line(variants_of(report, Mark::no_baseline))),
            ""};
  }
  if (report.lines.empty()) return without_cells(report);
  return pass(result);
}

void insist_on_cell(const std::string& name, const Baseline& baseline) {
  const auto accepted = baseline.accepted.find(name.substr(0, name.find(' ')));
  if (accepted == baseline.accepted.end()) return;
  std::vector<std::string> names;
  for (const CellRecord& cell : accepted->second.cells)
    names.push_back(fmt::format("{} {}", accepted->first, cell.problem));
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  throw BadInput(fmt::format("there is no cell '{}'{}; there are {}", name, suggestion(name, names),
                             joined(names, "; ")));
}

}  // namespace assay
