// What atomic additions of floats make of denormal numbers: in global memory they take them for
// zero, those that they find, those that they add and those that come out; in shared memory they do
// not. Prints what each way of adding leaves.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

namespace {

struct Sum {
  float old, more;
};
struct Result {
  unsigned atom, was, red, block, shared, vector;
};

__global__ void add(const Sum* sums, float* memory, Result* results) {
  __shared__ float in_shared;
  const auto [old, more] = sums[blockIdx.x];
  float* const own = memory + blockIdx.x * 8;
  for (int i = 0; i < 8; ++i) own[i] = old;
  in_shared = old;
  Result result;
  result.was = __float_as_uint(atomicAdd(&own[0], more));
  atomicAdd(&own[1], more);
  atomicAdd_block(&own[2], more);
  atomicAdd(&in_shared, more);
  atomicAdd(reinterpret_cast<float4*>(own + 4), make_float4(more, more, more, more));
  __threadfence();
  result.atom = __float_as_uint(own[0]), result.red = __float_as_uint(own[1]);
  result.block = __float_as_uint(own[2]), result.shared = __float_as_uint(in_shared);
  result.vector = __float_as_uint(own[4]);
  results[blockIdx.x] = result;
}

}  // namespace

int main() {
  const std::vector<Sum> sums = {{1e-39f, 1e-39f},      {1e-39f, 0.0f},        {0.0f, 1e-39f},
                                 {-1e-39f, -1e-39f},    {1.5e-38f, -1.2e-38f}, {1.0f, 1e-39f},
                                 {-0.0f, -1e-39f},      {1e-39f, -1e-39f},     {3e-39f, 1e-38f},
                                 {-1.5e-38f, 1.2e-38f}, {-1e-39f, 2e-38f}};
  Sum* on_device = nullptr;
  float* memory = nullptr;
  Result* results = nullptr;
  cudaMalloc(&on_device, sums.size() * sizeof(Sum));
  cudaMalloc(&memory, sums.size() * 8 * sizeof(float));
  cudaMalloc(&results, sums.size() * sizeof(Result));
  cudaMemcpy(on_device, sums.data(), sums.size() * sizeof(Sum), cudaMemcpyHostToDevice);
  add<<<static_cast<unsigned>(sums.size()), 1>>>(on_device, memory, results);
  std::vector<Result> all(sums.size());
  const cudaError_t error =
      cudaMemcpy(all.data(), results, all.size() * sizeof(Result), cudaMemcpyDeviceToHost);
  std::printf("%s\n", cudaGetErrorString(error));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Result& r = all[i];
    std::printf("%g + %g: atom %08x (was %08x) red %08x block %08x shared %08x v4 %08x\n",
                sums[i].old, sums[i].more, r.atom, r.was, r.red, r.block, r.shared, r.vector);
  }
  return error == cudaSuccess ? 0 : 1;
}
