#include "oracle/host/addresses.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace assay {

std::byte* addresses_between_fences(std::size_t bytes, std::size_t fence) {
  const std::size_t needed = bytes + 2 * fence;
  void* const reserved = mmap(nullptr, needed + told_apart, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) throw std::bad_alloc();
  std::byte* const begin = static_cast<std::byte*>(reserved);
  const std::size_t past = (reinterpret_cast<std::uintptr_t>(begin) + fence) % told_apart;
  const std::size_t before = (told_apart - past) % told_apart;
  if (before > 0) munmap(begin, before);
  munmap(begin + before + needed, told_apart - before);
  return begin + before + fence;
}

void give_back_addresses(std::byte* first, std::size_t bytes, std::size_t fence) {
  munmap(first - fence, bytes + 2 * fence);
}

}  // namespace assay
