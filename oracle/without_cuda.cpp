// A build without CUDA: everything that the rest of the program asks of a GPU, which is not there.
#include "base/errors.h"
#include "oracle/gpus.h"
#include "oracle/machine.h"
#include "oracle/trial.h"

namespace assay {

std::string why_no_gpu() {
  return "this build has no kernels for a GPU: configure with the preset cuda";
}
std::string why_no_cublas() { return why_no_gpu(); }
int gpu_count() { return 0; }
int least_compute_capability() { return 0; }
double least_free_gibibytes() { return 0; }
std::vector<GpuFact> describe_gpus() { return {}; }
std::unique_ptr<Machine> make_cuda_machine(const Resources&) { throw Unavailable(why_no_gpu()); }
Verdict run_large_trial(const Entry&, const Case&, const Resources&) {
  throw Unavailable(why_no_gpu());
}

}  // namespace assay
