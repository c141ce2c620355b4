// What the compiler made of kernels, and whether it is what was accepted, as people read it. Every
// text ends with a line break.
#pragma once

#include <string>
#include <vector>

#include "cli/codegen/codegen.h"
#include "cli/out/conclusion.h"
#include "cli/out/table.h"
#include "regress/code/compare_code.h"

namespace assay {

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
