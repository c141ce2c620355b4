#include "report/junit_xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "report/markup.h"

namespace assay {
namespace {

using Outcome = JUnitCase::Outcome;

const char* element_of(Outcome outcome) {
  return outcome == Outcome::failure ? "failure" : outcome == Outcome::error ? "error" : "skipped";
}

std::string time_attribute(const std::optional<double>& seconds) {
  return seconds ? fmt::format(" time=\"{:.3f}\"", *seconds) : "";
}

std::string case_text(const JUnitCase& test, const std::string& suite) {
  const std::string opening =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\"{}", in_attribute(suite),
                  in_attribute(test.name), time_attribute(test.seconds));
  if (test.outcome == Outcome::passed) return opening + "/>\n";
  const char* element = element_of(test.outcome);
  std::string inside = fmt::format("<{}", element);
  if (!test.type.empty()) inside += fmt::format(" type=\"{}\"", in_attribute(test.type));
  inside += fmt::format(" message=\"{}\"", in_attribute(test.message));
  inside +=
      test.details.empty() ? "/>" : fmt::format(">{}</{}>", Markup(test.details).markup(), element);
  return fmt::format("{}>\n      {}\n    </testcase>\n", opening, inside);
}

std::string counts_of(std::span<const JUnitSuite> suites) {
  int tests = 0, failures = 0, errors = 0, skipped = 0;
  for (const JUnitSuite& suite : suites) {
    for (const JUnitCase& test : suite.cases) {
      ++tests;
      failures += test.outcome == Outcome::failure;
      errors += test.outcome == Outcome::error;
      skipped += test.outcome == Outcome::skipped;
    }
  }
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", tests, failures,
                     errors, skipped);
}

// Of a suite whose cases all have a time.
std::optional<double> seconds_of(const JUnitSuite& suite) {
  double seconds = 0;
  for (const JUnitCase& test : suite.cases) {
    if (!test.seconds) return std::nullopt;
    seconds += *test.seconds;
  }
  return seconds;
}

}  // namespace

std::string junit_text(const std::string& name, double seconds,
                       const std::vector<JUnitSuite>& suites) {
  std::string text;
  for (const JUnitSuite& suite : suites) {
    text += fmt::format("  <testsuite name=\"{}\" {}{}>\n", in_attribute(suite.name),
                        counts_of({&suite, 1}), time_attribute(seconds_of(suite)));
    for (const JUnitCase& test : suite.cases) text += case_text(test, suite.name);
    text += "  </testsuite>\n";
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" "
      "{}{}>\n{}</testsuites>\n",
      in_attribute(name), counts_of(suites), time_attribute(seconds), text);
}

}  // namespace assay
