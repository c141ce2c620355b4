// Atomic updates of memory, by any thread of any block.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "simt/cuda/math.h"

namespace simt {

// A place where other threads may come first.
void pass();

template <class T, class Change>
T atomic_update(T* p, Change change) {
  pass();
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  auto* bits = reinterpret_cast<Bits*>(p);
  Bits before = __atomic_load_n(bits, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(bits, &before,
                                      std::bit_cast<Bits>(change(std::bit_cast<T>(before))), true,
                                      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
  }
  return std::bit_cast<T>(before);
}

}  // namespace simt

template <class T>
T atomicAdd(T* p, std::type_identity_t<T> value) {
  return simt::atomic_update(p, [=](T old) { return old + value; });
}
template <class T>
T atomicMin(T* p, std::type_identity_t<T> value) {
  return simt::atomic_update(p, [=](T old) { return min(old, value); });
}
template <class T>
T atomicMax(T* p, std::type_identity_t<T> value) {
  return simt::atomic_update(p, [=](T old) { return max(old, value); });
}
template <class T>
T atomicExch(T* p, std::type_identity_t<T> value) {
  return simt::atomic_update(p, [=](T) { return value; });
}
template <class T>
T atomicCAS(T* p, std::type_identity_t<T> compare, std::type_identity_t<T> value) {
  return simt::atomic_update(p, [=](T old) { return old == compare ? value : old; });
}
// Counts up to `last`, then from 0 again.
inline unsigned atomicInc(unsigned* p, unsigned last) {
  return simt::atomic_update(p, [=](unsigned old) { return old >= last ? 0 : old + 1; });
}
inline unsigned atomicDec(unsigned* p, unsigned last) {
  return simt::atomic_update(p,
                             [=](unsigned old) { return old == 0 || old > last ? last : old - 1; });
}
