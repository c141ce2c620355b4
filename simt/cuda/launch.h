// What the host code of a kernel file calls: launches, errors, memory operations of a stream.
// Streams are given to it; it makes none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "simt/cuda/vectors.h"

using cudaStream_t = struct CUstream_st*;

enum cudaError {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchTimeout = 702,
  cudaErrorMisalignedAddress = 716,
  cudaErrorLaunchFailure = 719,
};
using cudaError_t = cudaError;

const char* cudaGetErrorName(cudaError_t);
const char* cudaGetErrorString(cudaError_t);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t = nullptr);
// Operands are device memory on a GPU, so no other kinds exist here.
enum cudaMemcpyKind { cudaMemcpyDeviceToDevice = 3, cudaMemcpyDefault = 4 };
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t = nullptr);

enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
struct cudaLaunchAttribute;
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

namespace simt {

// A kernel with its arguments: `call(kernel, arguments)` runs one thread of it.
struct Kernel {
  const void* code;
  const void* arguments;
  void (*call)(const void* code, const void* arguments);
  // Of the arguments, which a launch that waits in its stream must own.
  const void* (*copy)(const void* arguments);
  void (*drop)(const void* copied);
  std::uint64_t (*digest)(const void* arguments);  // equal for equal ones; null if there are none
};
template <class Arguments>
const void* copy_of(const void* arguments) {
  return new Arguments(*static_cast<const Arguments*>(arguments));
}
template <class Arguments>
void drop(const void* copied) {
  delete static_cast<const Arguments*>(copied);
}
std::uint64_t digest_of(const void* bytes, std::size_t count, std::uint64_t before);
cudaError_t launch(const cudaLaunchConfig_t&, const Kernel&);
cudaError_t allow_dynamic_shared(const void* code, int bytes);
void* dynamic_shared();

}  // namespace simt

template <class... Params, class... Args>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Params...),
                               Args&&... args) {
  using Arguments = std::tuple<Params...>;
  const Arguments arguments(std::forward<Args>(args)...);
  const auto call = [](const void* code, const void* packed) {
    std::apply(reinterpret_cast<void (*)(Params...)>(reinterpret_cast<std::uintptr_t>(code)),
               *static_cast<const Arguments*>(packed));
  };
  const auto digest = [](const void* packed) {
    std::uint64_t all = 0;
    const auto add = [&](auto argument) {
      __builtin_clear_padding(&argument);
      all = simt::digest_of(&argument, sizeof argument, all);
    };
    std::apply([&](const auto&... each) { (add(each), ...); },
               *static_cast<const Arguments*>(packed));
    return all;
  };
  return simt::launch(*config, {reinterpret_cast<const void*>(kernel), &arguments, call,
                                simt::copy_of<Arguments>, simt::drop<Arguments>, digest});
}
template <class... Params>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Params...), cudaFuncAttribute, int value) {
  return simt::allow_dynamic_shared(reinterpret_cast<const void*>(kernel), value);
}
inline cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute, int value) {
  return simt::allow_dynamic_shared(kernel, value);
}
