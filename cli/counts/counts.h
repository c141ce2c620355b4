// `assay counts`: what it can be asked for, and what variants ask of the hardware. Every text ends
// with a line break.
#pragma once

#include <string>
#include <vector>

#include "cli/flags.h"
#include "cli/kernel_files.h"
#include "cli/out/conclusion.h"
#include "cli/out/table.h"
#include "oracle/counting.h"

namespace assay {

struct CountsRequest {
  std::vector<std::string> variants;  // empty means all that nvcc compiled
  KernelFiles files;                  // among them
  std::string case_text = "m=256 n=256 k=256";
  bool by_line = false;
  std::string json;
  bool quiet = false;
  std::vector<std::string> arguments;
};

struct CountsLine {
  std::string variant;
  Counting counting;
  std::string source = {};  // the words that name the file it comes from; empty for the ladder
  // Of each launch: how its machine code differs from the PTX that was counted, if that is known.
  std::vector<std::string> remarks = {};

  bool is_counted() const { return counting.refusal.empty() && !counting.failure; }
};

struct CountsResult {
  CountsRequest request;
  Case problem;
  std::vector<CountsLine> lines;
};

Conclusion conclude(const CountsResult&);
std::string counts_text(const CountsResult&, const Conclusion&, const Screen&);
std::string json_of(const CountsResult&, const Conclusion&);

// Multiplications and additions of the problem for each byte that threads ask global memory for.
double intensity_asked(const Case&, const ptx::Counts&);
double intensity_moved(const Case&, const ptx::Counts&);
// Of all launches of a variant.
ptx::Counts total_of(const Counting&);

}  // namespace assay
