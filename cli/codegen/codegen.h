// `assay codegen`: what it can be asked for, what the compiler made of kernels, and whether it is
// what was accepted. Every text ends with a line break.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "cli/kernel_files.h"
#include "cli/out/conclusion.h"
#include "cli/out/table.h"
#include "regress/code/compare_code.h"

namespace assay {

struct CodegenRequest {
  std::vector<std::string> kernels;     // by name, or by the stem of their file; empty means all
  KernelFiles files;                    // among them
  std::vector<std::string> in;          // files; empty means this program
  std::optional<std::string> compare;   // a folder of baselines, with which the code is compared
  std::optional<std::string> launches;  // of that commit, in a folder, to compare in place of code
  std::string commit;                   // compares only with what was accepted at this one
  std::string json;
  std::vector<std::string> arguments;
};

void add_flags(Flags&, CodegenRequest&);

struct CodegenResult {
  CodegenRequest request;
  std::vector<CompiledKernel> kernels;  // those asked for, each once
  std::vector<CodeComparison> comparisons;
  std::string why_not;  // why there is nothing to show
};

Conclusion conclude(const CodegenResult&);
std::string codegen_text(const CodegenResult&, const Conclusion&, const Screen&);
std::string json_of(const CodegenResult&, const Conclusion&);

}  // namespace assay
