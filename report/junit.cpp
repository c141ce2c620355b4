#include <fmt/format.h>

#include "report/junit_xml.h"
#include "report/views.h"
#include "report/words.h"

namespace assay::report {
namespace {

using Outcome = JUnitCase::Outcome;

Outcome outcome_of(const std::string& status) {
  if (status == "holds" || status == "same" || status == "faster") return Outcome::passed;
  if (status == "fails" || status == "wrong" || status == "slower") return Outcome::failure;
  if (status == "error" || status == "invalid" || status == "undecided") return Outcome::error;
  return Outcome::skipped;
}

// Servers show the beginning of the text: it is the diagnosis.
JUnitCase case_of(const MergedClaim& claim) {
  JUnitCase test = {.name = claim.claim,
                    .outcome = outcome_of(claim.status),
                    .message = shortened(claim.reason, 1, 400)};
  if (test.outcome == Outcome::passed) return test;
  if (test.outcome != Outcome::skipped) test.type = claim.status;
  if (const auto& failure = claim.failure) {
    test.message = shortened(failure->headline, 1, 400);
    test.details = fmt::format("{}\n{}\n{}{}shrunk: {}\noriginal: {}\nreplay: {}\n",
                               shortened(failure->headline), shortened(failure->reason),
                               shortened(failure->picture),
                               failure->branch.empty() ? "" : failure->branch + "\n",
                               failure->shrunk, failure->original, failure->replay);
  }
  if (!claim.contradiction.empty()) test.details += claim.contradiction + "\n";
  return test;
}

JUnitCase case_of(const MergedCell& cell) {
  JUnitCase test = {
      .name = cell.problem, .outcome = outcome_of(cell.status), .message = cell.reason};
  if (test.outcome == Outcome::passed) return test;
  if (test.outcome != Outcome::skipped) test.type = cell.status;
  test.details =
      fmt::format("{}\ncause: {}\nrepeat: {}\n", shortened(cell.reason), cell.cause, cell.repeat);
  if (!cell.contradiction.empty()) test.details += cell.contradiction + "\n";
  return test;
}

}  // namespace

std::string junit_of(const Report& report) {
  std::vector<JUnitSuite> suites;
  const auto suite = [&](const std::string& name) -> JUnitSuite& {
    for (JUnitSuite& one : suites)
      if (one.name == name) return one;
    suites.push_back({name, {}});
    return suites.back();
  };
  for (const VariantReport& variant : report.variants) {
    const std::string& name = variant.about.name;
    for (const MergedClaim& claim : variant.claims)
      suite(fmt::format("{}.{}", name, claim.backend)).cases.push_back(case_of(claim));
    for (const MergedCell& cell : variant.cells)
      suite(fmt::format("{}.time.{}", name, cell.card)).cases.push_back(case_of(cell));
  }
  return junit_text("assay report", 0, suites);
}

}  // namespace assay::report
