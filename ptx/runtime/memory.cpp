// Memory of the device and of the host.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "ptx/machine/system/hidden.h"
#include "ptx/runtime/state.h"

namespace ptx {

namespace {

// In a process that ends with a signal: allocates nothing.
class Words {
 public:
  Words& operator<<(std::string_view more) {
    const std::size_t fits = std::min(more.size(), text_.size() - 1 - size_);
    std::copy_n(more.begin(), fits, text_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += fits;
    return *this;
  }
  const char* text() const { return text_.data(); }

 private:
  std::array<char, 512> text_ = {};
  std::size_t size_ = 0;
};

}  // namespace

void hide_device_memory(bool hides) {
  const std::lock_guard lock(runtime::state().mutex);
  device_memory().hide_from_host(hides);
}

const char* why_host_faults_at(const void* address) {
  static Words words;
  if (!HiddenAddresses::hold(address)) return nullptr;
  const Area* const area = device_memory().find(reinterpret_cast<std::uint64_t>(address));
  words = {};
  words << "host code touches ";
  if (area == nullptr)
    words << "memory of the device, and none that is there: it is freed, or that is outside";
  else
    words << area->name
          << " itself, which is memory of the device: let a kernel do that, or copy it";
  return words.text();
}

namespace runtime {

namespace {

std::uint64_t number_of(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

std::string kind_of(Use use, std::size_t bytes) {
  const std::string kind = use == Use::host      ? "host memory"
                           : use == Use::managed ? "managed memory"
                                                 : "memory";
  return kind + " of " + std::to_string(bytes) + " bytes";
}
std::string name_of(const std::string& what, int number) {
  return what + " (allocation " + std::to_string(number) + ")";
}

// What is still free on the device: no more than half of this computer, where kernels may well fill
// all of it.
std::size_t left() {
  static const auto most = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                           static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE)) / 2;
  const State& device = state();
  const bool is_touched_little =
      device.request != nullptr &&
      (device.request->runs_nothing || device.request->settings.most_blocks != 0);
  const std::size_t all = is_touched_little ? model().memory : std::min(most, model().memory);
  return all - std::min(all, state().allocated);
}

HostAccess freeing(const void* first, std::size_t bytes) {
  return {.name = "cudaFreeAsync",
          .does = "frees",
          .did = "freed",
          .first = first,
          .width = bytes,
          .writes = true};
}

}  // namespace

void need_memory() {
  State& device = state();
  if (device.seen == nullptr || device.request == nullptr) return;
  const int made = ++device.seen->allocations;
  if (made > device.request->most_allocations.value_or(made))
    throw Failure{Error::memory_allocation};
}

void* allocate_now(std::size_t bytes, Use use, const std::string& what) {
  need_memory();
  State& device = state();
  if (bytes > left()) {
    if (device.seen != nullptr) device.seen->lacked_memory = true;
    throw Failure{Error::memory_allocation};
  }
  void* const made = device.memory.allocate(bytes, name_of(what, ++device.numbered),
                                            !device.runs_nothing(), use != Use::device);
  device.allocations[made] = {.use = use, .bytes = bytes};
  device.allocated += bytes;
  if (device.seen != nullptr && use == Use::device) device.seen->allocated += bytes;
  // What the host writes there is not seen.
  if (use != Use::device) device.memory.mark_written(number_of(made), bytes);
  return made;
}

Error allocate(void** result, std::size_t bytes, Use use) {
  return call([&] {
    if (result == nullptr) throw Failure{Error::invalid_value};
    *result = nullptr;
    forbid_while_capturing();
    if (bytes != 0) *result = allocate_now(bytes, use, kind_of(use, bytes));
  });
}

namespace {

void allocate_for_graph(void* stream, void** result, std::size_t bytes) {
  auto memory = std::make_shared<GraphMemory>();
  memory->name = name_of(kind_of(Use::device, bytes), ++state().numbered);
  memory->bytes = bytes;
  give_storage(*memory);
  *result = memory->first;
  capture_of(stream).graph->memory.push_back(memory);
  record(stream, {.run = [memory](const Turn&) { open(memory); },
                  .kind = NodeKind::allocate,
                  .does = MemoryOfNode{memory->first, bytes}});
}

// Only what the same graph allocates.
void free_in_graph(void* stream, void* first) {
  const auto& all = capture_of(stream).graph->memory;
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const auto& memory) { return memory->first == first; });
  if (found == all.end()) throw Failure{Error::invalid_value};
  const auto run = [first, bytes = (*found)->bytes](const Turn& turn) {
    if (!state().allocations.contains(first)) throw Failure{Error::invalid_value};
    enter_access(turn.stream, freeing(first, bytes));
    close(first);
  };
  record(stream,
         {.run = run, .kind = NodeKind::release, .does = MemoryOfNode{first, (*found)->bytes}});
}

}  // namespace

