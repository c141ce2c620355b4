// Code that the host loads while it runs, and launches by the driver.
#include <cuda.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "ptx/runtime/cudart/forward.h"

using namespace ptx::cudart;

namespace {

rt::Binary* binary_of(cudaLibrary_t library) { return reinterpret_cast<rt::Binary*>(library); }

CUresult as_driver(ptx::Error error) { return static_cast<CUresult>(error); }

// From an array of pointers, or from a buffer in which they lie as the kernel has them.
ptx::Error launch(CUfunction function, const rt::Configuration& asked, void** arguments,
                  void** extra) {
  if (extra == nullptr) return rt::launch(function, asked, arguments);
  std::byte* buffer = nullptr;
  std::size_t bytes = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = static_cast<std::byte*>(extra[1]);
    if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) bytes = *static_cast<std::size_t*>(extra[1]);
  }
  if (arguments != nullptr || buffer == nullptr) return rt::fail(ptx::Error::invalid_value);
  std::vector<ptx::ParamPlace> places;
  if (const ptx::Error error = rt::parameters_of(function, places); error != ptx::Error::success)
    return error;
  std::vector<void*> within;
  for (const ptx::ParamPlace& place : places) {
    if (place.at + place.bytes > bytes) return rt::fail(ptx::Error::invalid_value);
    within.push_back(buffer + place.at);
  }
  return rt::launch(function, asked, within.data());
}

}  // namespace

extern "C" {

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**,
                                unsigned, cudaLibraryOption*, void**, unsigned) {
  if (library == nullptr) return invalid_value();
  rt::Binary* loaded = nullptr;
  const ptx::Error error = rt::load_library(loaded, code, CUDART_VERSION);
  if (error == ptx::Error::success) *library = reinterpret_cast<cudaLibrary_t>(loaded);
  return as_cuda(error);
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* name,
                                    cudaJitOption* options, void** values, unsigned count,
                                    cudaLibraryOption* more, void** more_values,
                                    unsigned more_count) {
  if (name == nullptr) return invalid_value();
  std::ifstream file(name, std::ios::binary);
  if (!file) return as_cuda(rt::fail(ptx::Error::file_not_found));
  const std::string code{std::istreambuf_iterator<char>(file), {}};
  return cudaLibraryLoadData(library, code.c_str(), options, values, count, more, more_values,
                             more_count);
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return as_cuda(rt::unload_library(binary_of(library)));
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  if (kernel == nullptr) return invalid_value();
  const void* stub = nullptr;
  const ptx::Error error = rt::kernel_of_library(binary_of(library), name, stub);
  if (error == ptx::Error::success) *kernel = static_cast<cudaKernel_t>(const_cast<void*>(stub));
  return as_cuda(error);
}

cudaError_t cudaLibraryGetGlobal(void** address, size_t* bytes, cudaLibrary_t library,
                                 const char* name) {
  return as_cuda(rt::variable_of_library(binary_of(library), name, address, bytes));
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* stub) {
  if (function == nullptr) return invalid_value();
  *function = static_cast<cudaFunction_t>(const_cast<void*>(stub));
  return as_cuda(rt::find_kernel(stub));
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void** arguments, void** extra) {
  return as_driver(launch(function,
                          {.grid = {grid_x, grid_y, grid_z},
                           .block = {block_x, block_y, block_z},
                           .dynamic_shared = shared,
                           .stream = stream},
                          arguments, extra));
}

CUresult cuModuleLoadData(CUmodule* module, const void* code) {
  return static_cast<CUresult>(cudaLibraryLoadData(reinterpret_cast<cudaLibrary_t*>(module), code,
                                                   nullptr, nullptr, 0, nullptr, nullptr, 0));
}
CUresult cuModuleUnload(CUmodule module) {
  return static_cast<CUresult>(cudaLibraryUnload(reinterpret_cast<cudaLibrary_t>(module)));
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return static_cast<CUresult>(cudaLibraryGetKernel(reinterpret_cast<cudaKernel_t*>(function),
                                                    reinterpret_cast<cudaLibrary_t>(module), name));
}

}  // extern "C"
