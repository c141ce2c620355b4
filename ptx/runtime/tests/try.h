// For host code that returns the first error of its calls.
#pragma once

#include <cuda_runtime.h>

#define TRY(call)                           \
  do {                                      \
    const cudaError_t error = (call);       \
    if (error != cudaSuccess) return error; \
  } while (false)
