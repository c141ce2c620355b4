// Functions with which threads wait for each other: barriers, shuffles, votes, fences.
#pragma once

#include <cstdint>
#include <type_traits>

namespace simt {

// Returns how many threads of the block passed true.
int barrier(int line, bool yes = false);
enum class WarpOperation : std::uint8_t {
  syncwarp,
  shfl,
  shfl_up,
  shfl_down,
  shfl_xor,
  ballot,
  any,
  all
};
// The place where a lane waits for others.
struct WarpCall {
  WarpOperation operation;
  int line;
};
// Waits for the lanes of this warp in `mask`, and returns the value that lane `from` brought; for
// `votes`, which of them brought 1.
inline constexpr unsigned votes = 32;
std::uint64_t warp_exchange(unsigned mask, std::uint64_t value, unsigned from, WarpCall);
unsigned lane();

template <class T>
std::uint64_t to_bits(T value) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T>
T from_bits(std::uint64_t bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}

// The value of the lane that `source` picks in [first, end), this lane's group of `width` lanes.
template <class T, class Source>
T shuffle(WarpCall call, unsigned mask, T value, int width, Source source) {
  const int self = static_cast<int>(lane()), first = self / width * width;
  const auto from = static_cast<unsigned>(source(self, first, first + width)) % 32;
  return from_bits<T>(warp_exchange(mask, to_bits(value), from, call));
}

// The lanes of `mask` that passed true.
inline unsigned vote(WarpCall call, unsigned mask, bool yes) {
  return static_cast<unsigned>(warp_exchange(mask, yes, votes, call));
}

}  // namespace simt

inline void __syncthreads(int line = __builtin_LINE()) { simt::barrier(line); }
inline int __syncthreads_count(int predicate, int line = __builtin_LINE()) {
  return simt::barrier(line, predicate != 0);
}
inline int __syncthreads_or(int predicate, int line = __builtin_LINE()) {
  return simt::barrier(line, predicate != 0) != 0;
}
inline int __syncthreads_and(int predicate, int line = __builtin_LINE()) {
  return simt::barrier(line, predicate == 0) == 0;
}
// Lanes run one after the other, so only one is active at any place.
inline unsigned __activemask() { return 1u << simt::lane(); }
inline void __syncwarp(unsigned mask = ~0u, int line = __builtin_LINE()) {
  simt::warp_exchange(mask, 0, 0, {simt::WarpOperation::syncwarp, line});
}

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, int line = __builtin_LINE()) {
  return simt::shuffle(
      {simt::WarpOperation::shfl, line}, mask, value, width,
      [=](int, int first, int end) { return first + (source & (end - first - 1)); });
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                 int line = __builtin_LINE()) {
  return simt::shuffle({simt::WarpOperation::shfl_up, line}, mask, value, width,
                       [=](int self, int first, int) {
                         const int from = self - static_cast<int>(delta);
                         return from < first ? self : from;
                       });
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                   int line = __builtin_LINE()) {
  return simt::shuffle({simt::WarpOperation::shfl_down, line}, mask, value, width,
                       [=](int self, int, int end) {
                         const int from = self + static_cast<int>(delta);
                         return from >= end ? self : from;
                       });
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32, int line = __builtin_LINE()) {
  return simt::shuffle({simt::WarpOperation::shfl_xor, line}, mask, value, width,
                       [=](int self, int, int end) {
                         const int from = self ^ bits;
                         return from >= end ? self : from;
                       });
}

inline unsigned __ballot_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return simt::vote({simt::WarpOperation::ballot, line}, mask, predicate != 0);
}
inline int __any_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return simt::vote({simt::WarpOperation::any, line}, mask, predicate != 0) != 0;
}
inline int __all_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return simt::vote({simt::WarpOperation::all, line}, mask, predicate == 0) == 0;
}

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __threadfence(); }
[[noreturn]] inline void __trap() { __builtin_trap(); }
