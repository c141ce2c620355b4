// What the timing of variants came to. Every function answers whole lines.
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
  std::string why_not;  // nothing was measured here, because
};

// A result that is wrong fails, however fast it came.
Conclusion conclude(const BenchResult&);

// The card, a table for each problem, and what is to be known of the numbers.
std::string bench_text(const BenchResult&, const Conclusion&, const Screen&);

}  // namespace assay
