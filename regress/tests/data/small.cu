// Kernels whose machine code the tests read; make-cubins compiles them. Their names are of internal
// linkage, so that their symbols hold the path of the file, as those of real kernels do.
#if !defined(UNROLL)
#define UNROLL 4
#endif

#if defined(ANOTHER)
extern "C" __global__ void another(double* x) {
  __shared__ double first;
  first = x[0];
  __syncthreads();
  x[threadIdx.x] += first;
}
#endif

namespace {

// Shared memory, a barrier, wide accesses, FFMA. 128 * 16 + 64 * 8 bytes.
__global__ void __launch_bounds__(128) staged(const float4* from, const float2* pairs, float* to) {
  __shared__ float4 quads[128];
  __shared__ float2 halves[64];
  const int i = threadIdx.x;
  quads[i] = from[i];
  if (i < 64) halves[i] = pairs[i];
  __syncthreads();
  constexpr int times = UNROLL;
  float sum = 0;
#pragma unroll times
  for (int j = 0; j < 64; ++j) {
    const float4 q = quads[(i + j) % 128];
    const float2 h = halves[j];
    sum = fmaf(q.x, h.x, fmaf(q.w, h.y, sum));
  }
  to[i] = sum;
}

// An array that no register can hold: the stack.
__global__ void spilled(const int* at, float* to) {
  float slots[24] = {};
#pragma unroll 1
  for (int j = 0; j < 24; ++j) slots[at[j] % 24] += 1.5f;
  to[threadIdx.x] = slots[at[threadIdx.x] % 24];
}

}  // namespace
