// The kernels that the measurement itself needs. Each function only enqueues, and throws
// std::runtime_error if the GPU refuses.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/gemm.h"

namespace assay {

// Keeps a stream busy until *go is no longer 0, which the host writes; for that time at most, after
// which *gave_up is 1.
void enqueue_hold(const volatile int* go, volatile int* gave_up, std::int64_t nanoseconds,
                  cudaStream_t);

// When and where it ran: the multiprocessor's cycle counter beside the card's clock.
struct Stamp {
  long long cycles = 0, nanoseconds = 0;
  int multiprocessor = -1;
};
void enqueue_stamp(Stamp*, cudaStream_t);

// Uniform numbers in [-1, 1), a function of the seed and the place.
void enqueue_fill(float* first, std::int64_t floats, std::uint64_t seed, cudaStream_t);

// Cycles that one load takes, the mean over loads spread over [first, first + floats), each waiting
// for the one before.
void enqueue_latency(const float* first, std::int64_t floats, double* cycles, cudaStream_t);

// Adds to *wrong the elements of C that are not within `bound` times |alpha| |A||B| + |beta| |C
// before| of alpha * product + beta * C before. `before` has the layout of C.
void enqueue_compare(const Gemm&, const double* product, const double* gauge, const float* before,
                     double bound, unsigned long long* wrong, cudaStream_t);

// Kernels that are never edited, each bound by one thing.
void enqueue_arithmetic_canary(int blocks, float* sink, cudaStream_t);
inline constexpr int arithmetic_threads = 256;
inline constexpr double arithmetic_flops_per_thread = 2.0 * 8 * 4096;
void enqueue_read_canary(const float* memory, std::int64_t floats, int times, float* sink,
                         cudaStream_t);
void enqueue_empty_canary(cudaStream_t);

}  // namespace assay
