#include "regress/device/stopwatch.h"

namespace assay {
namespace {

template <class T>
T* host_memory_for_gpu(std::size_t count) {
  void* memory = nullptr;
  cuda_check(cudaHostAlloc(&memory, count * sizeof(T), cudaHostAllocMapped), "cudaHostAlloc");
  return static_cast<T*>(memory);
}

// Only where both were taken on one multiprocessor: their counters are not the same.
double clock_between(const Stamp& a, const Stamp& b) {
  const auto nanoseconds = static_cast<double>(b.nanoseconds - a.nanoseconds);
  if (a.multiprocessor != b.multiprocessor || !(nanoseconds > 0)) return 0;
  return static_cast<double>(b.cycles - a.cycles) / nanoseconds * 1000;
}

}  // namespace

Stopwatch::Stopwatch(const Card& card) : card_(card) {
  cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  cuda_check(cudaEventCreate(&start_), "cudaEventCreate");
  cuda_check(cudaEventCreate(&stop_), "cudaEventCreate");
  go_ = host_memory_for_gpu<int>(2);
  gave_up_ = go_ + 1;
  stamps_ = host_memory_for_gpu<Stamp>(2);
}

Stopwatch::~Stopwatch() {
  cudaFreeHost(stamps_);
  cudaFreeHost(const_cast<int*>(go_));
  cudaEventDestroy(stop_);
  cudaEventDestroy(start_);
  cudaStreamDestroy(stream_);
}

void Stopwatch::begin() {
  *go_ = 0;
  *gave_up_ = 0;
  enqueue_hold(go_, gave_up_, 2'000'000'000, stream_);
  enqueue_stamp(&stamps_[0], stream_);
  cuda_check(cudaEventRecord(start_, stream_), "cudaEventRecord");
}

Sample Stopwatch::end() {
  const cudaError_t recorded = cudaEventRecord(stop_, stream_);
  enqueue_stamp(&stamps_[1], stream_);
  *go_ = 1;
  cuda_check(recorded, "cudaEventRecord");
  Sample sample;
  sample.throttled = card_.throttle_reasons().value_or(0);  // while it runs
  cuda_check(cudaStreamSynchronize(stream_), "timing a batch of launches");
  if (*gave_up_ != 0) {
    throw std::runtime_error(
        "a batch of launches took more than two seconds to enqueue: launch must not wait for the "
        "GPU");
  }
  float milliseconds = 0;
  cuda_check(cudaEventElapsedTime(&milliseconds, start_, stop_), "cudaEventElapsedTime");
  sample.time_us = double{milliseconds} * 1000;
  sample.clock_mhz = clock_between(stamps_[0], stamps_[1]);
  return sample;
}

bool Stopwatch::waits(Enqueuer& arm, const Gemm& gemm) {
  arm.enqueue(gemm, stream_);  // the first time it may set up what it keeps, such as a workspace
  cuda_check(cudaStreamSynchronize(stream_), "a launch");
  *go_ = 0;
  *gave_up_ = 0;
  enqueue_hold(go_, gave_up_, 50'000'000, stream_);
  arm.enqueue(gemm, stream_);
  *go_ = 1;
  cuda_check(cudaStreamSynchronize(stream_), "a launch behind a stream that is busy");
  return *gave_up_ != 0;
}

Sample Stopwatch::sample(Enqueuer& arm, OperandSets& sets, int launches, int planted) {
  Sample sample = time([&](cudaStream_t stream) {
    for (int i = 0; i < launches + planted; ++i) arm.enqueue(sets.next(), stream);
  });
  sample.time_us /= launches;
  return sample;
}

}  // namespace assay
