#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <stdexcept>

#include "simt/in_flight.h"
#include "simt/runner.h"
#include "simt/signals.h"
#include "simt/watch.h"

namespace simt {
namespace {

// What `observe` has set up for launches from this thread.
struct Session {
  Settings settings;
  Observation seen;
  bool closed = false;  // device memory, to host code
  struct Access {
    const void* address;
    bool is_write;
  };
  std::optional<Access> by_host = {};
  InFlight in_flight = {};

  void open() {
    if (settings.device_memory == nullptr || !std::exchange(closed, false)) return;
    settings.device_memory->open();
  }
  void close() {
    if (settings.device_memory == nullptr || std::exchange(closed, true)) return;
    settings.device_memory->close();
  }
};
thread_local Session* session = nullptr;
thread_local cudaError_t last_error = cudaSuccess;

std::mutex allowances_mutex;
std::map<const void*, std::size_t> dynamic_allowances;  // by kernel, where one was asked for

// Who did not ask for more gets 48 KiB of both kinds together.
std::size_t dynamic_allowance(const void* code, std::size_t fixed) {
  const std::lock_guard lock(allowances_mutex);
  const auto found = dynamic_allowances.find(code);
  return found == dynamic_allowances.end() ? max_static_shared - fixed : found->second;
}

std::string text(dim3 d) { return fmt::format("{}x{}x{}", d.x, d.y, d.z); }

// Why a GPU would not start this, and the error it would answer with.
struct Refusal {
  cudaError_t error = cudaSuccess;
  std::string reason;
};

Refusal refuse(const cudaLaunchConfig_t& config, const Kernel& kernel) {
  const dim3 grid = config.gridDim, block = config.blockDim;
  const auto wrong_shape = [](std::string reason) {
    return Refusal{cudaErrorInvalidValue, std::move(reason)};
  };
  if (grid.x == 0 || grid.y == 0 || grid.z == 0)
    return wrong_shape("a grid of " + text(grid) + " has no blocks");
  if (grid.x > max_grid_x || grid.y > max_grid_yz || grid.z > max_grid_yz) {
    return wrong_shape("a grid of " + text(grid) +
                       " blocks: y and z may be 65535 at most, x 2147483647");
  }
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (threads == 0) return wrong_shape("a block of " + text(block) + " has no threads");
  if (threads > max_threads_per_block) {
    return wrong_shape(
        fmt::format("a block of {} has {} threads, 1024 at most", text(block), threads));
  }
  if (block.z > max_block_z)
    return wrong_shape("a block of " + text(block) + " threads: z may be 64 at most");

  const std::size_t fixed = static_shared_of(kernel.code).size();
  const auto too_much = [](std::string reason) {
    return Refusal{cudaErrorInvalidValue, std::move(reason)};
  };
  if (fixed > max_static_shared) {
    return too_much(
        fmt::format("{} bytes of static shared memory in the kernels of this file, {} at most",
                    fixed, max_static_shared));
  }
  const std::size_t dynamic = config.dynamicSmemBytes;
  const std::size_t allowed = dynamic_allowance(kernel.code, fixed);
  if (dynamic > allowed) {
    return too_much(
        fmt::format("{} bytes of dynamic shared memory beside {} of static, {} allowed: "
                    "cudaFuncSetAttribute allows up to {}",
                    dynamic, fixed, allowed, max_shared - fixed));
  }
  return {};
}

// A launch where nothing runs.
void note(const cudaLaunchConfig_t& config, const Kernel& kernel, Observation& seen) {
  const auto add = [&](const auto& value) {
    seen.launched = digest_of(&value, sizeof value, seen.launched);
  };
  add(kernel.code), add(config.gridDim), add(config.blockDim), add(config.dynamicSmemBytes);
  if (kernel.digest != nullptr) add(kernel.digest(kernel.arguments));
}

cudaError_t error_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::misaligned_access: return cudaErrorMisalignedAddress;
    case FaultKind::bad_address: return cudaErrorIllegalAddress;
    case FaultKind::never_ends: return cudaErrorLaunchTimeout;
    default: return cudaErrorLaunchFailure;
  }
}

