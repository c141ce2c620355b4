#include "cli/out/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "base/printable.h"

namespace assay {
namespace {

using Outcome = JUnitCase::Outcome;

constexpr std::string_view marked_up = "&<>\"\n\t";

std::string_view entity_of(char c) {
  switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\n': return "&#10;";
    default: return "&#9;";
  }
}

// Text for an attribute or between tags. What XML cannot hold, even escaped, becomes \x1b.
std::string escaped(std::string_view text) {
  std::string xml;
  while (true) {
    const std::size_t plain = std::min(text.find_first_of(marked_up), text.size());
    xml += printable(text.substr(0, plain));
    if (plain == text.size()) return xml;
    xml += entity_of(text[plain]);
    text.remove_prefix(plain + 1);
  }
}

// The same for text that keeps its lines.
std::string escaped_lines(std::string_view text) {
  std::string xml;
  for (std::size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1))
    xml += escaped(text.substr(0, end)) + '\n';
  return xml + escaped(text);
}

const char* element_of(Outcome outcome) {
  return outcome == Outcome::failure ? "failure" : outcome == Outcome::error ? "error" : "skipped";
}

std::string time_attribute(const std::optional<double>& seconds) {
  return seconds ? fmt::format(" time=\"{:.3f}\"", *seconds) : "";
}

std::string case_text(const JUnitCase& test, const std::string& suite) {
  const std::string opening =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\"{}", escaped(suite),
                  escaped(test.name), time_attribute(test.seconds));
  if (test.outcome == Outcome::passed) return opening + "/>\n";
  const char* element = element_of(test.outcome);
  std::string inside = fmt::format("<{}", element);
  if (!test.type.empty()) inside += fmt::format(" type=\"{}\"", escaped(test.type));
  inside += fmt::format(" message=\"{}\"", escaped(test.message));
  inside +=
      test.details.empty() ? "/>" : fmt::format(">{}</{}>", escaped_lines(test.details), element);
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
    text += fmt::format("  <testsuite name=\"{}\" {}{}>\n", escaped(suite.name),
                        counts_of({&suite, 1}), time_attribute(seconds_of(suite)));
    for (const JUnitCase& test : suite.cases) text += case_text(test, suite.name);
    text += "  </testsuite>\n";
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" "
      "{}{}>\n{}</testsuites>\n",
      escaped(name), counts_of(suites), time_attribute(seconds), text);
}

}  // namespace assay
