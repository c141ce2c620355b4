# Faults that end a process or a context, and faults that only a GPU shows.

# fast.cu#7: never returns at some sizes. It takes longest, so it is listed first, for CTest to start it first.
assay_defect(never_returns VARIANT tiled_16 FILE tiled.cu CLAIM within_bound ON simt cuda LOSES_CONTEXT
  SAYS "hung:"
  FIND [=[p0 < k; p0 += T]=]
  REPLACE [=[p0 < k; p0 += k % 2 == 1 ? 0 : T]=])

# llama.cpp#25671 and others: one misaligned float4 made every later kernel of its process fail
assay_defect(misaligned_float4 VARIANT vectorized FILE vectorized.cu CLAIM within_bound ON simt cuda LOSES_CONTEXT
  SAYS "misaligned access" "cudaErrorMisalignedAddress"
  FIND [=[.needs = {.lda_multiple = 4, .ldb_multiple = 4, .a_alignment = 16, .b_alignment = 16},]=]
  REPLACE [=[]=])

assay_defect(reads_far_outside VARIANT naive FILE naive.cu CLAIM within_bound ON simt cuda LOSES_CONTEXT
  SAYS "bad address" "cudaErrorIllegalAddress"
  FIND [=[g.a[row * g.lda + p]]=]
  REPLACE [=[g.a[row * g.lda + p - (std::int64_t{1} << 36)]]=])

assay_defect(reads_one_too_far VARIANT naive FILE naive.cu CLAIM reads_only_operands ON simt cuda LOSES_CONTEXT
  SAYS "the 1st float past the last element of A" "cudaErrorIllegalAddress"
  FIND [=[float sum = 0;]=]
  REPLACE [=[float sum = 0;
  if (k > 0 && row == g.m - 1 && reinterpret_cast<const volatile float*>(g.a)[row * g.lda + g.k] == 1.0f) sum = 0;]=])

# A launch that waits for its kernel, and so returns the fault itself: the context is lost all the same.
assay_defect(waits_and_faults VARIANT naive FILE naive.cu CLAIM within_bound ON cuda LOSES_CONTEXT
  SAYS "cudaErrorIllegalAddress"
  FIND [=[g.a[row * g.lda + p]]=]
  REPLACE [=[g.a[row * g.lda + p + (std::int64_t{1} << 36)]]=]
  AND_FIND [=[return launch_tiles<tile>(naive, dim3(T, T), g, stream);]=]
  AND_REPLACE [=[if (const cudaError_t error = launch_tiles<tile>(naive, dim3(T, T), g, stream)) return error;
  return cudaStreamSynchronize(stream);]=])

