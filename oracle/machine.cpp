#include "oracle/machine.h"

#include "oracle/cpu_machine.h"

#if defined(ASSAY_CUDA)
#include "oracle/cuda_machine.h"
#include "oracle/cuda_reference.h"
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
#if defined(ASSAY_CUDA)
  const std::string why = why_no_gpu();
  return why.empty() ? why_no_cublas() : why;
#else
  return "this build has no kernels for a GPU: configure with the preset cuda";
#endif
}

Machine& machine_of(Backend backend) {
  thread_local std::array<std::unique_ptr<Machine>, 3> machines;
  auto& machine = machines[static_cast<std::size_t>(backend)];
  if (machine == nullptr) machine = make_machine(backend);
  return *machine;
}

}  // namespace assay
