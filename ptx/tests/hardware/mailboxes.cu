// A warp fills a buffer, another one reads it, five times over, with a mailbox (mbarrier) for
// either way. In the first four kernels all is ordered: by plain stores or cp.async, where every
// lane arrives or one for its warp, after __syncwarp. With the argument `unordered` a lane arrives
// before the others have read, which is a race.
//
// The machine tells them apart. On an H100, racecheck of CUDA 13.0 calls those a race where one
// lane arrives for its warp: compute-sanitizer --tool racecheck mailboxes KERNEL, from 0 to 3.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

enum class By { store, copy };
enum class Arrives { each, one_for_all, one_too_early };

__device__ unsigned in_shared(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ void expect(unsigned long long* mailbox, int arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(in_shared(mailbox)), "r"(arrivals));
}
__device__ void arrive(unsigned long long* mailbox) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(in_shared(mailbox)) : "memory");
}
__device__ void wait(unsigned long long* mailbox, int round) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n@!done bra again;\n}" ::"r"(
          in_shared(mailbox)),
      "r"(round & 1)
      : "memory");
}

template <By by, Arrives arrives>
__global__ void pass_on(const float* from, float* to) {
  __shared__ float buffer[32];
  __shared__ unsigned long long full, empty;
  const int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    expect(&full, 32);
    expect(&empty, arrives == Arrives::each ? 32 : 1);
  }
  __syncthreads();
  float sum = 0;
  for (int round = 0; round < 5; ++round) {
    if (threadIdx.x < 32) {
      wait(&empty, round + 1);  // at first there is nothing to wait for
      if constexpr (by == By::store) {
        buffer[lane] = from[lane];
        arrive(&full);
      } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(in_shared(&buffer[lane])),
                     "l"(from + lane)
                     : "memory");
        asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(in_shared(&full))
                     : "memory");
      }
    } else {
      wait(&full, round);
      if (arrives == Arrives::one_too_early && lane == 0) arrive(&empty);
      sum += buffer[31 - lane];
      __syncwarp();
      if (arrives == Arrives::each || (arrives == Arrives::one_for_all && lane == 0))
        arrive(&empty);
    }
  }
  if (threadIdx.x >= 32) to[lane] = sum;
}

using Kernel = void (*)(const float*, float*);

int run(Kernel kernel) {
  float *from = nullptr, *to = nullptr;
  cudaMalloc(&from, 32 * sizeof(float));
  cudaMalloc(&to, 32 * sizeof(float));
  cudaMemset(from, 0, 32 * sizeof(float));
  kernel<<<1, 64>>>(from, to);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  cudaFree(from);
  cudaFree(to);
  return error == cudaSuccess ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  constexpr Kernel ordered[] = {
      pass_on<By::store, Arrives::each>, pass_on<By::store, Arrives::one_for_all>,
      pass_on<By::copy, Arrives::each>, pass_on<By::copy, Arrives::one_for_all>};
  const std::string word = count > 1 ? words[1] : "";
  if (word == "unordered") return run(pass_on<By::store, Arrives::one_too_early>);
  if (!word.empty()) return run(ordered[std::atoi(words[1]) % 4]);
  for (const Kernel kernel : ordered)
    if (run(kernel) != 0) return 1;
  return 0;
}
