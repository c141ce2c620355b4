// A check as JSON.
#pragma once

#include <string>

#include "cli/check/conclusion.h"

namespace assay {

std::string json_of(const CheckReport&, const Conclusion&);

}  // namespace assay
