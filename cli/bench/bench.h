// `assay bench`: what it can be asked for, and how fast the variants are. Every text ends with a
// line break.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "cli/out/conclusion.h"
#include "cli/out/table.h"
#include "regress/bench.h"

namespace assay {

struct BenchRequest {
  std::vector<std::string> variants;  // empty means all that run on a GPU
  std::vector<std::string> problems;  // empty means the usual ones
  int processes = 3;
  std::uint64_t seed = 0;
  bool warm = false;
  std::string json;
  bool quiet = false;
  std::vector<std::string> arguments;
};

void add_flags(Flags&, BenchRequest&);

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
