#include "cli/check/check_junit.h"

#include <fmt/format.h>

#include "cli/out/junit.h"

namespace assay {
namespace {

std::string details(const Failure& failure, const ClaimResult& result) {
  return fmt::format(
      "original: {}\nshrunk: {}\n{}: {}\n{}\n{}replay: {}\n", to_string(failure.original),
      to_string(failure.shrunk), to_string(failure.verdict.status), failure.verdict.reason,
      failure.verdict.diagnosis, failure.verdict.picture, replay_line(result, failure.shrunk));
}

JUnitCase case_of(const Line& line) {
  using Outcome = JUnitCase::Outcome;
  JUnitCase test{
      .name = line.result.claim->name, .seconds = line.result.seconds, .message = line.reason};
  if (line.counts_against() || line.standing == Standing::harness_error) {
    test.outcome = line.counts_against() ? Outcome::failure : Outcome::error;
    test.type = "not_judged";
  } else if (line.standing != Standing::holds) {
    test.outcome = Outcome::skipped;
  }
  if (const auto& failure = line.result.failure) {
    test.type = to_string(failure->verdict.status);
    test.details = details(*failure, line.result);
  }
  return test;
}

}  // namespace

std::string junit_of(const CheckReport& report) {
  std::vector<JUnitSuite> suites;
  const Entry* last = nullptr;
  for (const Line& line : report.lines) {
    const Entry& entry = line.result.entry;
    if (last == nullptr || !same_entry(entry, *last)) {
      suites.push_back({fmt::format("{}.{}", entry.variant.name, to_string(entry.backend)), {}});
    }
    suites.back().cases.push_back(case_of(line));
    last = &entry;
  }
  return junit_text("assay check", report.seconds, suites);
}

}  // namespace assay
