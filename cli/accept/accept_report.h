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

// It fails where a variant that was named was left out, or every one, and where a cell was lost:
// what was asked for is not so.
Conclusion conclude(const AcceptResult&);

std::string accept_text(const AcceptResult&, const Conclusion&, const Screen&);

std::string json_of(const AcceptResult&, const Conclusion&);

}  // namespace assay
