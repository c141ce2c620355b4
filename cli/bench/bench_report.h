// How fast variants are, as text and as JSON. Every text ends with a line break.
#pragma once

#include <string>

#include "cli/bench/bench.h"
#include "cli/out/conclusion.h"
#include "cli/out/table.h"
#include "regress/bench.h"

namespace assay {

struct BenchResult {
  BenchReport report;
  BenchRequest request;
  std::string why_not;  // why nothing was measured here
};

// A wrong result fails, however fast it came.
Conclusion conclude(const BenchResult&);

// The card, a table for each problem, and what a reader must know of the numbers.
std::string bench_text(const BenchResult&, const Conclusion&, const Screen&);

std::string json_of(const BenchResult&, const Conclusion&);

}  // namespace assay
