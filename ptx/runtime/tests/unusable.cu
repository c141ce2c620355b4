// Compiled several times, each time with another FUNCTION, and for something else than this
// machine.
#include <cuda_runtime.h>

#include "ptx/runtime/tests/foreign.h"

static __global__ void nothing() {}

int FUNCTION() {
  nothing<<<1, 1>>>();
  return cudaGetLastError();
}
