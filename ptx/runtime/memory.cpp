// Memory of the device and of the host, and copies between them.
#include <unistd.h>

#include <cstring>

#include "ptx/runtime/state.h"

namespace ptx::runtime {

namespace {

std::uint64_t number_of(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

std::string name_of(Use use, std::size_t bytes, int number) {
  const std::string kind = use == Use::host      ? "host memory"
                           : use == Use::managed ? "managed memory"
                                                 : "memory";
  return kind + " of " + std::to_string(bytes) + " bytes (allocation " + std::to_string(number) +
         ")";
}

// What is still free on the device; and we fill all of it, so no more than half of this computer.
std::size_t left() {
  static const auto most = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                           static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE)) / 2;
  const std::size_t all = std::min(most, model().memory);
  return all - std::min(all, state().allocated);
}

// Memory that the host may not touch. Null if it may.
const Area* device_area(const void* address) {
  const Area* const area = state().memory.find(number_of(address));
  const PointerFacts facts = facts_of_pointer(address);
  return area != nullptr && facts.use == Use::device ? area : nullptr;
}

enum class Access { read, write };

// One end of a copy: rows that are all in one area, or all of the host.
struct End {
  const void* first;
  std::size_t pitch, width, height;
  Access access;
};

void check_device(const char* what, const End& end) {
  const Area* const area = state().memory.find(number_of(end.first));
  if (area == nullptr) throw Failure{Error::invalid_value};
  const std::uint64_t limit = area->first + (area->rows - 1) * area->pitch_bytes + area->row_bytes;
  const std::uint64_t last = number_of(end.first) + (end.height - 1) * end.pitch + end.width;
  if (last > limit) throw Failure{Error::invalid_value};
  if (end.access == Access::write && !area->writable) {
    throw Failure{Error::success, Finding{Fault::write_to_input,
                                          std::string(what) + " of the host code writes to " +
                                              area->name + ", which is only to be read",
                                          number_of(end.first), true}};
  }
}

// Whether an end has to be the device's, may not be, or may be either.
enum class Side { host, device, any };
Side from_side(Direction direction) {
  switch (direction) {
    case Direction::host_to_host:
    case Direction::host_to_device: return Side::host;
    case Direction::device_to_host:
    case Direction::device_to_device: return Side::device;
    case Direction::any: return Side::any;
  }
  throw Failure{Error::invalid_memcpy_direction};
}
Side to_side(Direction direction) {
  switch (direction) {
    case Direction::host_to_host:
    case Direction::device_to_host: return Side::host;
    case Direction::host_to_device:
    case Direction::device_to_device: return Side::device;
    case Direction::any: return Side::any;
  }
  throw Failure{Error::invalid_memcpy_direction};
}

void check(const char* what, const End& end, Side side) {
  if (end.first == nullptr) throw Failure{Error::invalid_value};
  const bool known = state().memory.find(number_of(end.first)) != nullptr;
  if (side == Side::host && device_area(end.first) != nullptr) throw Failure{Error::invalid_value};
  if (side == Side::device || known) check_device(what, end);
}

HostAccess access_of(const char* what, const End& end) {
  const bool writes = end.access == Access::write;
  return {.name = what,
          .does = writes ? "writes" : "reads",
          .first = end.first,
          .pitch = end.pitch,
          .width = end.width,
          .height = end.height,
          .writes = writes,
          .sets_values = writes};
}

void mark_written(const End& end) {
  if (state().memory.find(number_of(end.first)) == nullptr) return;
  for (std::size_t row = 0; row < end.height; ++row)
    state().memory.mark_written(number_of(end.first) + row * end.pitch, end.width);
}

}  // namespace

Error allocate(void** result, std::size_t bytes, Use use) {
  return call([&] {
    State& device = state();
    if (result == nullptr) throw Failure{Error::invalid_value};
    *result = nullptr;
    if (bytes == 0) return;
    if (bytes > left()) throw Failure{Error::memory_allocation};
    *result = device.memory.allocate(bytes, name_of(use, bytes, ++device.numbered),
                                     !device.runs_nothing());
    device.allocations[*result] = {.use = use, .bytes = bytes};
    device.allocated += bytes;
    // What the host writes there is not seen.
    if (use != Use::device) device.memory.mark_written(number_of(*result), bytes);
  });
}

