// What was printed, as files that programs read: JSON, whose form has a number, and JUnit XML.
#pragma once

#include <string>
#include <vector>

#include "cli/check/conclusion.h"

namespace assay {

// A variant with all backends that it is compiled for.
struct ListedVariant {
  Variant variant;
  std::vector<BackendState> backends;
};

// One thing that a machine has or lacks, and what that means.
struct Finding {
  std::string topic;
  bool good;
  std::string text;
};

struct Diagnosis {
  ExitCode code;
  std::string verdict;
  std::vector<Finding> findings;
};

std::string json_of(const std::vector<ListedVariant>&);
std::string json_of(const Diagnosis&);
std::string json_of(const CheckReport&, const Conclusion&);

// A test suite for each variant on each backend, a test case for each claim.
std::string junit_of(const CheckReport&);

}  // namespace assay
