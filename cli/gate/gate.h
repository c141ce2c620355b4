// `assay gate`: what it can be asked for, and what the timing gate found, as one verdict on all of
// it. A cell that could not be judged never counts as passed, and a number of cells never becomes
// an exit code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "cli/kernel_files.h"
#include "cli/origin.h"
#include "cli/out/conclusion.h"
#include "regress/gate.h"

namespace assay {

struct GateRequest {
  std::vector<std::string> variants;   // empty means all that have a baseline
  KernelFiles files;                   // among them
  std::string baselines;               // the folder
  std::optional<std::string> cell;     // only this one
  std::optional<std::string> explain;  // only this one, with all its numbers
  std::optional<std::string> against;  // a commit, instead of the stored baselines
  std::optional<std::string> base;     // a commit: what it had accepted is compared with
  bool accepted_by_review = false;     // compares with what the change since `base` accepts
  int processes = DecisionRule().confirm_processes;
  bool all = false;  // time also what is proven unchanged
  std::uint64_t seed = 0;
  std::string json, markdown, junit;
  bool quiet = false;
  std::vector<std::string> arguments;
};

void add_flags(Flags&, GateRequest&);

// All that any view of a gate shows.
struct GateResult {
  GateReport report;
  GateRequest request;
  std::string why_not;      // why nothing was measured here
  std::string no_baseline;  // why nothing could be compared
  Origin origin;
};

// The command that measures this cell again.
std::string repeat_line(const GateLine&, const GateRequest&);

inline constexpr int most_processes = 1000;

// The command that gives these variants a baseline; all of them if there are none.
std::string accept_line(const std::vector<std::string>& variants,
                        const std::string& reason = "first baseline");  // in quotes for Markdown
std::string accept_command_line(const std::vector<std::string>& variants,
                                const std::string& reason);

// A line for each thing that is not watched, or not as it would be expected.
std::vector<std::string> notes(const GateReport&);

// The smallest slowdown that this run could have seen, and how many cells were looked at and how.
std::string reach(const GateReport&);

Conclusion conclude(const GateResult&);

}  // namespace assay
