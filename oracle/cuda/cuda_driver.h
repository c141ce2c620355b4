// The CUDA driver's functions, looked up at run time: a program linked with libcuda does not start
// on a computer without a driver.
#pragma once

#include <cuda.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <stdexcept>

namespace assay {

template <class Function>
Function* driver_function(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  void* const address = library == nullptr ? nullptr : dlsym(library, name);
  if (address == nullptr) throw std::runtime_error(fmt::format("the CUDA driver has no {}", name));
  return reinterpret_cast<Function*>(address);
}

inline void driver_check(CUresult result, const char* what) {
  if (result != CUDA_SUCCESS)
    throw std::runtime_error(fmt::format("{}: CUDA driver error {}", what, int{result}));
}

// cuda.h renames functions to their newest version by macros; this looks up the new name.
#define ASSAY_DRIVER_NAME(name) #name
#define ASSAY_DRIVER(name) \
  static auto* const name##_ = driver_function<decltype(name)>(ASSAY_DRIVER_NAME(name))

}  // namespace assay
