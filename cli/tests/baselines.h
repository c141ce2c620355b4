// A baseline of one variant, which launches a kernel of a stored cubin.
#pragma once

#include <string>

#include "base/sha256.h"
#include "cli/codegen/codegen.h"
#include "cli/tests/program.h"
#include "regress/store/baseline.h"

namespace assay::tests {

inline const std::string small_90 = ASSAY_REGRESS_DATA "/small_90.cubin";

inline Baseline baseline_of(const std::string& kernel, const std::string& commit) {
  const std::string bytes = text_of(small_90);
  Baseline baseline{.gpu = "h200", .architecture = 90};
  baseline.cubins[sha256(bytes)] = bytes;
  VariantBaseline variant;
  variant.provenance = {.commit = commit,
                        .date = "2026-01-31",
                        .harness = "assay 0.1.0",
                        .compiler = "nvcc 13.0.88",
                        .flags = "-O3",
                        .gpu = "h200",
                        .driver = "1",
                        .runtime = "13.0",
                        .reason = "made up"};
  for (const KernelCode& code : read_cubin(bytes).kernels) {
    if (kernel_name(code.symbol) != kernel) continue;
    variant.cells = {{.problem = {.m = 1, .n = 2, .k = 3},
                      .recipe = {{KernelNode{.kernel = code.symbol, .code = code.code}}},
                      .cubin = sha256(bytes),
                      .time_us = 1}};
  }
  baseline.accepted["naive"] = variant;
  baseline.anchor["naive"] = variant;
  return baseline;
}

}  // namespace assay::tests