cudaError_t fail(cudaError_t error, Fault fault) {
  last_error = error;
  if (!session->seen.fault) session->seen.fault = std::move(fault);
  return error;
}

// Once the host has touched device memory, nothing more is to be seen.
bool host_has_touched() {
  if (!session->by_host || session->seen.fault) return session->by_host.has_value();
  const auto [address, is_write] = *session->by_host;
  fail(cudaErrorIllegalAddress,
       {FaultKind::host_access,
        fmt::format("launch() itself {} memory that only kernels can reach on a GPU",
                    is_write ? "wrote to" : "read"),
        address, is_write});
  return true;
}

}  // namespace

std::string_view to_string(FaultKind kind) {
  switch (kind) {
    case FaultKind::host_access: return "host access";
    case FaultKind::other_stream: return "other stream";
    case FaultKind::launch_refused: return "launch refused";
    case FaultKind::barrier_not_reached: return "barrier not reached by all threads";
    case FaultKind::warp_not_reached: return "warp operation not reached by all lanes";
    case FaultKind::never_ends: return "never ends";
    case FaultKind::misaligned_access: return "misaligned access";
    case FaultKind::bad_address: return "bad address";
    case FaultKind::stack_overflow: return "too much local memory";
    case FaultKind::array_overrun: return "array overrun";
    case FaultKind::not_allowed: return "access that is not allowed";
    case FaultKind::bad_instruction: return "trap";
  }
  return "unknown";
}

namespace {

// Of a launch that hardware takes; false after a fault.
bool run_now(const Launch& launch, const Stretch& blocks) {
  session->open();
  Observation seen = Runner::mine().run(launch, session->settings, blocks);
  session->close();
  session->seen.kernels += launch.kernel.code != nullptr && blocks.first == 0;
  session->seen.threads += seen.threads, session->seen.stops += seen.stops;
  session->seen.is_part |= seen.is_part;
  if (session->seen.remark.empty()) session->seen.remark = std::move(seen.remark);
  if (!seen.fault) return true;
  const cudaError_t error = error_of(seen.fault->kind);
  fail(error, std::move(*seen.fault));
  return false;
}

bool is_given(const void* stream) {
  const auto& given = session->settings.streams;
  return given.empty() || std::find(given.begin(), given.end(), stream) != given.end();
}

Fault work_in_other_stream(const Kernel& kernel, const void* stream) {
  return {FaultKind::other_stream,
          fmt::format("{} goes to {}, which nothing orders with the stream that was given",
                      kernel.code == nullptr ? "a memset or memcpy" : "a kernel",
                      stream == nullptr ? "the default stream" : "another stream")};
}

}  // namespace

Observation observe(const Settings& settings, const std::function<void()>& host_code) {
  Session mine{.settings = settings, .seen = {}};
  Session* const outer = std::exchange(session, &mine);
  Watch* const outer_watch = std::exchange(watching, settings.watch);
  const auto leave = [&] {
    mine.open();
    host_has_touched();
    session = outer, watching = outer_watch;
  };
  last_error = cudaSuccess;
  catch_signals_on_this_thread();
  mine.close();
  try {
    host_code();
    if (!host_has_touched()) mine.in_flight.run_all(settings.seed, run_now);
  } catch (...) {
    leave();
    throw;
  }
  leave();
  return std::move(mine.seen);
}

