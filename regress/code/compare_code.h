// Compares machine code with what was accepted: a change is seen here without a GPU.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "regress/code/compiled_kernel.h"
#include "regress/store/baseline.h"

namespace assay {

// Which counts differ, such as "registers 40 -> 48, FFMA 512 -> 256"; empty if none does.
std::string difference(const KernelCode& before, const KernelCode& now);

// The accepted code of a kernel; nothing where the baseline does not have it.
std::optional<KernelCode> accepted_kernel(const Baseline&, const std::string& cubin,
                                          const std::string& symbol);

// One accepted variant, compared with the kernels at hand.
struct CodeComparison {
  std::string gpu, variant, commit;
  bool anchor = false;                   // compares what was accepted first, not last
  int kernels = 0;                       // that it launches; none where a library does the work
  std::vector<std::string> differences;  // one sentence for each kernel that is not the same
};

// Compares every accepted variant, or only what was accepted of `commit`.
std::vector<CodeComparison> compare_code(const Baseline&, const std::string& commit,
                                         const std::vector<CompiledKernel>&);

// Compares the launches of what was accepted of `commit` with those of `rebuilt`, which holds what
// that commit launches on the same GPU.
std::vector<CodeComparison> compare_launches(const Baseline&, const std::string& commit,
                                             const Baseline& rebuilt);

// The same for every GPU that both folders of baselines have.
std::vector<CodeComparison> compare_launches_of_all(const std::filesystem::path& baselines,
                                                    const std::string& commit,
                                                    const std::filesystem::path& rebuilt);

// compare_code for every GPU of a folder of baselines. Throws NoBaseline where it has none.
std::vector<CodeComparison> compare_code_with_all(const std::filesystem::path& baselines,
                                                  const std::string& commit,
                                                  const std::vector<CompiledKernel>&);

}  // namespace assay
