// What the compiler made of kernels, and whether it is what was accepted. Every function answers
// whole lines.
#pragma once

#include <string>
#include <vector>

#include "cli/codegen/codegen.h"
#include "cli/out/conclusion.h"
#include "cli/out/table.h"
#include "regress/code/cubin.h"
#include "regress/store/baseline.h"

namespace assay {

// "tiled<32>" for _ZN5assay46_GLOBAL__N__a87bfd6b_8_tiled_cu_df613392_172245tiledILi32EEEvNS_4GemmE
std::string kernel_name(const std::string& symbol);
// "tiled", the file of that kernel; empty where the symbol does not tell.
std::string kernel_file(const std::string& symbol);
// The names by which it can be asked for: "tiled<32>", "tiled_32", "tiled".
std::vector<std::string> names_of_kernel(const std::string& symbol);

struct CompiledKernel {
  int architecture = 0;
  KernelCode code;
};

// One accepted variant, compared with the kernels at hand.
struct Comparison {
  std::string gpu, variant, commit;
  bool anchor = false;  // what was accepted first, else last
  int kernels = 0;      // that it launches; none where a library does the work
  std::vector<std::string> differences;
};

struct CodegenResult {
  CodegenRequest request;
  std::vector<CompiledKernel> kernels;  // of what was asked for, once each
  std::vector<Comparison> comparisons;
  std::string why_not;  // there is nothing, because
};

// Of every accepted variant, or only of what was accepted of `commit`.
std::vector<Comparison> compare(const Baseline&, const std::string& commit,
                                const std::vector<CompiledKernel>&);

Conclusion conclude(const CodegenResult&);
std::string codegen_text(const CodegenResult&, const Conclusion&, const Screen&);

}  // namespace assay
