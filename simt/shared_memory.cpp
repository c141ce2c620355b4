// Where the static shared memory of a kernel lies. `__shared__` is thread_local, and kernels are
// linked into shared libraries that hold nothing else that is: the thread-local block of such a
// library, of which each worker has its own, is exactly the shared memory of its kernels. A library
// that was loaded later gets its block when a thread first asks for it.

#include <link.h>

#include <stdexcept>

#include "simt/runner.h"

// Of the C library, which has no header for it.
struct tls_index {
  unsigned long module, offset;
};
extern "C" void* __tls_get_addr(tls_index*);

namespace simt {
namespace {

struct Search {
  std::uintptr_t code;
  bool found = false, main_program = false;
  void* block = nullptr;
  std::size_t bytes = 0;
};

int look_at(dl_phdr_info* module, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  std::size_t tls_bytes = 0;
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const auto& segment = module->dlpi_phdr[i];
    if (segment.p_type == PT_TLS) tls_bytes = segment.p_memsz;
    if (segment.p_type == PT_LOAD &&
        search.code - (module->dlpi_addr + segment.p_vaddr) < segment.p_memsz) {
      search.found = true;
    }
  }
  if (!search.found) return 0;
  search.main_program = module->dlpi_name[0] == '\0';
  tls_index block{module->dlpi_tls_modid, 0};
  if (tls_bytes > 0) search.block = __tls_get_addr(&block);
  search.bytes = tls_bytes;
  return 1;
}

}  // namespace

std::span<std::byte> static_shared_of(const void* code) {
  if (code == nullptr) return {};  // no kernel's
  // Libraries of kernels stay where they are: what was found once holds.
  thread_local const void* last_code = nullptr;
  thread_local std::span<std::byte> last_found;
  if (code == last_code) return last_found;

  Search search{.code = reinterpret_cast<std::uintptr_t>(code)};
  dl_iterate_phdr(look_at, &search);
  if (search.main_program) {
    throw std::runtime_error(
        "a kernel of the main program cannot run here: link kernels into a shared library");
  }
  last_code = code;
  last_found = {static_cast<std::byte*>(search.block), search.bytes};
  return last_found;
}

}  // namespace simt
