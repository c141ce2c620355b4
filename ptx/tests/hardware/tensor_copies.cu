// Tensor copies (TMA), on the machine or on a GPU: boxes with every swizzle, inside their tensor,
// across each of its edges and beyond, loaded and stored; a GEMM; and copies that both call an
// illegal instruction (715), each in a process of its own, as a fault costs a process its device.
//
//   on a GPU: nvcc -std=c++20 -arch=sm_90 -I. ptx/tests/hardware/tensor_copies.cu -o tensor_copies
//
// Prints what is not as the machine should have it; exits with 1 if anything is not.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "ptx/tests/foreign/kernels/tensor_tiles.cuh"

namespace {

enum End { as_it_should, wrong, fault };

void check(cudaError_t error, cudaError_t wanted = cudaSuccess) {
  if (error == wanted) return;
  std::printf("%s instead of %s\n", cudaGetErrorName(error), cudaGetErrorName(wanted));
  std::fflush(stdout);
  _exit(fault);
}

// Whole pieces of 16 bytes are written: of the last one of a row two words lie behind it.
constexpr int rows = 6, cols = 42, cols_written = 44, pitch = 48, tile_words = 1024;
constexpr float untouched = -7;

struct Box {
  int swizzled_bytes = 0, height = 0, x = 0, y = 0;
  bool is_stored = false;

  int width() const { return swizzled_bytes == 0 ? 8 : swizzled_bytes / 4; }
  int words() const { return width() * height; }
  bool is_illegal() const { return x % 4 != 0 || (is_stored && (x < 0 || y < 0)); }
  // Where word n lies in shared memory.
  int place(int n) const {
    const int pieces = swizzled_bytes == 0 ? 1 : swizzled_bytes / 16, byte = 4 * n;
    return (byte ^ (byte / 128 % pieces) * 16) / 4;
  }
  // Which element of the tensor word n is; -1: none.
  int element(int n) const {
    const int col = x + n % width(), row = y + n / width(), end = is_stored ? cols_written : cols;
    return col < 0 || col >= end || row < 0 || row >= rows ? -1 : row * pitch + col;
  }
  void print() const {
    std::printf("%s a box of %d x %d at %d, %d, swizzle %d: ", is_stored ? "store" : "load",
                width(), height, x, y, swizzled_bytes);
  }
};

__global__ void load(const __grid_constant__ CUtensorMap map, int x, int y, int words, float* out) {
  __shared__ alignas(1024) float tile[tile_words];
  __shared__ alignas(8) uint64_t bar;
  for (int i = threadIdx.x; i < tile_words; i += blockDim.x) tile[i] = untouched;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(tma_smem(&bar)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(tma_smem(&bar)),
                 "r"(words * 4)
                 : "memory");
    tma_load(tile, &map, x, y, &bar);
  }
  tma_wait(&bar, 0);
  for (int i = threadIdx.x; i < tile_words; i += blockDim.x) out[i] = tile[i];
}

__global__ void store(const __grid_constant__ CUtensorMap map, int x, int y) {
  __shared__ alignas(1024) float tile[tile_words];
  for (int i = threadIdx.x; i < tile_words; i += blockDim.x) tile[i] = 1000 + i;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
      "r"(x), "r"(y), "r"(tma_smem(tile))
      : "memory");
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

