#include "regress/code/program_code.h"

namespace assay {

ProgramCode::ProgramCode(int architecture) {
  for (const std::string& bytes : cubins_in("/proc/self/exe")) {
    const Cubin cubin = read_cubin(bytes);
    if (cubin.architecture != architecture) continue;
    const std::string hash = sha256(bytes);
    cubins_.emplace(hash, bytes);
    for (const KernelCode& code : cubin.kernels) kernels_[code.symbol] = {hash, code};
  }
}

const ProgramCode::Kernel* ProgramCode::find(const std::string& symbol) const {
  const auto found = kernels_.find(symbol);
  return found == kernels_.end() ? nullptr : &found->second;
}

}  // namespace assay
