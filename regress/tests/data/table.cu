// A kernel that reads constants and variables of its file, and one that jumps by a table of its
// own; make-cubins compiles them.
#if !defined(THIRD)
#define THIRD 3.0f
#endif
#if !defined(FACTOR)
#define FACTOR 2.5f
#endif
#if !defined(SHIFT)
#define SHIFT 1.0f
#endif
__constant__ float table[4] = {1, 2, THIRD, 4};
__device__ float shift = SHIFT;
__device__ float* where_shift_is = &shift;

extern "C" __global__ void look_up(const int* at, float* to) {
  to[threadIdx.x] = FACTOR * table[at[threadIdx.x]] + *where_shift_is;
}

extern "C" __global__ void choose(int* at) {
  switch (at[0]) {
    case 0:
      at[1] = at[2];
      break;
    case 1:
      __syncthreads();
      break;
    case 2:
      at[2] = clock();
      break;
    case 3:
      __threadfence();
      break;
    case 4:
      atomicAdd(at + 3, 1);
      break;
    case 5:
      at[4] = at[5] / at[6];
      break;
    case 6:
      __trap();
  }
}
