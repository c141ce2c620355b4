#include "cli/check/check_junit.h"

#include <fmt/format.h>

#include "cli/check/paths.h"
#include "report/junit_xml.h"

namespace assay {
namespace {

std::string details(const Failure& failure, const ClaimResult& result) {
  return fmt::format("original: {}\nshrunk: {}\n{}: {}\n{}\n{}{}replay: {}\n",
                     to_string(failure.original), to_string(failure.shrunk),
                     to_string(failure.verdict.status), failure.verdict.reason,
                     failure.verdict.diagnosis, failure.verdict.picture,
                     failure.branch ? fmt::format("branch: {}\n", to_string(*failure.branch)) : "",
                     replay_line(result, failure.sequence()));
}

JUnitCase::Outcome outcome_of(ClaimStatus status) {
  switch (status) {
    case ClaimStatus::holds: return JUnitCase::Outcome::passed;
    case ClaimStatus::fails:
    case ClaimStatus::too_few: return JUnitCase::Outcome::failure;
    case ClaimStatus::harness_error: return JUnitCase::Outcome::error;
    case ClaimStatus::interrupted:
    case ClaimStatus::exempt:
    case ClaimStatus::not_judged: break;
  }
  return JUnitCase::Outcome::skipped;
}

JUnitCase case_of(const ClaimResult& result) {
  JUnitCase test{.name = result.claim->name,
                 .seconds = result.seconds,
                 .outcome = outcome_of(result.status()),
                 .message = result.reason()};
  if (const auto& failure = result.failure) {
    test.type = to_string(failure->verdict.status);
    test.details = details(*failure, result);
  } else if (test.outcome == JUnitCase::Outcome::failure ||
             test.outcome == JUnitCase::Outcome::error) {
    test.type = "not_judged";
  }
  return test;
}

// A case of its own beside the claims: skipped where it falls short and nobody requires it.
JUnitCase case_of(const Paths& paths, bool required) {
  const Exploration& found = *paths.exploration;
  JUnitCase test{.name = "paths"};
  if (paths.is_known() && found.one_way.empty()) return test;
  const bool fails = required && !found.one_way.empty();
  test.outcome = fails ? JUnitCase::Outcome::failure : JUnitCase::Outcome::skipped;
  if (fails) test.type = "one_way";
  test.message = paths.is_known() ? paths.share() + " comparisons went both ways" : found.unknown;
  for (const OneWay& way : found.one_way)
    test.details += fmt::format("{}:{}: {}: {}\n", way.file, way.line, way.source, way.evidence);
  return test;
}

}  // namespace

std::string junit_of(const CheckReport& report) {
  std::vector<JUnitSuite> suites;
  const Entry* last = nullptr;
  for (const ClaimResult& result : report.results) {
    const Entry& entry = result.entry;
    if (last == nullptr || !same_entry(entry, *last)) {
      suites.push_back({fmt::format("{}.{}", entry.variant.name, to_string(entry.backend)), {}});
    }
    suites.back().cases.push_back(case_of(result));
    last = &entry;
  }
  std::size_t suite = 0;
  for (const Paths& paths : paths_of(report)) {
    const std::string name =
        fmt::format("{}.{}", paths.entry.variant.name, to_string(paths.entry.backend));
    while (suites[suite].name != name) ++suite;
    suites[suite].cases.push_back(case_of(paths, report.paths_required));
  }
  return junit_text("assay check", report.seconds, suites);
}

}  // namespace assay
