// Memory that host code maps itself (cuMemMap and its like): ranges of addresses, memory, and which
// of it lies where. Each stretch that may be used is one area, however many pieces it is made of.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "ptx/runtime/state.h"

namespace ptx::runtime {

namespace {

// A file in memory: it may be mapped at several places.
class Physical {
 public:
  explicit Physical(std::size_t bytes) : bytes(bytes), file_(memfd_create("mapped", MFD_CLOEXEC)) {
    if (file_ < 0) throw Failure{Error::memory_allocation};
    if (ftruncate(file_, static_cast<off_t>(bytes)) != 0) {
      ::close(file_);
      throw Failure{Error::memory_allocation};
    }
    state().allocated += bytes;
  }
  ~Physical() {
    state().allocated -= bytes;
    ::close(file_);
  }
  Physical(const Physical&) = delete;
  void* map_at(void* place, int protection) const {
    return mmap(place, bytes, protection, MAP_SHARED | (place == nullptr ? 0 : MAP_FIXED), file_,
                0);
  }
  const std::size_t bytes;

 private:
  int file_;
};

struct Mapping {
  std::shared_ptr<const Physical> memory;
  bool may_be_used = false;
};
struct Range {
  std::size_t bytes = 0;
  std::map<std::uint64_t, Mapping> mappings = {};
  std::vector<std::uint64_t> lent = {};  // where each stretch begins

