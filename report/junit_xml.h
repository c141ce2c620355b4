// Results as JUnit XML, which CI servers show: suites of test cases, each with an outcome.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace assay {

struct JUnitCase {
  // An error says that the test could not be made.
  enum class Outcome { passed, failure, error, skipped };

  std::string name;
  std::optional<double> seconds;
  Outcome outcome = Outcome::passed;
  std::string type;     // of a failure or an error
  std::string message;  // why it did not pass
  std::string details;  // whole lines, if any
};

struct JUnitSuite {
  std::string name;
  std::vector<JUnitCase> cases;
};

std::string junit_text(const std::string& name, double seconds, const std::vector<JUnitSuite>&);

}  // namespace assay
