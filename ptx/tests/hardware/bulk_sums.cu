// Bulk copies that add to what is there, on the machine or on a GPU: what becomes of rounding,
// denormal numbers, infinities and NaN, of integers that wrap, of boxes of tensors, of lanes that
// say the same, and of many blocks at a time.
//
//   on a GPU: nvcc -std=c++20 -I. -arch=sm_90 ptx/tests/hardware/bulk_sums.cu -o sums && ./sums
//
// Prints a line for each scene, and below it what is not as it should be: on an H100, driver
// 580.159.04, CUDA 13.0. Exits with 1 if anything is not.
#include <cuda.h>
#include <cuda_runtime.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

#include "ptx/tests/hardware/scenes.h"

namespace {

using hardware::begin, hardware::checked, hardware::end, hardware::wrong;

void need(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("  %s\n", cudaGetErrorName(error));
  std::exit(2);
}

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ void finish() {
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

#define ADD_BY(name, type)                                                      \
  __device__ void add(name* to, const name* from, int bytes) {                  \
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add." type \
                 " [%0], [%1], %2;" ::"l"(to),                                  \
                 "r"(shared_address(from)), "r"(bytes)                          \
                 : "memory");                                                   \
  }
ADD_BY(float, "f32")
ADD_BY(double, "f64")
ADD_BY(std::uint32_t, "u32")
ADD_BY(std::int32_t, "s32")
ADD_BY(unsigned long long, "u64")

// Lanes below `lanes` of each block add all of `more`, 16 bytes or a multiple of that.
template <class T>
__global__ void add_all(T* to, const T* more, int count, int lanes) {
  __shared__ alignas(128) T tile[256];
  for (int n = threadIdx.x; n < count; n += blockDim.x) tile[n] = more[n];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (static_cast<int>(threadIdx.x) >= lanes) return;
  add(to, tile, count * static_cast<int>(sizeof(T)));
  finish();
}
// A box of 8 x 4 floats.
__global__ void add_box(const __grid_constant__ CUtensorMap map, const float* more, int x, int y) {
  __shared__ alignas(128) float tile[32];
  tile[threadIdx.x] = more[threadIdx.x];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  asm volatile(
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group"
      " [%0, {%1, %2}], [%3];" ::"l"(&map),
      "r"(x), "r"(y), "r"(shared_address(tile))
      : "memory");
  finish();
}

template <class T>
T* on_device(const std::vector<T>& values) {
  T* memory = nullptr;
  need(cudaMalloc(&memory, values.size() * sizeof(T)));
  need(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return memory;
}
template <class T>
std::vector<T> taken_back(T* memory, std::size_t count) {
  std::vector<T> values(count);
  need(cudaDeviceSynchronize());
  need(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
  need(cudaFree(memory));
  return values;
}

using Bits = unsigned long long;
Bits bits(float v) { return std::bit_cast<std::uint32_t>(v); }
Bits bits(double v) { return std::bit_cast<std::uint64_t>(v); }
template <class T>
Bits bits(T v) {
  return static_cast<Bits>(v);
}

template <class T>
void expect(const std::vector<T>& is, const std::vector<T>& wanted) {
  for (std::size_t n = 0; n < wanted.size(); ++n) {
    ++checked;
    if (bits(is[n]) == bits(wanted[n])) continue;
    if (++wrong < 40)
      std::printf("  element %zu: %llx instead of %llx\n", n, bits(is[n]), bits(wanted[n]));
  }
}

template <class T>
std::vector<T> summed(const std::vector<T>& old, const std::vector<T>& more, unsigned blocks = 1,
                      int lanes = 1) {
  T *to = on_device(old), *from = on_device(more);
  add_all<<<blocks, 32>>>(to, from, static_cast<int>(old.size()), lanes);
  const std::vector<T> result = taken_back(to, old.size());
  need(cudaFree(from));
  return result;
}

// Every pair of some values.
template <class T>
void pairs_of(const std::vector<T>& values, T (*sum)(T, T)) {
  std::vector<T> old, more, wanted;
  for (const T a : values)
    for (const T b : values) {
      old.push_back(a), more.push_back(b), wanted.push_back(sum(a, b));
    }
  while (old.size() % 4 != 0) old.push_back(T{}), more.push_back(T{}), wanted.push_back(T{});
  expect(summed(old, more), wanted);
}

template <class T>
T plain_sum(T a, T b) {
  return a + b;
}
float float_sum(float a, float b) {
  const float sum = a + b;
  return std::isnan(sum) ? std::bit_cast<float>(0x7fffffffu) : sum;
}
double double_sum(double a, double b) {
  const double sum = a + b;
  return std::isnan(sum) ? std::bit_cast<double>(0xfff8000000000000ull) : sum;
}
unsigned wrapped_sum(unsigned a, unsigned b) { return a + b; }
int wrapped_sum(int a, int b) {
  return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}

void floats() {
  begin("floats: rounded to nearest, denormal ones stay");
  using Limits = std::numeric_limits<float>;
  pairs_of<float>({0.0f, -0.0f, 1.0f, -1.0f, 0x1p-24f, 0x1.8p-24f, 0x1.000002p0f, Limits::max(),
                   Limits::min(), -0x1.8p-126f, 0x1p-127f, -Limits::denorm_min(),
                   Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()},
                  float_sum);
  end();
}
void doubles() {
  begin("doubles: denormal ones stay");
  using Limits = std::numeric_limits<double>;
  pairs_of<double>(
      {0.0, -0.0, 1.0, -1.0, 0x1p-53, 0x1.8p-53, Limits::max(), Limits::min(), -0x1.8p-1022,
       0x1p-1023, -Limits::denorm_min(), Limits::infinity(), -Limits::infinity()},
      double_sum);
  end();
}
void integers() {
  begin("integers wrap");
  pairs_of<std::uint32_t>({0, 1, 7, 0x80000000u, 0xffffffffu}, wrapped_sum);
  pairs_of<std::int32_t>(
      {0, 1, -7, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}, wrapped_sum);
  pairs_of<Bits>({0, 1, 0xffffffffull, ~0ull}, plain_sum<Bits>);
  end();
}
void many() {
  begin("each lane and each block adds");
  const std::vector<float> old(64, 1.0f), more(64, 2.0f);
  expect(summed(old, more, 1, 32), std::vector<float>(64, 65.0f));
  expect(summed(old, more, 50, 1), std::vector<float>(64, 101.0f));
  expect(summed(old, more, 50, 32), std::vector<float>(64, 3201.0f));
  end();
}

using Encode = decltype(&cuTensorMapEncodeTiled);
Encode encode() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  need(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                        cudaEnableDefault, &found));
  return reinterpret_cast<Encode>(function);
}
// Of 6 rows of 8 floats, 16 floats apart.
void boxes() {
  begin("boxes of tensors: what lies outside is not added to");
  for (const auto& [x, y] : {std::pair(0, 0), {4, 3}, {0, 4}}) {
    std::vector<float> old(96), more(32);
    for (std::size_t n = 0; n < old.size(); ++n) old[n] = static_cast<float>(n);
    for (std::size_t n = 0; n < more.size(); ++n) more[n] = 1000.0f + static_cast<float>(n);
    float *to = on_device(old), *from = on_device(more);
    CUtensorMap map;
    const cuuint64_t sizes[] = {8, 6}, strides[] = {64};
    const cuuint32_t box[] = {8, 4}, steps[] = {1, 1};
    if (encode()(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, to, sizes, strides, box, steps,
                 CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                 CU_TENSOR_MAP_L2_PROMOTION_NONE,
                 CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
      std::exit(2);
    add_box<<<1, 32>>>(map, from, x, y);
    std::vector<float> wanted = old;
    for (int r = 0; r < 4; ++r)
      for (int c = 0; c < 8; ++c)
        if (x + c < 8 && y + r < 6)
          wanted[static_cast<std::size_t>((y + r) * 16 + x + c)] +=
              more[static_cast<std::size_t>(r * 8 + c)];
    expect(taken_back(to, 96), wanted);
    need(cudaFree(from));
  }
  end();
}

}  // namespace

int main() {
  floats();
  doubles();
  integers();
  many();
  boxes();
  return hardware::told();
}