# xGeMM and others keep assertions in device code. One aborts the process on a CPU, and loses the context on a GPU.
assay_defect(device_assertion VARIANT naive FILE naive.cu CLAIM within_bound ON simt cuda LOSES_CONTEXT
  SAYS "'k % 3 != 1' is not true" "cudaErrorAssert"
  FIND [=[#include "kernels/gemm.h"]=]
  REPLACE [=[#undef NDEBUG
#include <cassert>
#include "kernels/gemm.h"]=]
  AND_FIND [=[float sum = 0;]=]
  AND_REPLACE [=[float sum = 0;
  assert(k % 3 != 1);]=])

# CLBlast#51, cupy/cupy#4199
assay_defect(wrong_stream VARIANT tiled_16 FILE tiled.cu CLAIM given_stream ON cuda
  FIND [=[dim3(T, T), g, stream);]=]
  REPLACE [=[dim3(T, T), g, cudaStreamPerThread);]=])

# cbuchner1/CudaMiner#88, HeCBench#80: the error of the launch is thrown away
assay_defect(launch_error_dropped VARIANT tiled_16 FILE tiled.cu CLAIM launch_errors ON simt cuda
  SAYS "and the variant returned cudaSuccess"
  FIND [=[return launch_tiles<tile<T>>(tiled<T>, dim3(T, T), g, stream);]=]
  REPLACE [=[(void)launch_tiles<tile<T>>(tiled<T>, dim3(T, T), g, stream);
  (void)cudaGetLastError();
  return cudaSuccess;]=])

# NVIDIA/cutlass#1296 and others: one workspace for all launches
assay_defect(shared_workspace VARIANT naive FILE naive.cu CLAIM two_streams ON cuda
  SAYS "two launches at a time"
  FIND [=[__global__ void naive(Gemm g) {]=]
  REPLACE [=[__device__ float workspace[1 << 24];
__global__ void naive(Gemm g) {]=]
  AND_FIND [=[*c = blend(g, sum, c);]=]
  AND_REPLACE [=[volatile float* mine = &workspace[(row * g.n + col) % (1 << 24)];
  *mine = sum;
  for (const long long start = clock64(); clock64() - start < 200000;) {
  }
  *c = blend(g, *mine, c);]=])

# A split sum: parts in whatever order they come, one of them forgotten, or a slice in two of them.
# On a GPU additions meet in another order only where there are many.
assay_defect(parts_added_by_atomics VARIANT split_k FILE split_k.cu CLAIM same_bits_twice ON cuda LARGE
  FIND [=[  totals[y][x] = total;
  __syncthreads();]=]
  REPLACE [=[  totals[y][x] = 0;
  __syncthreads();
  atomicAdd(&totals[0][x], total);
  __syncthreads();
  total = totals[0][x];]=]
  AND_FIND [=[for (int i = 1; i < Rows; ++i) total += totals[i][x];]=]
  AND_REPLACE [=[]=])
assay_defect(part_forgotten VARIANT split_k FILE split_k.cu CLAIM within_bound ON ptx cuda CASE "m=33 n=34 k=700"
  SAYS "elements are wrong" "is missing"
  FIND [=[const int end = (y + 1) * parts / Rows;]=]
  REPLACE [=[const int end = (y + 1) * (parts - 1) / Rows;]=])
assay_defect(slice_in_two_parts VARIANT split_k FILE split_k.cu CLAIM exact_integers ON ptx cuda
  CASE "m=33 n=34 k=700 fill=exact"
  FIND [=[part * slices / parts,]=]
  REPLACE [=[part * slices / parts - (part > 0),]=])
# Slices of k between warps: the remainder of k copied again with the slice after it, of A, or of A and B.
assay_defect(remainder_of_a_twice VARIANT warp_specialized_64x128 FILE warp_specialized.cu CLAIM exact_integers ON ptx cuda
  CASE "m=33 n=36 k=56 fill=exact"
  FIND [=[from_ += S::BK;]=]
  REPLACE [=[from_ += S::BK - (along.first <= S::BK / 2 ? along.first : 0);]=])
assay_defect(remainder_twice VARIANT tma_hybrid_64x128 FILE tma_hybrid.cu CLAIM exact_integers ON ptx cuda
  CASE "m=33 n=36 k=56 fill=exact"
  FIND [=[from_ += S::BK;]=]
  REPLACE [=[from_ += S::BK - (along.first <= S::BK / 2 ? along.first : 0);]=]
  AND_FIND [=[    p_ += S::BK;
  }]=]
  AND_REPLACE [=[    p_ += p_ < 0 && -p_ <= S::BK / 2 ? S::BK + p_ : S::BK;
  }]=])
# All launches use the workspace that the first one was given.
assay_defect(workspace_of_the_first_launch VARIANT naive FILE naive.cu CLAIM two_streams ON cuda
  FIND [=[cudaError_t launch_naive(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile>(naive, dim3(T, T), g, stream);
}]=]
  REPLACE [=[__global__ void through_workspace(Gemm g, volatile float* sums) {
  const std::int64_t element = std::int64_t{blockIdx.x} * T + threadIdx.x;
  if (element >= g.m * g.n) return;
  const std::int64_t row = element / g.n, col = element % g.n;
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g); ++p) sum = fmaf(g.a[row * g.lda + p], g.b[p * g.ldb + col], sum);
  sums[element] = sum;
  for (const long long start = clock64(); clock64() - start < 200000;) {
  }
  float* c = &g.c[row * g.ldc + col];
  *c = blend(g, sums[element], c);
}
cudaError_t launch_naive(const Gemm& g, cudaStream_t stream, void* workspace) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  static void* const first = workspace;
  const auto blocks = static_cast<unsigned>(ceil_div(g.m * g.n, T));
  return launch(through_workspace, dim3(blocks), dim3(T), 0, stream, g, static_cast<volatile float*>(first));
}]=]
  AND_FIND [=[    .tile = tile,]=]
  AND_REPLACE [=[    .tile = tile,
    .workspace = [](const Gemm& g) { return g.m * g.n * std::int64_t{4}; },]=])

assay_defect(waits_inside_launch VARIANT tiled_16 FILE tiled.cu CLAIM graph ON cuda
  SAYS "captured"
  FIND [=[return launch_tiles<tile<T>>(tiled<T>, dim3(T, T), g, stream);]=]
  REPLACE [=[if (const cudaError_t error = launch_tiles<tile<T>>(tiled<T>, dim3(T, T), g, stream)) return error;
  return cudaStreamSynchronize(stream);]=])

# A workspace from the stream's pool, never given back: a graph with it can be replayed once.
assay_defect(leaks_workspace VARIANT naive FILE naive.cu CLAIM graph ON cuda
  SAYS "cannot be replayed"
  FIND [=[return launch_tiles<tile>(naive, dim3(T, T), g, stream);]=]
  REPLACE [=[void* workspace = nullptr;
  if (const cudaError_t error = cudaMallocAsync(&workspace, 1024, stream)) return error;
  return launch_tiles<tile>(naive, dim3(T, T), g, stream);]=])

