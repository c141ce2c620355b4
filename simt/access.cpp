// What watched code calls at every access to memory, by names that the compiler chose for its
// thread sanitizer: each is a place where other threads may come first. Its atomic operations are
// carried out here.
#include <cstddef>
#include <cstdint>

#include "simt/runner.h"

namespace {

inline void access() {
  if (simt::active_runner != nullptr) simt::active_runner->access();
}

}  // namespace

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_read_range(void*, std::size_t) { access(); }
void __tsan_write_range(void*, std::size_t) { access(); }

#define ACCESSES(BYTES)                                  \
  void __tsan_read##BYTES(void*) { access(); }           \
  void __tsan_write##BYTES(void*) { access(); }          \
  void __tsan_unaligned_read##BYTES(void*) { access(); } \
  void __tsan_unaligned_write##BYTES(void*) { access(); }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

#define ATOMIC_CHANGE(BITS, T, NAME)                            \
  T __tsan_atomic##BITS##_##NAME(volatile T* p, T value, int) { \
    return __atomic_##NAME(p, value, __ATOMIC_SEQ_CST);         \
  }
#define ATOMICS(BITS, T)                                                                          \
  T __tsan_atomic##BITS##_load(const volatile T* p, int) {                                        \
    access();                                                                                     \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                  \
  }                                                                                               \
  void __tsan_atomic##BITS##_store(volatile T* p, T value, int) {                                 \
    access();                                                                                     \
    __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                                 \
  }                                                                                               \
  T __tsan_atomic##BITS##_exchange(volatile T* p, T value, int) {                                 \
    return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST);                                       \
  }                                                                                               \
  int __tsan_atomic##BITS##_compare_exchange_strong(volatile T* p, T* old, T value, int, int) {   \
    return __atomic_compare_exchange_n(p, old, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                               \
  int __tsan_atomic##BITS##_compare_exchange_weak(volatile T* p, T* old, T value, int, int) {     \
    return __atomic_compare_exchange_n(p, old, value, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);  \
  }                                                                                               \
  ATOMIC_CHANGE(BITS, T, fetch_add)                                                               \
  ATOMIC_CHANGE(BITS, T, fetch_sub)                                                               \
  ATOMIC_CHANGE(BITS, T, fetch_and)                                                               \
  ATOMIC_CHANGE(BITS, T, fetch_or)                                                                \
  ATOMIC_CHANGE(BITS, T, fetch_xor)                                                               \
  ATOMIC_CHANGE(BITS, T, fetch_nand)
ATOMICS(8, std::uint8_t)
ATOMICS(16, std::uint16_t)
ATOMICS(32, std::uint32_t)
ATOMICS(64, std::uint64_t)

void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) {}

}  // extern "C"