Error allocate_in(void* stream, void** result, std::size_t bytes) {
  bool is_of_graph = false;
  const Error error = call([&] {
    if (result == nullptr) throw Failure{Error::invalid_value};
    is_of_graph = is_captured(stream);
    *result = nullptr;
    if (is_of_graph && bytes != 0) allocate_for_graph(stream, result, bytes);
  });
  if (error != Error::success || is_of_graph) return error;
  if (const Error none = allocate(result, bytes, Use::device); none != Error::success) return none;
  // Whoever uses the memory has to come after that: others may have used it before.
  return call([&] {
    if (*result == nullptr || state().runs_nothing()) return;
    enter_access(name_of_stream(stream), {.name = "cudaMallocAsync",
                                          .does = "allocates",
                                          .did = "allocated",
                                          .first = *result,
                                          .width = bytes,
                                          .writes = true});
  });
}

namespace {

// `before` is told how many bytes they are.
Error release(void* memory, Use use, const std::function<void(std::size_t)>& before) {
  const auto work = [&] {
    State& device = state();
    if (memory == nullptr) return;
    const auto found = device.allocations.find(memory);
    const bool for_host = use == Use::host;
    if (found == device.allocations.end() || found->second.lent ||
        (found->second.use == Use::host) != for_host)
      throw Failure{Error::invalid_value};
    before(found->second.bytes);
    if (found->second.of_graph != nullptr) return close(memory);
    device.allocated -= found->second.bytes;
    device.allocations.erase(found);
    device.memory.release(memory);
  };
  return call(work, WhenLost::go_on);
}

}  // namespace

Error release(void* memory, Use use) {
  return release(memory, use, [](std::size_t) {
    forbid_while_capturing();
    host_waits_for_all();
  });
}

Error release_in(void* stream, void* memory) {
  bool is_of_graph = false;
  const Error error = call(
      [&] {
        is_of_graph = is_captured(stream);
        if (is_of_graph && memory != nullptr) free_in_graph(stream, memory);
      },
      WhenLost::go_on);
  const bool is_lost = error != Error::success && error == state().lost;
  if ((error != Error::success && !is_lost) || is_of_graph) return error;
  return release(memory, Use::device, [&](std::size_t bytes) {
    enter_access(name_of_stream(stream), freeing(memory, bytes));
  });
}

Error register_host(void* memory, std::size_t bytes) {
  return call([&] {
    State& device = state();
    if (memory == nullptr || bytes == 0) throw Failure{Error::invalid_value};
    forbid_while_capturing();
    if (device.memory.find(number_of(memory)) != nullptr)
      throw Failure{Error::host_memory_already_registered};
    device.memory.lend({.name = name_of(kind_of(Use::host, bytes), ++device.numbered),
                        .first = number_of(memory),
                        .row_bytes = bytes,
                        .pitch_bytes = bytes});
    device.allocations[memory] = {.use = Use::host, .bytes = bytes, .lent = true};
  });
}

Error unregister_host(void* memory) {
  const auto work = [&] {
    State& device = state();
    const auto found = device.allocations.find(memory);
    if (found == device.allocations.end() || !found->second.lent || found->second.use != Use::host)
      throw Failure{Error::host_memory_not_registered};
    forbid_while_capturing();
    device.allocations.erase(found);
    device.memory.forget(number_of(memory));
  };
  return call(work, WhenLost::go_on);
}

Error memory_info(std::size_t& free, std::size_t& total) {
  return call([&] {
    State& device = state();
    const std::lock_guard lock(device.mutex);
    total = model().memory;
    free = total - std::min(total, device.allocated);
    if (device.seen != nullptr) device.seen->asked_what_is_free = true;
    if (device.request != nullptr && device.request->free_memory)
      free = std::min<std::size_t>(free, *device.request->free_memory);
  });
}

PointerFacts facts_of_pointer(const void* pointer) {
  State& device = state();
  const std::lock_guard lock(device.mutex);
  auto after = device.allocations.upper_bound(const_cast<void*>(pointer));
  if (after != device.allocations.begin()) {
    const auto& [first, allocation] = *std::prev(after);
    if (number_of(pointer) - number_of(first) < allocation.bytes) return {true, allocation.use};
  }
  return {device.memory.find(number_of(pointer)) != nullptr, Use::device};
}

bool wrote_for_host(const Numbers& numbers) {
  State& device = state();
  return std::any_of(
      device.allocations.begin(), device.allocations.end(), [&](const auto& allocation) {
        return allocation.second.use == Use::host &&
               wrote_atomically(device.memory, reinterpret_cast<std::uint64_t>(allocation.first),
                                numbers);
      });
}

void hold_for_blocks(const Unordered& blocks, const Known& after) {
  State& device = state();
  for (const auto& [first, allocation] : device.allocations) {
    if (allocation.use == Use::device) continue;
    for (const Piece& piece : read_plainly(device.memory, number_of(first), blocks.numbers)) {
      const std::size_t bytes = std::min(
          piece.bytes, allocation.bytes - static_cast<std::size_t>(piece.first - number_of(first)));
      device.pending.add_source(
          {.first = reinterpret_cast<const void*>(piece.first), .width = bytes}, after,
          blocks.name);
    }
  }
}

}  // namespace runtime
}  // namespace ptx
