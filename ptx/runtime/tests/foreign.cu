#include "ptx/runtime/tests/foreign.h"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstring>
#include <vector>

#include "ptx/runtime/tests/try.h"

// Holds more floats at a time than 64 registers can, and carries none of them through a loop.
__global__ void hold_many(float* x) {
  float held[80];
#pragma unroll
  for (int i = 0; i < 80; ++i) held[i] = x[i * blockDim.x + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 80; ++i) x[i * blockDim.x + threadIdx.x] = held[79 - i];
}

namespace foreign {
namespace {

template <typename T, int factor>
__global__ void multiply(const T* x, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}

__global__ void reverse_block(float* x, int n) {
  extern __shared__ float held[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) held[i] = x[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = held[n - 1 - i];
}

__constant__ float weight[2];
__global__ void weigh(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  if (i < n) y[i] = weight[0] * x[i] + weight[1] * x[i + 1];
}

__global__ void add_blocks(const float* x, float* sums, int n) {
  __shared__ float part[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  part[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

__global__ void add_to(float* x, float more) { *x += more; }

__managed__ int counted_by_both = 10;
__device__ int counted_by_device = 20;
__global__ void add_one() {
  atomicAdd(&counted_by_both, 1);
  atomicAdd(&counted_by_device, 1);
}

__global__ void write_beyond(float* x, int n) { x[n] = 1; }

// Memory of the device that holds what the host has.
cudaError_t to_device(float** device, const float* host, int n) {
  TRY(cudaMalloc(device, n * sizeof(float)));
  return cudaMemcpy(*device, host, n * sizeof(float), cudaMemcpyHostToDevice);
}

}  // namespace

int triple(const float* x, float* y, int n) {
  float *in, *out;
  TRY(to_device(&in, x, n));
  TRY(cudaMalloc(&out, n * sizeof(float)));
  multiply<float, 3><<<(n + 31) / 32, 32>>>(in, out, n);
  TRY(cudaGetLastError());
  TRY(cudaDeviceSynchronize());
  TRY(cudaMemcpy(y, out, n * sizeof(float), cudaMemcpyDeviceToHost));
  TRY(cudaFree(in));
  return cudaFree(out);
}

int reverse(float* x, int n, bool asks) {
  float* held;
  const int bytes = n * sizeof(float);
  if (asks) {
    TRY(cudaFuncSetAttribute(reverse_block, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  }
  TRY(to_device(&held, x, n));
  reverse_block<<<1, 256, bytes>>>(held, n);
  const cudaError_t error = cudaGetLastError();
  TRY(cudaMemcpy(x, held, bytes, cudaMemcpyDeviceToHost));
  TRY(cudaFree(held));
  return error;
}

int smooth(const float* weights, const float* x, float* y, int n) {
  float *in, *out;
  TRY(cudaMemcpyToSymbol(weight, weights, sizeof weight));
  TRY(to_device(&in, x, n + 1));
  TRY(cudaMalloc(&out, n * sizeof(float)));
  weigh<<<1, n>>>(in, out, n);
  TRY(cudaMemcpy(y, out, n * sizeof(float), cudaMemcpyDeviceToHost));
  TRY(cudaFree(in));
  return cudaFree(out);
}

int sum(const float* x, int n, float* result) {
  cudaStream_t stream;
  TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const int blocks = (n + 63) / 64;
  float *in, *sums;
  TRY(cudaMallocAsync(&in, n * sizeof(float), stream));
  TRY(cudaMallocAsync(&sums, (blocks + 1) * sizeof(float), stream));
  TRY(cudaMemcpyAsync(in, x, n * sizeof(float), cudaMemcpyHostToDevice, stream));
  add_blocks<<<blocks, 64, 0, stream>>>(in, sums, n);
  add_blocks<<<1, 64, 0, stream>>>(sums, sums + blocks, blocks);
  TRY(cudaMemcpyAsync(result, sums + blocks, sizeof(float), cudaMemcpyDeviceToHost, stream));
  TRY(cudaFreeAsync(in, stream));
  TRY(cudaFreeAsync(sums, stream));
  TRY(cudaStreamSynchronize(stream));
  return cudaStreamDestroy(stream);
}

int count(int threads, int* managed, int* device) {
  counted_by_both = 10;
  const int first = 20;
  TRY(cudaMemcpyToSymbol(counted_by_device, &first, sizeof first));
  add_one<<<1, threads>>>();
  TRY(cudaDeviceSynchronize());
  *managed = counted_by_both;
  return cudaMemcpyFromSymbol(device, counted_by_device, sizeof *device);
}

int occupancy(int threads, int shared, int* blocks, int* best) {
  int least;
  TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, reverse_block, threads, shared));
  return cudaOccupancyMaxPotentialBlockSize(&least, best, reverse_block, 0, 0);
}

int timed(float* milliseconds) {
  cudaEvent_t from, to;
  TRY(cudaEventCreate(&from));
  TRY(cudaEventCreate(&to));
  TRY(cudaEventRecord(from));
  add_one<<<1, 1>>>();
  TRY(cudaEventRecord(to));
  TRY(cudaEventSynchronize(to));
  TRY(cudaEventElapsedTime(milliseconds, from, to));
  TRY(cudaEventDestroy(from));
  return cudaEventDestroy(to);
}

int describe(char* name, int* multiprocessors, int* capability) {
  cudaDeviceProp known;
  TRY(cudaGetDeviceProperties(&known, 0));
  std::strcpy(name, known.name);
  *capability = known.major * 10 + known.minor;
  return cudaDeviceGetAttribute(multiprocessors, cudaDevAttrMultiProcessorCount, 0);
}
int cache(int* bytes) { return cudaDeviceGetAttribute(bytes, cudaDevAttrL2CacheSize, 0); }

int overrun(float* x, int n) {
  float* held;
  TRY(to_device(&held, x, n));
  write_beyond<<<1, 1>>>(held, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(held);
  return error;
}

int large_block() {
  add_one<<<1, 2048>>>();
  return cudaGetLastError();
}

int many_registers(int threads, int* registers) {
  cudaFuncAttributes known;
  TRY(cudaFuncGetAttributes(&known, hold_many));
  *registers = known.numRegs;
  float* x;
  TRY(cudaMalloc(&x, 80 * threads * sizeof(float)));
  TRY(cudaMemset(x, 0, 80 * threads * sizeof(float)));
  hold_many<<<1, threads>>>(x);
  const cudaError_t error = cudaGetLastError();
  cudaFree(x);
  return error;
}

int captured(int launches, float* sum) {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  float* x;
  TRY(cudaStreamCreate(&stream));
  TRY(cudaMalloc(&x, sizeof *x));
  TRY(cudaMemset(x, 0, sizeof *x));
  TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add_to<<<1, 1, 0, stream>>>(x, 1.5f);
  cudaStreamCaptureStatus status;
  unsigned long long id = 0;
  TRY(cudaStreamGetCaptureInfo(stream, &status, &id));
  if (status != cudaStreamCaptureStatusActive || id == 0) return cudaErrorUnknown;
  TRY(cudaStreamEndCapture(stream, &graph));
  TRY(cudaGraphInstantiate(&executable, graph, 0));
  TRY(cudaGraphUpload(executable, stream));
  for (int i = 0; i < launches; ++i) TRY(cudaGraphLaunch(executable, stream));
  TRY(cudaStreamSynchronize(stream));
  TRY(cudaMemcpy(sum, x, sizeof *x, cudaMemcpyDeviceToHost));
  TRY(cudaGraphExecDestroy(executable));
  TRY(cudaGraphDestroy(graph));
  TRY(cudaFree(x));
  return cudaStreamDestroy(stream);
}

int built_by_hand(float second, bool is_ordered, float* sum) {
  float* x;
  float more = 1.5f;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaGraphNode_t clear, first, then, back;
  TRY(cudaMalloc(&x, sizeof *x));
  TRY(cudaGraphCreate(&graph, 0));
  cudaMemsetParams zero{};
  zero.dst = x, zero.elementSize = 4, zero.width = zero.height = 1;
  TRY(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &zero));
  void* arguments[] = {&x, &more};
  cudaKernelNodeParams kernel{};
  kernel.func = reinterpret_cast<void*>(add_to);
  kernel.gridDim = kernel.blockDim = dim3(1);
  kernel.kernelParams = arguments;
  TRY(cudaGraphAddKernelNode(&then, graph, &clear, 1, &kernel));
  TRY(cudaGraphAddKernelNode(&first, graph, &clear, 1, &kernel));
  if (is_ordered) TRY(cudaGraphAddDependencies(graph, &first, &then, nullptr, 1));
  TRY(cudaGraphAddMemcpyNode1D(&back, graph, &then, 1, sum, x, sizeof *x, cudaMemcpyDeviceToHost));
  TRY(cudaGraphInstantiate(&executable, graph, 0));
  more = second;
  TRY(cudaGraphExecKernelNodeSetParams(executable, then, &kernel));
  more = 0;  // it was taken by value
  TRY(cudaGraphLaunch(executable, nullptr));
  TRY(cudaDeviceSynchronize());
  TRY(cudaGraphExecDestroy(executable));
  TRY(cudaGraphDestroy(graph));
  return cudaFree(x);
}

int through_volumes(const float* x, float* y, int slices, int rows, int columns) {
  const auto row = columns * sizeof(float);
  const auto piece = make_cudaExtent(row - 2 * sizeof(float), rows - 2, slices);
  cudaPitchedPtr held;
  TRY(cudaMalloc3D(&held, make_cudaExtent(row, rows, slices)));
  TRY(cudaMemset3D(held, 0, make_cudaExtent(row, rows, slices)));
  cudaMemcpy3DParms there{};
  there.srcPtr = make_cudaPitchedPtr(const_cast<float*>(x), row, columns, rows);
  there.dstPtr = held;
  there.srcPos = there.dstPos = make_cudaPos(sizeof(float), 1, 0);
  there.extent = piece;
  there.kind = cudaMemcpyHostToDevice;
  TRY(cudaMemcpy3DAsync(&there, nullptr));
  cudaMemcpy3DParms back{};
  back.srcPtr = held;
  back.dstPtr = make_cudaPitchedPtr(y, row, columns, rows);
  back.extent = make_cudaExtent(row, rows, slices);
  back.kind = cudaMemcpyDeviceToHost;
  TRY(cudaMemcpy3D(&back));
  return cudaFree(held.ptr);
}

__global__ void fill_layers(const float* x, int n, cudaSurfaceObject_t to) {
  const int i = threadIdx.y, j = threadIdx.x, layer = blockIdx.x;
  surf2DLayeredwrite(x[(layer * n + i) * n + j], to, j * 4, i, layer);
}
__global__ void transpose_layers(cudaTextureObject_t texture, cudaSurfaceObject_t surface, int n,
                                 float* y) {
  const int i = threadIdx.y, j = threadIdx.x;
  y[i * n + j] = tex2DLayered<float>(texture, i + 0.5f, j + 0.5f, 0);
  y[(n + i) * n + j] = surf2DLayeredread<float>(surface, i * 4, j, 1);
}

int through_layers(const float* x, float* y, float* copied, int n) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  const std::size_t bytes = sizeof(float) * 2 * n * n;
  float *from, *to;
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  cudaArray_t& array = resource.res.array.array;
  TRY(cudaMalloc3DArray(&array, &format, make_cudaExtent(n, n, 2),
                        cudaArrayLayered | cudaArraySurfaceLoadStore));
  cudaSurfaceObject_t surface;
  cudaTextureObject_t texture;
  const cudaTextureDesc reading{};
  TRY(cudaCreateSurfaceObject(&surface, &resource));
  TRY(cudaCreateTextureObject(&texture, &resource, &reading, nullptr));
  TRY(cudaMalloc(&from, bytes));
  TRY(cudaMalloc(&to, bytes));
  TRY(cudaMemcpy(from, x, bytes, cudaMemcpyHostToDevice));
  fill_layers<<<2, dim3(n, n)>>>(from, n, surface);
  transpose_layers<<<1, dim3(n, n)>>>(texture, surface, n, to);
  TRY(cudaMemcpy(y, to, bytes, cudaMemcpyDeviceToHost));
  cudaMemcpy3DParms back{};
  back.srcArray = array;
  back.dstPtr = make_cudaPitchedPtr(copied, n * sizeof(float), n, n);
  back.extent = make_cudaExtent(n, n, 2);
  back.kind = cudaMemcpyDeviceToHost;
  TRY(cudaMemcpy3D(&back));
  TRY(cudaDestroySurfaceObject(surface));
  TRY(cudaDestroyTextureObject(texture));
  TRY(cudaFreeArray(array));
  TRY(cudaFree(from));
  return cudaFree(to);
}

int built_of_graphs(float second, float* sum) {
  float *x, more = 1.5f;
  cudaGraph_t graph, inner, its;
  cudaGraphExec_t executable;
  cudaGraphNode_t clear, add, first, then, back;
  TRY(cudaMalloc(&x, sizeof *x));
  TRY(cudaGraphCreate(&inner, 0));
  void* arguments[] = {&x, &more};
  cudaKernelNodeParams kernel{};
  kernel.func = reinterpret_cast<void*>(add_to);
  kernel.gridDim = kernel.blockDim = dim3(1);
  kernel.kernelParams = arguments;
  TRY(cudaGraphAddKernelNode(&add, inner, nullptr, 0, &kernel));
  TRY(cudaGraphCreate(&graph, 0));
  cudaMemsetParams zero{};
  zero.dst = x, zero.elementSize = 4, zero.width = zero.height = 1;
  TRY(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &zero));
  TRY(cudaGraphAddChildGraphNode(&first, graph, &clear, 1, inner));
  TRY(cudaGraphAddChildGraphNode(&then, graph, &first, 1, inner));
  TRY(cudaGraphDestroy(inner));
  TRY(cudaGraphAddMemcpyNode1D(&back, graph, &then, 1, sum, x, sizeof *x, cudaMemcpyDeviceToHost));
  TRY(cudaGraphChildGraphNodeGetGraph(then, &its));
  std::size_t count = 1;
  TRY(cudaGraphGetNodes(its, &add, &count));
  cudaKernelNodeParams told{};
  TRY(cudaGraphKernelNodeGetParams(add, &told));
  void* changed[] = {told.kernelParams[0], &second};
  told.kernelParams = changed;
  TRY(cudaGraphKernelNodeSetParams(add, &told));
  TRY(cudaGraphInstantiate(&executable, graph, 0));
  TRY(cudaGraphLaunch(executable, nullptr));
  TRY(cudaDeviceSynchronize());
  TRY(cudaGraphExecDestroy(executable));
  TRY(cudaGraphDestroy(graph));
  return cudaFree(x);
}

int share_memory() {
  float* x;
  cudaIpcMemHandle_t handle;
  TRY(cudaMalloc(&x, sizeof *x));
  const cudaError_t error = cudaIpcGetMemHandle(&handle, x);
  cudaFree(x);
  return error;
}

__global__ void add_ranks(int* sum) {
  __shared__ int rank;
  const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  rank = static_cast<int>(cluster.block_rank());
  cluster.sync();
  for (unsigned other = 0; other < cluster.num_blocks(); ++other)
    if (other != cluster.block_rank()) atomicAdd(sum, *cluster.map_shared_rank(&rank, other));
  cluster.sync();
}

int clusters(int blocks, int* sum, int* fit, int* most) {
  int* total;
  TRY(cudaMallocManaged(&total, sizeof *total));
  *total = 0;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
  const cudaLaunchConfig_t config{.gridDim = 16, .blockDim = 1, .attrs = &cluster, .numAttrs = 1};
  TRY(cudaLaunchKernelEx(&config, add_ranks, total));
  TRY(cudaDeviceSynchronize());
  *sum = *total;
  TRY(cudaOccupancyMaxActiveClusters(fit, add_ranks, &config));
  TRY(cudaFuncSetAttribute(add_ranks, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  TRY(cudaOccupancyMaxPotentialClusterSize(most, add_ranks, &config));
  return cudaFree(total);
}

int keep_in_cache(std::size_t bytes, float share) {
  cudaStreamAttrValue value{};
  value.accessPolicyWindow.num_bytes = bytes, value.accessPolicyWindow.hitRatio = share;
  return cudaStreamSetAttribute(nullptr, cudaStreamAttributeAccessPolicyWindow, &value);
}

}  // namespace foreign
