#include "oracle/machine.h"

#include <fmt/format.h>

#include "base/errors.h"
#include "oracle/cpu_machine.h"
#include "oracle/cuda/gpu_info.h"

#if defined(ASSAY_CUDA)
#include "oracle/cuda/cuda_machine.h"
#include "oracle/cuda/cuda_reference.h"
#endif

namespace assay {
namespace {

std::unique_ptr<Machine> make_machine(Backend backend) {
#if defined(ASSAY_CUDA)
  if (backend == Backend::cuda) return make_cuda_machine();
#endif
  if (const std::string why = unavailable(backend); !why.empty()) throw Unavailable(why);
  return make_cpu_machine(backend);
}

}  // namespace

std::string unavailable(Backend backend) {
  if (backend != Backend::cuda) return "";
  std::string why = why_no_gpu();
#if defined(ASSAY_CUDA)
  if (why.empty()) why = why_no_cublas();
#endif
  return why;
}

std::string unmet(const Needs& needs) {
  if (needs.compute_capability == 0) return "";
  const int here = least_compute_capability();
  if (here == 0 || needs.compute_capability <= here) return "";
  return fmt::format("it needs sm_{} or newer, and the GPU here is sm_{}", needs.compute_capability,
                     here);
}

Machine& machine_of(Backend backend) {
  thread_local std::array<std::unique_ptr<Machine>, 3> machines;
  auto& machine = machines[static_cast<std::size_t>(backend)];
  if (machine == nullptr) machine = make_machine(backend);
  return *machine;
}

}  // namespace assay
