// What the objects of nvcc call before and after main, and at each <<<>>>.
#include "ptx/runtime/cudart/forward.h"

using namespace ptx::cudart;

namespace {

ptx::runtime::Binary* binary_of(void** handle) {
  return reinterpret_cast<ptx::runtime::Binary*>(handle);
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  return reinterpret_cast<void**>(rt::add_binary(wrapper, CUDART_VERSION));
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) { rt::remove_binary(binary_of(handle)); }

void __cudaRegisterFunction(void** handle, const char* stub, char*, const char* name, int, uint3*,
                            uint3*, dim3*, dim3*, int*) {
  rt::add_kernel(binary_of(handle), stub, name);
}

void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t bytes, int,
                       int) {
  rt::add_variable(binary_of(handle), host, name, bytes);
}

void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int,
                              size_t bytes, int, int) {
  rt::add_managed(binary_of(handle), host, name, bytes);
}

char __cudaInitModule(void** handle) {
  rt::init_module(binary_of(handle));
  return 1;
}

// Asked once for each kernel, and the answer is kept: it may not depend on what went before.
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* stub) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(stub));
  return cudaSuccess;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream_st* stream) {
  return static_cast<unsigned>(rt::push_configuration(
      {.grid = as_dim(grid), .block = as_dim(block), .dynamic_shared = shared, .stream = stream}));
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  rt::Configuration asked;
  const ptx::Error error = rt::pop_configuration(asked);
  *grid = dim3{asked.grid.x, asked.grid.y, asked.grid.z};
  *block = dim3{asked.block.x, asked.block.y, asked.block.z};
  *shared = asked.dynamic_shared;
  *static_cast<void**>(stream) = asked.stream;
  return as_cuda(error);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared, cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

}  // extern "C"

PTX_PER_THREAD_STREAM(__cudaLaunchKernel);
