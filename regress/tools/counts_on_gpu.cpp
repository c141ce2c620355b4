// Launches each variant once for each case on this GPU, for a profiler to count, and writes which
// it launched: a line "VARIANT<tab>CASE" for each, in their order. `ci/count-on-gpu` runs it.
//
//   counts_on_gpu FILE CASE...
//
// Memory is what cudaMalloc gives, plus the offsets of the case, as `assay counts` has it. What a
// variant refuses is left out, and so is cublas, whose kernels `assay counts` does not run.
#include <fmt/format.h>

#include <fstream>

#include "kernels/registry.h"
#include "oracle/case.h"
#include "oracle/cuda/device_array.h"
#include "oracle/operands.h"

namespace {

using namespace assay;

bool launch_once(const Entry& entry, const Case& c) {
  const Operands images = operands_of_allocations(c);
  const auto &a = images.images[0], &b = images.images[1], &written = images.images[2];
  const DeviceArray<float> on_gpu[] = {DeviceArray<float>(a.floats), DeviceArray<float>(b.floats),
                                       DeviceArray<float>(written.floats)};
  const Gemm gemm = gemm_of(c, on_gpu[0].get() + a.first, on_gpu[1].get() + b.first,
                            on_gpu[2].get() + written.first);
  if (!refusal(entry.variant, gemm).empty()) return false;
  const DeviceArray<std::byte> workspace(workspace_of(entry.variant, gemm));
  cuda_check(entry.variant.launch(gemm, nullptr, workspace.get()), entry.variant.name);
  cuda_check(cudaDeviceSynchronize(), entry.variant.name);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "counts_on_gpu: give a file for the list of launches, and cases\n");
    return 2;
  }
  try {
    std::ofstream launched(argv[1]);
    for (int i = 2; i < argc; ++i) {
      const Case c = parse_case(argv[i]);
      for (const Entry& entry : registered()) {
        if (entry.backend != Backend::cuda || std::string_view(entry.variant.name) == "cublas")
          continue;
        if (launch_once(entry, c)) launched << entry.variant.name << '\t' << to_string(c) << '\n';
      }
    }
    launched.flush();
    if (launched) return 0;
    fmt::print(stderr, "counts_on_gpu: {} cannot be written\n", argv[1]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "counts_on_gpu: {}\n", error.what());
  }
  return 2;
}
