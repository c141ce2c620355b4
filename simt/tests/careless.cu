// What compilers warn of and authors leave: nvcc takes it, so it must compile here too.
#include <cuda_runtime.h>

__global__ void careless_kernel(float* out, unsigned n) {
  int never_used;
  for (int i = 0; i < n; ++i) out[i] = 1;
}
