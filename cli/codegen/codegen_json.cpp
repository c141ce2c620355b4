#include "cli/codegen/codegen_json.h"

#include "cli/out/json.h"

namespace assay {
namespace {

JsonValue json_of(const CompiledKernel& kernel) {
  const KernelCode& code = kernel.code;
  return {{"name", kernel_name(code.symbol)},
          {"symbol", code.symbol},
          {"file", kernel_file(code.symbol)},
          {"architecture", kernel.architecture},
          {"code", code.code},
          {"registers", code.registers},
          {"stack_bytes", code.stack_bytes},
          {"shared_bytes", code.shared_bytes},
          {"barriers", code.barriers},
          {"instructions", code.instructions}};
}

JsonValue json_of(const CodeComparison& c) {
  return {{"gpu", c.gpu},       {"variant", c.variant}, {"anchor", c.anchor},
          {"commit", c.commit}, {"kernels", c.kernels}, {"differences", c.differences}};
}

}  // namespace

std::string json_of(const CodegenResult& result, const Conclusion& conclusion) {
  const auto described = [](const auto& one) { return json_of(one); };
  return json_text("codegen", {{"argv", result.request.arguments},
                               {"verdict", conclusion.word},
                               {"summary", conclusion.text()},
                               {"exit_code", static_cast<int>(conclusion.code)},
                               {"kernels", json_list(result.kernels, described)},
                               {"comparisons", json_list(result.comparisons, described)}});
}

}  // namespace assay
