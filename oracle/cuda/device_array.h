// An array on the GPU that frees itself.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "oracle/cuda/cuda_check.h"

namespace assay {

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::int64_t count)
      : bytes_(static_cast<std::size_t>(std::max<std::int64_t>(1, count)) * sizeof(T)) {
    cuda_check(cudaMalloc(&data_, bytes_), "no device memory");
  }
  explicit DeviceArray(const std::vector<T>& host)
      : DeviceArray(static_cast<std::int64_t>(host.size())) {
    cuda_check(cudaMemcpy(data_, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice),
               "copying to the GPU");
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  void copy_to(std::vector<T>& host) const {
    cuda_check(cudaMemcpy(host.data(), data_, host.size() * sizeof(T), cudaMemcpyDeviceToHost),
               "copying from the GPU");
  }
  T* get() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  T* data_ = nullptr;
  std::size_t bytes_;
};

}  // namespace assay
