// What the functions of the CUDA API share on their way to ptx/runtime/runtime.h. They are hidden
// in each library that links them: nothing here may hold state.
#pragma once

#include <cuda_runtime_api.h>

#include "ptx/runtime/runtime.h"

// Code compiled with --default-stream per-thread calls functions under other names.
#define PTX_ALSO_NAMED(function, name) \
  extern "C" decltype(function) name __attribute__((alias(#function)))
#define PTX_PER_THREAD_STREAM(function) PTX_ALSO_NAMED(function, function##_ptsz)
#define PTX_PER_THREAD_DEFAULT(function) PTX_ALSO_NAMED(function, function##_ptds)

namespace ptx::cudart {

namespace rt = ptx::runtime;

// `function`: that of the API.
inline cudaError_t as_cuda(Error error, const char* function = __builtin_FUNCTION()) {
  if (error == Error::not_permitted) rt::report_forbidden(function);
  return static_cast<cudaError_t>(error);
}
inline cudaError_t invalid_value(const char* function = __builtin_FUNCTION()) {
  return as_cuda(rt::fail(Error::invalid_value), function);
}
inline Dim as_dim(dim3 d) { return {d.x, d.y, d.z}; }

}  // namespace ptx::cudart
