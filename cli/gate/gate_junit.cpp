#include "cli/gate/gate_junit.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/out/junit.h"

namespace assay {
namespace {

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
  JUnitCase test{
      .name = to_string(line.cell.problem), .outcome = outcome_of(v.outcome), .message = v.reason};
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

}  // namespace

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

}  // namespace assay
