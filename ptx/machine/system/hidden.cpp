#include "ptx/machine/system/hidden.h"

#include <sys/mman.h>

#include <atomic>
#include <map>
#include <mutex>
#include <new>

namespace ptx {
namespace {

using std::uint64_t;

constexpr uint64_t most = uint64_t{1} << 40;   // more than any device has
constexpr uint64_t grain = uint64_t{1} << 32;  // the lower halves are the same in each process
constexpr uint64_t unit = 512;                 // as a texture wants it
constexpr uint64_t gap = (1 << 16) + unit;     // so that few lie at the beginning of a page
// Below and behind much memory: what an index of 32 bits misses is nobody's.
constexpr uint64_t much = uint64_t{1} << 30, wide_gap = uint64_t{1} << 35;

struct All {
  std::mutex mutex;
  std::map<uint64_t, uint64_t> used;  // from the first address to what others may begin at
};
All& all() {
  static All& only = *new All;  // memory may be given back at the very end
  return only;
}

std::atomic<uint64_t> reserved = 0;  // where they begin; 0: nobody has asked for any

uint64_t reserve() {
  void* const got =
      mmap(nullptr, most + grain, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) throw std::bad_alloc();
  return (reinterpret_cast<uint64_t>(got) + grain - 1) / grain * grain;
}

}  // namespace

// The lowest that are free: those of memory that is freed are had again by what is as large.
HiddenAddresses::HiddenAddresses(std::size_t bytes) {
  if (bytes >= most) throw std::bad_alloc();
  const uint64_t needed = (bytes + unit - 1) / unit * unit + (bytes < much ? gap : wide_gap + gap);
  const std::lock_guard lock(all().mutex);
  if (reserved == 0) reserved = reserve();
  uint64_t at = reserved + wide_gap + gap;
  for (const auto& [first, end] : all().used) {
    if (first - at >= needed) break;
    at = end;
  }
  if (at + needed > reserved + most) throw std::bad_alloc();
  all().used[at] = at + needed;
  first_ = at;
}

HiddenAddresses::~HiddenAddresses() {
  if (first_ == 0) return;
  const std::lock_guard lock(all().mutex);
  all().used.erase(first_);
}

bool HiddenAddresses::hold(const void* address) {
  return reserved != 0 && reinterpret_cast<uint64_t>(address) - reserved < most;
}

}  // namespace ptx