// Whoever uses the memory has to come after that: others may have used it before.
Error allocate_in(void* stream, void** result, std::size_t bytes) {
  return call([&] {
    need_stream(stream);
    const Error error = allocate(result, bytes, Use::device);
    if (error != Error::success) throw Failure{error};
    if (*result == nullptr || state().runs_nothing()) return;
    enter_access(stream, {.name = "cudaMallocAsync",
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
    device.allocated -= found->second.bytes;
    device.allocations.erase(found);
    device.memory.release(memory);
  };
  return call(work, WhenLost::go_on);
}

}  // namespace

Error release(void* memory, Use use) {
  return release(memory, use, [](std::size_t) { state().timeline.wait_on_host_for_all(); });
}

Error release_in(void* stream, void* memory) {
  return release(memory, Use::device, [&](std::size_t bytes) {
    enter_access(stream, {.name = "cudaFreeAsync",
                          .does = "frees",
                          .did = "freed",
                          .first = memory,
                          .width = bytes,
                          .writes = true});
  });
}

Error register_host(void* memory, std::size_t bytes) {
  return call([&] {
    State& device = state();
    if (memory == nullptr || bytes == 0) throw Failure{Error::invalid_value};
    if (device.memory.find(number_of(memory)) != nullptr)
      throw Failure{Error::host_memory_already_registered};
    device.memory.lend({.name = name_of(Use::host, bytes, ++device.numbered),
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
    if (found == device.allocations.end() || !found->second.lent)
      throw Failure{Error::host_memory_not_registered};
    device.allocations.erase(found);
    device.memory.forget(number_of(memory));
  };
  return call(work, WhenLost::go_on);
}

Error memory_info(std::size_t& free, std::size_t& total) {
  return call([&] {
    total = model().memory;
    free = total - std::min(total, state().allocated);
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

Error copy(const Copy& asked) {
  return call([&] {
    need_stream(asked.stream);
    if (asked.width == 0 || asked.height == 0 || state().runs_nothing()) return;
    constexpr std::size_t most_pitch = 2147483647;
    if (asked.to_pitch > most_pitch || asked.from_pitch > most_pitch)
      throw Failure{Error::invalid_pitch_value};
    if (asked.height > 1 && (asked.width > asked.to_pitch || asked.width > asked.from_pitch))
      throw Failure{Error::invalid_value};
    const End to{asked.to, asked.to_pitch, asked.width, asked.height, Access::write};
    const End from{asked.from, asked.from_pitch, asked.width, asked.height, Access::read};
    check("cudaMemcpy", from, from_side(asked.direction));
    check("cudaMemcpy", to, to_side(asked.direction));
    enter_access(asked.stream, access_of("cudaMemcpy", from));
    enter_access(asked.stream, access_of("cudaMemcpy", to));
    for (std::size_t row = 0; row < asked.height; ++row) {
      std::memmove(static_cast<std::byte*>(asked.to) + row * asked.to_pitch,
                   static_cast<const std::byte*>(asked.from) + row * asked.from_pitch, asked.width);
    }
    mark_written(to);
    const bool is_for_host = facts_of_pointer(asked.to).known == false;
    const bool is_of_device =
        device_area(asked.to) != nullptr && device_area(asked.from) != nullptr;
    const auto is_pinned = [](const void* address) {
      const PointerFacts facts = facts_of_pointer(address);
      return facts.known && facts.use == Use::host;
    };
    const Timeline::Known after = state().timeline.before_next(name_of_stream(asked.stream));
    if (!asked.waits && is_pinned(asked.from))
      state().pending.add_source({asked.from, asked.from_pitch, asked.width, asked.height}, after);
    if (!asked.waits && is_pinned(asked.to))
      state().pending.add_result({asked.to, asked.to_pitch, asked.width, asked.height}, after);
    if (is_for_host || (asked.waits && !is_of_device)) {
      Timeline& timeline = state().timeline;
      timeline.wait_on_host(timeline.before_next(name_of_stream(asked.stream)));
    }
  });
}

namespace {

// Of memory that is there only where it is touched: then nothing more is done.
bool is_too_much_for_a_part(std::size_t bytes) {
  constexpr std::size_t most = std::size_t{1} << 28;
  const State& device = state();
  if (device.request == nullptr || device.request->settings.most_blocks == 0 || bytes <= most)
    return false;
  device.seen->is_part = device.seen->is_no_part = true;
  state().seen_enough = true;
  return true;
}

}  // namespace

Error set_memory(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                 void* stream) {
  return call([&] {
    need_stream(stream);
    if (width == 0 || height == 0 || state().runs_nothing()) return;
    if (to == nullptr || (height > 1 && width > pitch)) throw Failure{Error::invalid_value};
    const End end{to, pitch, width, height, Access::write};
    check_device("cudaMemset", end);
    if (is_too_much_for_a_part(width * height)) return;
    enter_access(stream, access_of("cudaMemset", end));
    for (std::size_t row = 0; row < height; ++row)
      std::memset(static_cast<std::byte*>(to) + row * pitch, value, width);
    mark_written(end);
  });
}

namespace {

// Where a piece of a variable is. Throws if there is no such piece.
Error piece_of(const void* host, std::size_t bytes, std::size_t offset, std::byte*& piece) {
  void* address = nullptr;
  std::size_t size = 0;
  const Error error = symbol(host, &address, &size);
  if (error != Error::success) return error;
  if (offset > size || bytes > size - offset) return fail(Error::invalid_value);
  piece = static_cast<std::byte*>(address) + offset;
  return error;
}

}  // namespace

Error copy_to_symbol(const void* host, const void* from, std::size_t bytes, std::size_t offset,
                     Direction direction, void* stream, bool waits) {
  std::byte* piece = nullptr;
  if (const Error error = piece_of(host, bytes, offset, piece); error != Error::success)
    return error;
  return copy({.to = piece,
               .from = from,
               .width = bytes,
               .direction = direction,
               .stream = stream,
               .waits = waits});
}

Error copy_from_symbol(void* to, const void* host, std::size_t bytes, std::size_t offset,
                       Direction direction, void* stream, bool waits) {
  std::byte* piece = nullptr;
  if (const Error error = piece_of(host, bytes, offset, piece); error != Error::success)
    return error;
  return copy({.to = to,
               .from = piece,
               .width = bytes,
               .direction = direction,
               .stream = stream,
               .waits = waits});
}

}  // namespace ptx::runtime
