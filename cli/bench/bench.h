// `assay bench`: what it can be asked for, and how fast the variants are. Every text ends with a
// line break.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "cli/kernel_files.h"
#include "cli/out/conclusion.h"
#include "cli/out/table.h"
#include "regress/bench.h"

namespace assay {

struct BenchRequest {
  std::vector<std::string> variants;  // and files; empty means all that run on a GPU
  KernelFiles files;
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

// A table for each problem, and before the first of them the card. Leaves out the first `shown`
// lines of the report, which were printed before.
std::string tables_text(const BenchResult&, const Screen&, std::size_t shown = 0);
// The rest of the tables, what a reader must know of the numbers, and the verdict.
std::string bench_text(const BenchResult&, const Conclusion&, const Screen&, std::size_t shown = 0);

std::string json_of(const BenchResult&, const Conclusion&);

// Times, and prints each few problems when they are done. What is known by then is in the file too:
// whoever stops it keeps that.
ExitCode run_bench(const BenchRequest&, const BenchOptions&);

}  // namespace assay