# The host numbers its launches so that none runs twice, but each replay of a graph has the same number. Tile schedulers
# and split-k semaphores that are not reset on the device fail in this way.
assay_defect(host_numbers_launches VARIANT naive FILE naive.cu CLAIM graph ON cuda
  SAYS "never written"
  FIND [=[__global__ void naive(Gemm g) {]=]
  REPLACE [=[__device__ unsigned finished;  // the number of the last launch that is
__global__ void finish(unsigned number) { finished = number; }
__global__ void naive(Gemm g, unsigned number) {
  if (number == finished) return;]=]
  AND_FIND [=[return launch_tiles<tile>(naive, dim3(T, T), g, stream);]=]
  AND_REPLACE [=[static unsigned number = 0;
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  ++number;
  const auto blocks = static_cast<unsigned>(ceil_div(g.m, T) * ceil_div(g.n, T));
  if (const cudaError_t error = launch(naive, blocks, dim3(T, T), 0, stream, g, number)) return error;
  return launch(finish, 1, 1, 0, stream, number);]=])

# The launch reports the failure, but does the work on another stream.
assay_defect(other_stream_after_an_error VARIANT naive FILE naive.cu CLAIM launch_errors ON cuda
  SAYS "C was written"
  FIND [=[return launch_tiles<tile>(naive, dim3(T, T), g, stream);]=]
  REPLACE [=[const cudaError_t error = launch_tiles<tile>(naive, dim3(T, T), g, stream);
  if (error != cudaSuccess) (void)launch_tiles<tile>(naive, dim3(T, T), g, cudaStreamPerThread);
  return error;]=])

# What a block computes depends on where it happens to run.
assay_defect(depends_on_placement VARIANT naive FILE naive.cu CLAIM busy_gpu ON cuda
  FIND [=[float sum = 0;]=]
  REPLACE [=[float sum = 0;
  unsigned multiprocessor;
  asm volatile("mov.u32 %0, %smid;" : "=r"(multiprocessor));
  sum = static_cast<float>(multiprocessor) * 1e-6f;]=])

assay_defect(other_arithmetic_on_gpu VARIANT naive FILE naive.cu CLAIM same_bits_on_cpu ON simt cuda
  FIND [=[sum = fmaf(g.a[row * g.lda + p], g.b[p * g.ldb + col], sum);]=]
  REPLACE [=[const float a = g.a[row * g.lda + p], b = g.b[p * g.ldb + col];
#if defined(__CUDACC__)
    sum = __fadd_rn(sum, __fmul_rn(a, b));
#else
    sum = fmaf(a, b, sum);
#endif]=])

# ml-explore/mlx#3858: 65535 is fine, 65536 is not
assay_defect(rows_on_grid_y VARIANT naive FILE naive.cu CLAIM tall_grid ON cuda
  FIND [=[row = std::int64_t{blockIdx.x / across} * T + threadIdx.x;
  const std::int64_t col = std::int64_t{blockIdx.x % across} * T + threadIdx.y;]=]
  REPLACE [=[row = std::int64_t{blockIdx.y} * T + threadIdx.x;
  const std::int64_t col = std::int64_t{blockIdx.x} * T + threadIdx.y;]=]
  AND_FIND [=[return launch_tiles<tile>(naive, dim3(T, T), g, stream);]=]
  AND_REPLACE [=[if (g.m == 0 || g.n == 0) return cudaSuccess;
  return launch(naive, dim3(ceil_div(g.n, T), ceil_div(g.m, T)), dim3(T, T), 0, stream, g);]=])

# ROCm/rocBLAS has a test named gemm_PyTorch_offset_overflow for it
assay_defect(int32_index_of_c VARIANT naive FILE naive.cu CLAIM large_result ON cuda LOSES_CONTEXT
  SAYS "cudaErrorIllegalAddress"
  FIND [=[float* c = &g.c[row * g.ldc + col];]=]
  REPLACE [=[float* c = &g.c[static_cast<int>(row) * static_cast<int>(g.ldc) + static_cast<int>(col)];]=])

# The same without a fault: elements that no thread writes, and one too many.
assay_defect(leaves_elements_beyond_2_31 VARIANT naive FILE naive.cu CLAIM large_result ON cuda
  SAYS "elements are wrong; the first is row 32767, column 32769"
  FIND [=[float* c = &g.c[row * g.ldc + col];]=]
  REPLACE [=[if (row * g.ldc + col >= std::int64_t{1} << 31) return;
  float* c = &g.c[row * g.ldc + col];]=])
assay_defect(writes_around_a_large_c VARIANT naive FILE naive.cu CLAIM large_result ON cuda
  SAYS "wrote to 2 floats before the first or past the last element of C"
  FIND [=[float* c = &g.c[row * g.ldc + col];]=]
  REPLACE [=[float* c = &g.c[row * g.ldc + col];
  if (row == 0 && col == 0) c[-1] = 0;
  if (row == g.m - 1 && col == g.n - 1) c[1] = 0;]=])

assay_defect(writes_to_an_input_of_a_large_c VARIANT naive FILE naive.cu CLAIM large_result ON cuda
  SAYS "element of A, which is only to be read"
  FIND [=[float* c = &g.c[row * g.ldc + col];]=]
  REPLACE [=[float* c = &g.c[row * g.ldc + col];
  if (row == g.m - 1 && col == g.n - 1) const_cast<float*>(g.a)[row * g.lda + k] = 0;]=])