cudaError_t launch(const cudaLaunchConfig_t& config, const Kernel& kernel) {
  if (session == nullptr) throw std::logic_error("kernels are launched inside simt::observe");
  if (session->seen.fault || host_has_touched()) return last_error;
  const int number = session->seen.operations++;
  session->seen.blocks_meet |= number > 0;
  if (session->settings.refuses_launches || number == session->settings.refused_launch)
    return last_error = cudaErrorLaunchFailure;
  if (Refusal refusal = refuse(config, kernel); refusal.error != cudaSuccess) {
    return fail(refusal.error, {FaultKind::launch_refused, std::move(refusal.reason)});
  }
  if (!is_given(config.stream))
    return fail(cudaErrorLaunchFailure, work_in_other_stream(kernel, config.stream));
  const Launch launch{kernel, config.gridDim, config.blockDim, config.dynamicSmemBytes};
  session->seen.blocks += launch.blocks();
  session->seen.blocks_of[kernel.code] += launch.blocks();
  if (session->settings.runs_nothing) {
    note(config, kernel, session->seen);
  } else if (session->settings.keeps_in_flight) {
    session->in_flight.put(config.stream, launch);
  } else if (!run_now(launch, {0, launch.blocks()})) {
    return last_error;
  }
  return cudaSuccess;
}

cudaError_t allow_dynamic_shared(const void* code, int bytes) {
  const std::size_t fixed = static_shared_of(code).size();
  if (bytes < 0 || static_cast<std::size_t>(bytes) + fixed > max_shared)
    return last_error = cudaErrorInvalidValue;
  const std::lock_guard lock(allowances_mutex);
  dynamic_allowances[code] = static_cast<std::size_t>(bytes);
  return cudaSuccess;
}

std::uint64_t digest_of(const void* bytes, std::size_t count, std::uint64_t before) {
  const auto* const each = static_cast<const unsigned char*>(bytes);
  return std::accumulate(each, each + count, before, [](std::uint64_t all, unsigned char byte) {
    return (all ^ byte) * 1099511628211u;
  });
}

bool note_host_access(const void* address, bool is_write) {
  if (session == nullptr || !session->closed) return false;
  session->by_host = {address, is_write};
  session->open();
  return true;
}

void* dynamic_shared() { return active_runner->dynamic_shared(); }
void pass() {
  if (session != nullptr) session->seen.blocks_meet = true;
  if (active_runner != nullptr) active_runner->pass();
}
unsigned lane() { return active_runner->lane(); }
int barrier(int line, bool yes) { return active_runner->barrier(line, yes); }
std::uint64_t warp_exchange(unsigned mask, std::uint64_t value, unsigned from, WarpCall call) {
  return active_runner->warp_exchange(mask, value, from, call);
}

}  // namespace simt

cudaError_t cudaPeekAtLastError() { return simt::last_error; }

cudaError_t cudaGetLastError() { return std::exchange(simt::last_error, cudaSuccess); }

namespace {

// As a launch of one thread: what it does to memory that is nobody's is a fault with a name. A
// memset is from nowhere.
template <class Operation>
cudaError_t in_order(void* to, const void* from, std::size_t bytes, cudaStream_t stream,
                     const Operation& operation) {
  if (simt::session == nullptr) {
    operation();
    return cudaSuccess;
  }
  const auto watched = [=] {
    if (simt::watching != nullptr) simt::watching->touch(bytes);
    if (from != nullptr)
      simt::active_runner->look({.address = from, .bytes = bytes, .reads = true});
    simt::active_runner->look({.address = to, .bytes = bytes, .writes = true});
    operation();
  };
  const auto call = [](const void*, const void* packed) {
    (*static_cast<const decltype(watched)*>(packed))();
  };
  using Watched = decltype(watched);
  return simt::launch(
      {.gridDim = 1, .blockDim = 1, .stream = stream},
      {nullptr, &watched, call, simt::copy_of<Watched>, simt::drop<Watched>, nullptr});
}

}  // namespace

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  return in_order(memory, nullptr, bytes, stream, [=] { std::memset(memory, value, bytes); });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  return in_order(to, from, bytes, stream, [=] { std::memmove(to, from, bytes); });
}