float* on_device(const std::vector<float>& values) {
  float* made = nullptr;
  check(cudaMalloc(&made, values.size() * sizeof(float)));
  check(cudaMemcpy(made, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
  return made;
}
std::vector<float> from_device(const float* values, std::size_t count) {
  std::vector<float> copy(count);
  check(cudaMemcpy(copy.data(), values, count * sizeof(float), cudaMemcpyDeviceToHost));
  return copy;
}

CUtensorMap map_of(const Box& box, float* tensor) {
  CUtensorMap map{};
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult found;
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000,
                                         cudaEnableDefault, &found));
  const cuuint64_t size[] = {cols, rows}, stride[] = {pitch * 4};
  const cuuint32_t part[] = {static_cast<cuuint32_t>(box.width()),
                             static_cast<cuuint32_t>(box.height)},
                   step[] = {1, 1};
  const CUtensorMapSwizzle swizzle = box.swizzled_bytes == 0    ? CU_TENSOR_MAP_SWIZZLE_NONE
                                     : box.swizzled_bytes == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                     : box.swizzled_bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                                                : CU_TENSOR_MAP_SWIZZLE_128B;
  const CUresult made = reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(encode)(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, tensor, size, stride, part, step,
      CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (made != CUDA_SUCCESS) check(cudaErrorUnknown);
  return map;
}

End copied(const Box& box) {
  std::vector<float> wanted(rows * pitch), tile(tile_words, untouched);
  for (int i = 0; i < rows * pitch; ++i) wanted[i] = i + 1;
  float *const tensor = on_device(wanted), *const out = on_device(tile);
  if (box.is_stored)
    store<<<1, 32>>>(map_of(box, tensor), box.x, box.y);
  else
    load<<<1, 32>>>(map_of(box, tensor), box.x, box.y, box.words(), out);
  check(cudaDeviceSynchronize(), box.is_illegal() ? cudaErrorIllegalInstruction : cudaSuccess);
  if (box.is_illegal()) return as_it_should;
  for (int n = 0; n < box.words(); ++n) {
    const int element = box.element(n);
    if (!box.is_stored)
      tile[box.place(n)] = element < 0 ? 0 : wanted[element];
    else if (element >= 0)
      wanted[element] = 1000 + box.place(n);
  }
  const bool is_right =
      from_device(tensor, wanted.size()) == wanted && from_device(out, tile.size()) == tile;
  check(cudaFree(tensor));
  check(cudaFree(out));
  if (!is_right) box.print(), std::printf("copied otherwise\n");
  return is_right ? as_it_should : wrong;
}

End multiplied() {
  constexpr int M = 50, N = 36, K = 76;
  std::vector<float> a(M * K), b(K * N), c(M * N);
  for (int i = 0; i < M * K; ++i) a[i] = i * 7 % 5 - 2;
  for (int i = 0; i < K * N; ++i) b[i] = i * 5 % 7 - 3;
  for (int i = 0; i < M * N; ++i) c[i] = i % 4;
  float *const da = on_device(a), *const db = on_device(b), *const dc = on_device(c);
  sgemm_tma<<<dim3((N + 31) / 32, (M + 31) / 32), dim3(32, 32)>>>(
      make_map(da, M, K, CU_TENSOR_MAP_SWIZZLE_128B),
      make_map(db, K, N, CU_TENSOR_MAP_SWIZZLE_NONE),
      make_map(dc, M, N, CU_TENSOR_MAP_SWIZZLE_NONE), dc, M, N, K, 2, 3);
  check(cudaDeviceSynchronize());
  for (int i = 0; i < M * N; ++i) {
    float sum = 0;
    for (int k = 0; k < K; ++k) sum += a[i / N * K + k] * b[k * N + i % N];
    c[i] = 2 * sum + 3 * c[i];
  }
  const bool is_right = from_device(dc, c.size()) == c;
  if (!is_right) std::printf("the product is wrong\n");
  return is_right ? as_it_should : wrong;
}

template <class Work>
End in_a_process(const Work& work) {
  std::fflush(stdout);
  const pid_t child = fork();  // before the runtime is called
  if (child == 0) {
    const End end = work();
    std::fflush(stdout);
    _exit(end);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? static_cast<End>(WEXITSTATUS(status)) : fault;
}

std::vector<Box> boxes(bool illegal) {
  std::vector<Box> all;
  for (const int height : {4, 24})  // within the tensor's rows, and more than it has
    for (const int swizzled : {0, 32, 64, 128})
      for (const bool is_stored : {false, true})
        for (const int y : {0, 3, -2, 6, 7})
          for (const int x : {0, 4, 5, -3, -4, -32, 40, 42, 44, 48}) {
            const Box box{swizzled, height, x, y, is_stored};
            // Few of those that take a process.
            if (box.is_illegal() == illegal && (!illegal || (height == 4 && y < 3)))
              all.push_back(box);
          }
  return all;
}

}  // namespace

int main() {
  const std::vector<Box> legal = boxes(false), illegal = boxes(true);
  bool is_right = in_a_process([&] {
                    End end = multiplied();
                    for (const Box& box : legal)
                      if (copied(box) != as_it_should) end = wrong;
                    return end;
                  }) == as_it_should;
  for (const Box& box : illegal)
    if (in_a_process([&] { return copied(box); }) != as_it_should) box.print(), is_right = false;
  std::printf("%zu boxes copied, %zu refused: %s\n", legal.size(), illegal.size(),
              is_right ? "all as they should" : "FAIL");
  return is_right ? 0 : 1;
}