  bool is_free(std::uint64_t first, std::size_t size) const {
    const auto after = mappings.lower_bound(first + size);
    return after == mappings.begin() ||
           std::prev(after)->first + std::prev(after)->second.memory->bytes <= first;
  }
};
struct Mappings {
  std::map<std::uint64_t, Range> ranges;
  std::map<unsigned long long, std::shared_ptr<const Physical>> handles;
  unsigned long long next_handle = 1;
};
Mappings& all() {
  static Mappings& only = *new Mappings;  // host code may come here at the very end
  return only;
}

void* place(std::uint64_t address) { return reinterpret_cast<void*>(address); }
std::uint64_t number_of(const void* address) { return reinterpret_cast<std::uint64_t>(address); }
void need(bool is_right) {
  if (!is_right) throw Failure{Error::invalid_value};
}
bool is_whole(std::size_t bytes) { return bytes != 0 && bytes % mapping_grain == 0; }

// The driver leaves no error behind.
Error by_driver(const std::function<void()>& work) {
  const Error before = peek_last_error();
  const Error error = call(work, WhenLost::go_on);
  if (error != Error::success && state().lost == Error::success) {
    take_last_error();
    if (before != Error::success) fail(before);
  }
  return error;
}

Range& range_around(std::uint64_t first, std::size_t bytes) {
  const auto after = all().ranges.upper_bound(first);
  need(after != all().ranges.begin());
  auto& [begin, range] = *std::prev(after);
  need(first + bytes <= begin + range.bytes);
  return range;
}

// Mappings that are these bytes, no more and no less.
auto mappings_of(Range& range, std::uint64_t first, std::size_t bytes) {
  const auto begin = range.mappings.find(first);
  need(bytes != 0 && begin != range.mappings.end());
  auto end = begin;
  std::uint64_t reached = first;
  while (end != range.mappings.end() && end->first == reached && reached < first + bytes)
    reached += (end++)->second.memory->bytes;
  need(reached == first + bytes);
  return std::pair(begin, end);
}

void take_back(Range& range) {
  for (const std::uint64_t first : range.lent) {
    state().memory.forget(first);
    state().allocations.erase(place(first));
  }
  range.lent.clear();
}
// Stretches may have become longer or shorter.
void lend_anew(Range& range) {
  State& device = state();
  device.under_way.finish_all();
  take_back(range);
  for (auto at = range.mappings.begin(); at != range.mappings.end();) {
    const std::uint64_t first = at->first;
    std::uint64_t end = first;
    while (at != range.mappings.end() && at->first == end && at->second.may_be_used)
      end += (at++)->second.memory->bytes;
    if (end == first) {
      ++at;
      continue;
    }
    const std::size_t bytes = end - first;
    device.memory.lend({.name = "memory of " + std::to_string(bytes) + " bytes that is mapped",
                        .first = first,
                        .row_bytes = bytes,
                        .pitch_bytes = bytes});
    device.allocations[place(first)] = {.use = Use::device, .bytes = bytes, .lent = true};
    range.lent.push_back(first);
  }
}

// What kernels find in memory that nobody has written: nothing that they could count on.
void spoil(const Physical& memory) {
  constexpr std::size_t most = 1 << 26;
  void* const there = memory.map_at(nullptr, PROT_READ | PROT_WRITE);
  if (there == MAP_FAILED) throw Failure{Error::memory_allocation};
  std::memset(there, 0xff, std::min(memory.bytes, most));  // NaN
  munmap(there, memory.bytes);
}

}  // namespace

Error reserve_addresses(void** first, std::size_t bytes, std::size_t alignment) {
  return by_driver([&] {
    const std::size_t grain = std::max(alignment, mapping_grain);
    need(first != nullptr && is_whole(bytes) && (grain & (grain - 1)) == 0);
    void* const got =
        mmap(nullptr, bytes + grain, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED) throw Failure{Error::memory_allocation};
    const std::uint64_t begin = number_of(got), aligned = (begin + grain - 1) & ~(grain - 1);
    if (aligned != begin) munmap(got, aligned - begin);
    if (aligned != begin + grain) munmap(place(aligned + bytes), begin + grain - aligned);
    all().ranges[aligned] = {.bytes = bytes};
    *first = place(aligned);
  });
}

Error free_addresses(void* first, std::size_t bytes) {
  return by_driver([&] {
    const auto range = all().ranges.find(number_of(first));
    need(range != all().ranges.end() && range->second.bytes == bytes &&
         range->second.mappings.empty());
    munmap(first, bytes);
    all().ranges.erase(range);
  });
}

Error create_physical(unsigned long long& handle, std::size_t bytes) {
  return by_driver([&] {
    need(is_whole(bytes));
    need_memory();
    auto memory = std::make_shared<const Physical>(bytes);
    spoil(*memory);
    handle = all().next_handle++;
    all().handles[handle] = std::move(memory);
  });
}

Error release_physical(unsigned long long handle) {
  return by_driver([&] { need(all().handles.erase(handle) != 0); });  // what is mapped stays
}

Error map_physical(void* at, std::size_t bytes, std::size_t offset, unsigned long long handle) {
  return by_driver([&] {
    const auto memory = all().handles.find(handle);
    need(memory != all().handles.end() && offset == 0 && bytes == memory->second->bytes);
    Range& range = range_around(number_of(at), bytes);
    need(number_of(at) % mapping_grain == 0 && range.is_free(number_of(at), bytes));
    if (memory->second->map_at(at, PROT_NONE) == MAP_FAILED)
      throw Failure{Error::memory_allocation};
    range.mappings[number_of(at)] = {memory->second};
  });
}

Error unmap_physical(void* at, std::size_t bytes) {
  return by_driver([&] {
    Range& range = range_around(number_of(at), bytes);
    const auto [begin, end] = mappings_of(range, number_of(at), bytes);
    state().under_way.finish_all();
    range.mappings.erase(begin, end);
    lend_anew(range);
    mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  });
}

Error allow_access(void* at, std::size_t bytes, bool is_allowed) {
  return by_driver([&] {
    Range& range = range_around(number_of(at), bytes);
    const auto [begin, end] = mappings_of(range, number_of(at), bytes);
    for (auto one = begin; one != end; ++one) one->second.may_be_used = is_allowed;
    mprotect(at, bytes, is_allowed ? PROT_READ | PROT_WRITE : PROT_NONE);
    lend_anew(range);
  });
}

void forget_mappings() {
  for (auto& [first, range] : all().ranges) {
    take_back(range);
    munmap(place(first), range.bytes);
  }
  all().ranges.clear();
  all().handles.clear();
}

}  // namespace ptx::runtime
