// What watched code calls at every access to memory, by names that the compiler chose for its
// thread sanitizer: each is a place where other threads may come first, and where somebody may look
// (simt/access.h). Its atomic operations are carried out here.
#include "simt/access.h"

#include <cstdint>
#include <cstring>

#include "simt/runner.h"

namespace {

#define HERE __builtin_return_address(0)

inline void look(const void* code, const volatile void* p, std::size_t bytes, bool reads,
                 bool writes) {
  if (simt::active_runner != nullptr)
    simt::active_runner->look({code, const_cast<const void*>(p), bytes, reads, writes});
}
inline void read(const void* code, const volatile void* p, std::size_t bytes) {
  if (simt::active_runner == nullptr) return;
  simt::active_runner->access();
  look(code, p, bytes, true, false);
}
inline void write(const void* code, const volatile void* p, std::size_t bytes) {
  if (simt::active_runner == nullptr) return;
  simt::active_runner->access();
  look(code, p, bytes, false, true);
}

}  // namespace

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_read_range(void* p, std::size_t bytes) { read(HERE, p, bytes); }
void __tsan_write_range(void* p, std::size_t bytes) { write(HERE, p, bytes); }

#define ACCESSES(BYTES)                                                \
  void __tsan_read##BYTES(void* p) { read(HERE, p, BYTES); }           \
  void __tsan_write##BYTES(void* p) { write(HERE, p, BYTES); }         \
  void __tsan_unaligned_read##BYTES(void* p) { read(HERE, p, BYTES); } \
  void __tsan_unaligned_write##BYTES(void* p) { write(HERE, p, BYTES); }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

// Watched libraries are linked so that their copies come here.
void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  read(HERE, from, bytes);
  write(HERE, to, bytes);
  return std::memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  read(HERE, from, bytes);
  write(HERE, to, bytes);
  return std::memmove(to, from, bytes);
}
void* __wrap_memset(void* to, int value, std::size_t bytes) {
  write(HERE, to, bytes);
  return std::memset(to, value, bytes);
}

#define ATOMIC_CHANGE(BITS, T, NAME)                            \
  T __tsan_atomic##BITS##_##NAME(volatile T* p, T value, int) { \
    look(HERE, p, sizeof(T), true, true);                       \
    return __atomic_##NAME(p, value, __ATOMIC_SEQ_CST);         \
  }
#define ATOMIC_SWAP(BITS, T, NAME, WEAK)                                                         \
  int __tsan_atomic##BITS##_compare_exchange_##NAME(volatile T* p, T* old, T value, int, int) {  \
    look(HERE, p, sizeof(T), true, true);                                                        \
    return __atomic_compare_exchange_n(p, old, value, WEAK, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }
#define ATOMICS(BITS, T)                                          \
  T __tsan_atomic##BITS##_load(const volatile T* p, int) {        \
    read(HERE, p, sizeof(T));                                     \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                  \
  }                                                               \
  void __tsan_atomic##BITS##_store(volatile T* p, T value, int) { \
    write(HERE, p, sizeof(T));                                    \
    __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                 \
  }                                                               \
  T __tsan_atomic##BITS##_exchange(volatile T* p, T value, int) { \
    look(HERE, p, sizeof(T), true, true);                         \
    return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST);       \
  }                                                               \
  ATOMIC_SWAP(BITS, T, strong, false)                             \
  ATOMIC_SWAP(BITS, T, weak, false)                               \
  ATOMIC_CHANGE(BITS, T, fetch_add)                               \
  ATOMIC_CHANGE(BITS, T, fetch_sub)                               \
  ATOMIC_CHANGE(BITS, T, fetch_and)                               \
  ATOMIC_CHANGE(BITS, T, fetch_or)                                \
  ATOMIC_CHANGE(BITS, T, fetch_xor)                               \
  ATOMIC_CHANGE(BITS, T, fetch_nand)
ATOMICS(8, std::uint8_t)
ATOMICS(16, std::uint16_t)
ATOMICS(32, std::uint32_t)
ATOMICS(64, std::uint64_t)

void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) {}

}  // extern "C"
