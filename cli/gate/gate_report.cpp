#include "cli/gate/gate_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/out/table.h"

namespace assay {
namespace {

std::string verb(int cells) { return cells == 1 ? "is" : "are"; }

// How a gate ends in which some cell has this outcome, and none a worse one.
struct Ending {
  CellOutcome outcome;
  ExitCode code;
  const char* word;
};
constexpr Ending endings[] = {
    {CellOutcome::wrong, ExitCode::wrong, "FAIL"},
    {CellOutcome::slower, ExitCode::wrong, "FAIL"},
    {CellOutcome::undecided, ExitCode::undecided, "UNDECIDED"},
    {CellOutcome::invalid, ExitCode::unfit_environment, "INVALID"},
    {CellOutcome::no_baseline, ExitCode::no_baseline, "NO BASELINE"},
};

std::vector<std::string> variants_of(const GateReport& report, CellOutcome outcome) {
  std::vector<std::string> names;
  for (const GateLine& line : report.lines) {
    const bool is_new = std::ranges::count(names, line.cell.variant) == 0;
    if (line.verdict.outcome == outcome && is_new) names.push_back(line.cell.variant);
  }
  return names;
}

// "2 of 118 cells are slower, 1 is undecided: warptiled, tiled_32", of the outcomes from `worst` to
// `last`, with the variants of the worst.
std::string summary(const GateReport& report, CellOutcome worst, CellOutcome last) {
  const auto cells = static_cast<std::int64_t>(report.lines.size());
  std::vector<std::string> parts;
  for (const Ending& ending : endings) {
    const int some = count(report, ending.outcome);
    if (some == 0 || ending.outcome > last) continue;
    const bool has_none = ending.outcome == CellOutcome::no_baseline;
    const char* word = has_none ? "without a baseline" : to_string(ending.outcome);
    const std::string amount =
        parts.empty() ? fmt::format("{} of {}", some, plural(cells, "cell")) : fmt::to_string(some);
    parts.push_back(fmt::format("{} {} {}", amount, verb(some), word));
  }
  return fmt::format("{}: {}", joined(parts), joined(variants_of(report, worst)));
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
  const std::string unmatched = unmatched_variants(report);
  if (!unmatched.empty() && !result.request.against) {
    return {ExitCode::no_baseline, "NO BASELINE",
            fmt::format("{}; run {}, or remove the files of what is gone from baselines/",
                        unmatched, accept_line(report.new_variants)),
            ""};
  }
  const int faster = count(report, CellOutcome::faster);
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

std::string repeat_line(const GateLine& line, const GateRequest& request) {
  std::string text = "assay gate time";
  if (request.against) {
    text += fmt::format(" --against {}", *request.against);
  } else if (request.baselines != ASSAY_BASELINES_PATH) {
    text += fmt::format(" --baselines \"{}\"", request.baselines);
  }
  return fmt::format("{} --cell \"{}\"", text, to_string(line.cell));
}

std::string accept_line(const std::vector<std::string>& variants) {
  return fmt::format("`assay accept time {}--reason \"first baseline\"`",
                     variants.empty() ? "" : joined(variants, " ") + " ");
}

std::string unmatched_variants(const GateReport& report) {
  if (!may_hide_a_rename(report)) return "";
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
  if (!result.why_not.empty())
    return {ExitCode::nothing_judged, "NOTHING JUDGED", result.why_not, ""};
  if (!result.no_baseline.empty()) {
    return {ExitCode::no_baseline, "NO BASELINE",
            fmt::format("{}; run {}", result.no_baseline, accept_line({})), ""};
  }
  // A void measurement makes nothing slower, but a wrong result stays wrong.
  if (!report.unfit.empty()) {
    const CellOutcome wrong = CellOutcome::wrong;
    if (count(report, wrong) == 0) return {ExitCode::unfit_environment, "UNFIT", report.unfit, ""};
    return {ExitCode::wrong, "FAIL",
            fmt::format("{}; and nothing could be timed: {}", summary(report, wrong, wrong),
                        report.unfit),
            ""};
  }
  for (const auto& [outcome, code, word] : endings) {
    if (count(report, outcome) == 0) continue;
    std::string sentence = summary(report, outcome, CellOutcome::no_baseline);
    if (outcome == CellOutcome::no_baseline)
      sentence += fmt::format("; run {}", accept_line(variants_of(report, outcome)));
    return {code, word, std::move(sentence), ""};
  }
  if (report.lines.empty()) return without_cells(report);
  return pass(result);
}

}  // namespace assay
