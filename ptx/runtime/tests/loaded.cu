// Code that the host loads, and launches by the driver, as programs do that write kernels as text.
#include <cuda.h>
#include <cuda_runtime.h>

#include "ptx/runtime/tests/foreign.h"
#include "ptx/runtime/tests/try.h"

namespace foreign {
namespace {

const char* const text = R"(
.version 7.8
.target sm_80
.address_size 64
.visible .entry add(.param .u32 more, .param .u64 to)
{
  .reg .b32 %r<4>; .reg .b64 %d<2>;
  ld.param.u32 %r1, [more];
  ld.param.u64 %d1, [to];
  ld.global.u32 %r2, [%d1];
  add.s32 %r3, %r1, %r2;
  st.global.u32 [%d1], %r3;
  ret;
}
)";

template <class Function>
cudaError_t find_in_driver(const char* name, Function& function) {
  cudaDriverEntryPointQueryResult found;
  return cudaGetDriverEntryPointByVersion(name, reinterpret_cast<void**>(&function), 12000,
                                          cudaEnableDefault, &found);
}

}  // namespace

int loaded(const char* kernel, int more, int* sum) {
  cudaLibrary_t library;
  cudaKernel_t add;
  int* x;
  TRY(cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
  const cudaError_t found = cudaLibraryGetKernel(&add, library, kernel);
  if (found != cudaSuccess) {
    cudaLibraryUnload(library);
    return found;
  }
  TRY(cudaMalloc(&x, sizeof *x));
  TRY(cudaMemset(x, 0, sizeof *x));
  void* arguments[] = {&more, &x};
  TRY(cudaLaunchKernel(reinterpret_cast<const void*>(add), dim3(1), dim3(1), arguments, 0,
                       nullptr));
  TRY(cudaMemcpy(sum, x, sizeof *x, cudaMemcpyDeviceToHost));
  TRY(cudaLibraryUnload(library));
  return cudaFree(x);
}

int loaded_from(const char* file) {
  cudaLibrary_t library;
  TRY(cudaLibraryLoadFromFile(&library, file, nullptr, nullptr, 0, nullptr, nullptr, 0));
  return cudaLibraryUnload(library);
}

int launched_by_driver(int more, std::size_t bytes, int* sum) {
  decltype(&cuModuleLoadData) load;
  decltype(&cuModuleGetFunction) get;
  decltype(&cuModuleUnload) unload;
  decltype(&cuLaunchKernel) launch;
  TRY(find_in_driver("cuModuleLoadData", load));
  TRY(find_in_driver("cuModuleGetFunction", get));
  TRY(find_in_driver("cuModuleUnload", unload));
  TRY(find_in_driver("cuLaunchKernel", launch));
  CUmodule module;
  CUfunction add;
  struct {
    int more;
    int* x;
  } packed{more, nullptr};
  TRY(cudaMalloc(&packed.x, sizeof(int)));
  TRY(cudaMemset(packed.x, 0, sizeof(int)));
  TRY(static_cast<cudaError_t>(load(&module, text)));
  TRY(static_cast<cudaError_t>(get(&add, module, "add")));
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  const auto error = static_cast<cudaError_t>(launch(add, 1, 1, 1, 1, 1, 1, 0, 0, nullptr, extra));
  TRY(cudaMemcpy(sum, packed.x, sizeof *sum, cudaMemcpyDeviceToHost));
  TRY(static_cast<cudaError_t>(unload(module)));
  TRY(cudaFree(packed.x));
  return error;
}

}  // namespace foreign
