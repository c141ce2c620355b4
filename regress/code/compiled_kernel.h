// Kernels as the compiler left them in programs, libraries and objects, and the names by which a
// person asks for one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "regress/code/cubin.h"

namespace assay {

struct CompiledKernel {
  int architecture = 0;  // 90 stands for sm_90
  KernelCode code;
};

// Every kernel in these files, each once. Throws BadInput for a file that cannot be read.
std::vector<CompiledKernel> kernels_in(const std::vector<std::string>& files);

// The kernels with one of these names; all, if there are none. Throws BadInput that suggests the
// near ones for a name that no kernel has.
std::vector<CompiledKernel> kernels_named(const std::vector<CompiledKernel>&,
                                          const std::vector<std::string>& names);

// "tiled<32>" for _ZN5assay46_GLOBAL__N__a87bfd6b_8_tiled_cu_df613392_172245tiledILi32EEEvNS_4GemmE
std::string kernel_name(const std::string& symbol);
// "tiled", the file of that kernel; empty where the symbol does not have it.
std::string kernel_file(const std::string& symbol);
// The names by which it can be asked for: "tiled<32>", "tiled_32", "tiled".
std::vector<std::string> names_of_kernel(const std::string& symbol);

// The machine code that nvcc embedded in this program, or in the libraries whose kernels it judges.
class ProgramCode {
 public:
  // Throws BadInput where two libraries each have a kernel of one name: a launch does not tell
  // which.
  ProgramCode(int architecture, const std::vector<std::string>& libraries);

  struct Kernel {
    std::string cubin;  // SHA-256
    KernelCode code;
  };
  const Kernel* find(const std::string& symbol) const;
  const std::map<std::string, std::string>& cubins() const { return cubins_; }  // by SHA-256

 private:
  void add(const std::string& file, int architecture);
  std::map<std::string, std::string> cubins_;
  std::map<std::string, Kernel> kernels_;
};

}  // namespace assay
