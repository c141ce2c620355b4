// `assay accept`: what it can be asked for, and what was accepted as the baseline and what was not.
// Every text ends with a line break.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "cli/kernel_files.h"
#include "cli/out/conclusion.h"
#include "cli/out/table.h"
#include "regress/accept.h"

namespace assay {

struct AcceptRequest : AcceptOptions {
  KernelFiles files;                        // among the variants
  std::optional<std::string> moves_anchor;  // becomes move_anchor
  std::vector<std::string> remove;          // gives these up, and measures nothing
  bool dirty = false;                       // accept sources that differ from their commit
  std::optional<std::string> unmeasured;  // recipes and machine code only, as those of this commit
  std::string json;
  std::vector<std::string> arguments;
};

void add_flags(Flags&, AcceptRequest&);

struct AcceptResult {
  AcceptReport report;
  AcceptRequest request;
  std::string why_not;  // why nothing was measured here
  std::vector<std::string> named = {};  // variants; none if all were meant
};

// Fails if a variant was refused, and if one that was named, or every one, was left out.
Conclusion conclude(const AcceptResult&);

std::string accept_text(const AcceptResult&, const Conclusion&, const Screen&);

std::string json_of(const AcceptResult&, const Conclusion&);

}  // namespace assay
