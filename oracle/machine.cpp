#include "oracle/machine.h"

#include <fmt/format.h>

#include <array>

#include "oracle/gpus.h"

namespace assay {

std::string unavailable(Backend backend) {
  if (backend != Backend::cuda) return "";
  const std::string why = why_no_gpu();
  return why.empty() ? why_no_cublas() : why;
}

std::string unmet(const Needs& needs) {
  if (needs.compute_capability == 0) return "";
  const int here = least_compute_capability();
  if (here == 0 || needs.compute_capability <= here) return "";
  return fmt::format("it needs sm_{} or newer, and the GPU here is sm_{}", needs.compute_capability,
                     here);
}

Machine& machine_of(Backend backend, const Resources& resources) {
  struct Kept {
    std::unique_ptr<Machine> machine;
    int gpu = 0;
  };
  thread_local std::array<Kept, 3> kept;
  auto& [machine, gpu] = kept[static_cast<std::size_t>(backend)];
  const bool on_gpu = backend == Backend::cuda;
  if (machine == nullptr || (on_gpu && gpu != resources.gpu)) {
    machine.reset();
    machine = on_gpu ? make_cuda_machine(resources) : make_cpu_machine(backend);
    gpu = resources.gpu;
  }
  return *machine;
}

}  // namespace assay
