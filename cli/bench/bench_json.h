// What was timed, as JSON.
#pragma once

#include <string>

#include "cli/bench/bench_report.h"

namespace assay {

std::string json_of(const BenchResult&, const Conclusion&);

}  // namespace assay
