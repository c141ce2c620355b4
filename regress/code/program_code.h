// The machine code of this program's own kernels, as nvcc embedded it.
#pragma once

#include <map>
#include <string>

#include "regress/code/cubin.h"

namespace assay {

class ProgramCode {
 public:
  explicit ProgramCode(int architecture);

  struct Kernel {
    std::string cubin;  // SHA-256
    KernelCode code;
  };
  const Kernel* find(const std::string& symbol) const;
  const std::map<std::string, std::string>& cubins() const { return cubins_; }  // by SHA-256

 private:
  std::map<std::string, std::string> cubins_;
  std::map<std::string, Kernel> kernels_;
};

}  // namespace assay
