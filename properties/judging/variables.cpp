#include "properties/judging/variables.h"

#include <link.h>

#include <cstddef>
#include <map>

#include "oracle/machine.h"

namespace assay {
namespace {

struct Search {
  std::uintptr_t code;
  std::uint64_t hash = 0;
};

// Also what lies between variables, which a sanitizer forbids.
__attribute__((no_sanitize("address"))) std::uint64_t hash_of(std::uintptr_t first,
                                                              std::size_t bytes,
                                                              std::uint64_t hash) {
  const auto* const words = reinterpret_cast<const volatile std::uint32_t*>(first);
  for (std::size_t i = 0; i < bytes / sizeof(std::uint32_t); ++i)
    hash = (hash ^ words[i]) * 1099511628211u;
  return hash;
}

int visit(dl_phdr_info* library, std::size_t, void* found) {
  Search& search = *static_cast<Search*>(found);
  const auto each_segment = [&](const auto& take) {
    for (int i = 0; i < library->dlpi_phnum; ++i) {
      const auto& segment = library->dlpi_phdr[i];
      if (segment.p_type == PT_LOAD) take(segment, library->dlpi_addr + segment.p_vaddr);
    }
  };
  bool is_here = false;
  each_segment([&](const auto& segment, std::uintptr_t first) {
    is_here |= search.code >= first && search.code < first + segment.p_memsz;
  });
  if (!is_here) return 0;
  each_segment([&](const auto& segment, std::uintptr_t first) {
    if ((segment.p_flags & PF_W) == 0) return;
    const std::uintptr_t begin = (first + 3) / 4 * 4;
    search.hash = hash_of(begin, segment.p_memsz - (begin - first), search.hash);
  });
  return 1;
}

}  // namespace

std::uint64_t variables_beside(const void* code) {
  Search search{reinterpret_cast<std::uintptr_t>(code)};
  dl_iterate_phdr(visit, &search);
  return search.hash;
}

std::uint64_t hash_of_kept(const Entry& entry, const Resources& resources) {
  return variables_beside(entry.variant.launch.address()) ^
         machine_of(entry.backend, resources).hash_of_kept_memory();
}

bool keeps_something(const Entry& entry, const Resources& resources) {
  thread_local std::map<const void*, std::uint64_t> at_first;  // by launch function
  const std::uint64_t now = hash_of_kept(entry, resources);
  return at_first.try_emplace(entry.variant.launch.address(), now).first->second != now;
}

}  // namespace assay
