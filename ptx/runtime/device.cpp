// The device as a whole: waiting for it, its limits, and what is left of it after a reset.
#include "ptx/runtime/state.h"

namespace ptx::runtime {

Error synchronize() {
  return call([] {
    forbid_while_any_captures();
    host_waits_for_all();
  });
}

Error reset() {
  State& device = state();
  const std::lock_guard lock(device.mutex);
  device.lost = device.stopped = Error::success;
  take_last_error();
  host_waits_for_all();
  for (const auto& [address, allocation] : device.allocations) {
    if (allocation.lent || allocation.of_graph != nullptr)
      device.memory.forget(reinterpret_cast<std::uint64_t>(address));
    else
      device.memory.release(address);
  }
  forget_mappings();
  device.allocations.clear(), device.allocated = 0;
  device.memory.release_heap();
  device.has_used_heap = false;
  device.streams.clear(), device.attributes.clear();
  device.events.clear();
  device.pools.clear();
  device.arrays.clear();
  for (const auto& [handle, _] : device.textures) device.memory.remove_texture(handle);
  device.textures.clear();
  device.captures.clear();
  device.nodes.clear();
  device.graphs.clear();
  device.executables.clear();
  for (const auto& binary : device.binaries) {
    const bool is_read_by_host = binary->program && !binary->managed.empty();
    binary->program.reset();
    if (is_read_by_host) init_module(binary.get());
  }
  return Error::success;
}

Error set_device(int device) {
  return call([&] {
    if (device != 0) throw Failure{Error::invalid_device};
  });
}

Error set_limit(int limit, std::size_t value) {
  return call([&] {
    if (limit < 0 || limit >= std::ssize(state().limits)) throw Failure{Error::invalid_value};
    std::size_t& now = state().limits[static_cast<std::size_t>(limit)];
    constexpr int heap_of_kernels = 2;  // as large as it was when a kernel first used it
    const bool is_fixed = limit == heap_of_kernels && state().has_used_heap;
    if (is_fixed && value != now) throw Failure{Error::invalid_value};
    now = value;
    if (limit == heap_of_kernels) state().memory.set_heap(value);
  });
}

Error get_limit(int limit, std::size_t& value) {
  return call([&] {
    if (limit < 0 || limit >= std::ssize(state().limits)) throw Failure{Error::invalid_value};
    value = state().limits[static_cast<std::size_t>(limit)];
  });
}

}  // namespace ptx::runtime
