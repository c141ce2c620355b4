// What was accepted, as JSON.
#pragma once

#include <string>

#include "cli/accept/accept_report.h"

namespace assay {

std::string json_of(const AcceptResult&, const Conclusion&);

}  // namespace assay
