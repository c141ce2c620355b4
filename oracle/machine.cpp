#include "oracle/machine.h"

#include "oracle/cpu_machine.h"

namespace assay {

std::string unavailable(Backend backend) {
  return backend == Backend::cuda
             ? "this build has no kernels for a GPU: configure with the preset cuda"
             : "";
}

Machine& machine_of(Backend backend) {
  if (const std::string why = unavailable(backend); !why.empty()) throw BadInput(why);
  thread_local const std::array<std::unique_ptr<Machine>, 2> machines = {
      make_cpu_machine(Backend::simt), make_cpu_machine(Backend::host)};
  return *machines[backend == Backend::simt ? 0 : 1];
}

}  // namespace assay
