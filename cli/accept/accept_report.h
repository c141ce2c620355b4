// What was accepted as the baseline and what was not, as text and as JSON. Every text ends with a
// line break.
#pragma once

#include <string>

#include "cli/accept/accept.h"
#include "cli/out/conclusion.h"
#include "cli/out/table.h"
#include "regress/accept.h"

namespace assay {

struct AcceptResult {
  AcceptReport report;
  AcceptRequest request;
  std::string why_not;  // why nothing was measured here
};

// Fails if a variant that was named, or every variant, was left out, and if a cell was lost.
Conclusion conclude(const AcceptResult&);

std::string accept_text(const AcceptResult&, const Conclusion&, const Screen&);

std::string json_of(const AcceptResult&, const Conclusion&);

}  // namespace assay
