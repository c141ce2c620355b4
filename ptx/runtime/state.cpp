#include "ptx/runtime/state.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace ptx {

namespace {

void tell(const Finding& finding) {
  std::fprintf(stderr, "ptx: %s: %s\n", std::string(to_string(finding.fault)).c_str(),
               finding.text.c_str());
}

// Begins or ends an observation, with no error left behind. Not locked in between: host code may
// call from threads of its own.
std::pair<const Request*, Observation*> exchange(const Request* request, Observation* seen) {
  runtime::State& device = runtime::state();
  const std::lock_guard lock(device.mutex);
  device.lost = device.stopped = Error::success;
  device.seen_enough = device.follows_part = false;
  runtime::take_last_error();
  device.numbered = 0;
  device.memory.number_textures_anew();
  device.captures.clear();  // nobody can end those that began before
  device.under_way.forget();
  std::vector<runtime::StreamName> of_caller;
  for (int i = 0; request != nullptr && i < request->streams; ++i)
    of_caller.push_back(
        runtime::name_of_stream(i == 0 ? handle_of(request->first_stream) : stream_of_caller(i)));
  device.timeline.begin(of_caller);
  device.memory.forget_launches();
  if (request != nullptr && std::exchange(device.program, request->program) != request->program)
    device.has_used_heap = false;
  ++device.observation;
  device.asked.clear();
  device.works_asked_about = 0;
  return {std::exchange(device.request, request), std::exchange(device.seen, seen)};
}

// Host code that ends the process when a call fails takes the finding with it.
void tell_at_exit() {
  const Observation* const seen = runtime::state().seen;
  if (seen != nullptr && seen->finding) tell(*seen->finding);
}

Finding changed_capture_mode() {
  return {Fault::changed_caller,
          "it leaves the capture mode of its caller's thread changed "
          "(cudaThreadExchangeStreamCaptureMode): calls that a capture forbids are not refused any "
          "more, or others are"};
}

}  // namespace

bool stands_alone(Fault fault) {
  return fault == Fault::bad_address || fault == Fault::write_to_input ||
         fault == Fault::misaligned_access || fault == Fault::launch_refused;
}

Memory& device_memory() { return runtime::state().memory; }

void* stream_of_caller(int which) {
  return &runtime::state().of_caller[static_cast<std::size_t>(which)];
}
void* handle_of(FirstStream first) {
  switch (first) {
    case FirstStream::legacy_default: return nullptr;
    case FirstStream::legacy_by_name: return reinterpret_cast<void*>(std::uintptr_t{1});
    case FirstStream::of_thread: return reinterpret_cast<void*>(std::uintptr_t{2});
    case FirstStream::that_blocks: return stream_of_caller(stream_that_blocks);
    case FirstStream::of_high_priority: return stream_of_caller(stream_of_high_priority);
    case FirstStream::own: break;
  }
  return stream_of_caller(0);
}

namespace {

// Calls use(key, first, bytes) for each variable of kernels, and all memory that host code has
// allocated.
template <class Use>
void for_all_kept(const Use& use) {
  runtime::State& device = runtime::state();
  const std::lock_guard lock(device.mutex);
  for (const auto& [_, variables] : device.variables)
    for (const runtime::Variable& variable : variables) {
      if (variable.binary->program == nullptr) continue;  // nobody has launched its kernels
      const Program::Symbol symbol = variable.binary->program->symbol(variable.name);
      if (symbol.address != nullptr)
        use(symbol.address, device.memory.bytes_at(symbol.address), symbol.bytes);
    }
  for (const auto& [first, allocation] : device.allocations)
    if (!allocation.lent || allocation.use == runtime::Use::device)
      use(first, device.memory.bytes_at(first), allocation.bytes);
}

}  // namespace

std::uint64_t hash_of_kept_memory() {
  constexpr std::size_t most = 1 << 20;
  std::uint64_t hash = 0;
  const auto add = [&](const void*, const std::byte* first, std::size_t bytes) {
    hash += 14695981039346656037u;
    for (std::size_t i = 0; i + 4 <= std::min(bytes, most); i += 4) {
      std::uint32_t word = 0;
      std::memcpy(&word, first + i, 4);
      hash = (hash ^ word) * 1099511628211u;
    }
  };
  for_all_kept(add);
  return hash;
}

KeptMemory::KeptMemory() {
  for_all_kept([&](const void* address, const std::byte* first, std::size_t bytes) {
    held_[address].assign(first, first + bytes);
  });
}

void KeptMemory::put_back() const {
  for_all_kept([&](const void* address, std::byte* first, std::size_t bytes) {
    const auto its = held_.find(address);
    if (its != held_.end() && its->second.size() == bytes)
      std::memcpy(first, its->second.data(), bytes);
  });
}

std::uint64_t kept_bytes() {
  const std::lock_guard lock(runtime::state().mutex);
  return runtime::state().allocated + device_memory().bytes_of_heap();
}

std::uint64_t kept_handles() {
  const runtime::State& device = runtime::state();
  return device.streams.size() + device.events.size() + device.pools.size() + device.arrays.size() +
         device.textures.size() + device.graphs.size() + device.objects.size() +
         device.executables.size();
}

Observation observe(const Request& request, const std::function<void()>& host_code) {
  using namespace runtime;
  static const int told_at_exit = std::atexit(tell_at_exit);
  static_cast<void>(told_at_exit);
  Observation seen;
  const auto [outer_request, outer_seen] = exchange(&request, &seen);
  CaptureMode mode = CaptureMode::global;
  exchange_capture_mode(mode);
  try {
    host_code();
  } catch (...) {
    exchange_capture_mode(mode);
    exchange(outer_request, outer_seen);
    throw;
  }
  if (!state().under_way.empty()) call([] { state().under_way.finish_all(); });
  if (!seen.finding) {
    auto found = state().pending.end(&seen, state().timeline);
    if (!seen.finding) seen.finding = std::move(found);  // a function may have been called, too
  }
  state().pending = {};
  if (request.streams > 0 && !seen.finding)
    seen.finding = touched_of_caller(device_memory(), state().timeline.left_over());
  exchange(outer_request, outer_seen);
  exchange_capture_mode(mode);
  if (mode != CaptureMode::global && !seen.finding) seen.finding = changed_capture_mode();
  return seen;
}

namespace runtime {

namespace {

thread_local Error last_error = Error::success;

// What a GPU would answer with; where it would notice nothing, the kernel did not finish here.
Error error_of(Fault fault) {
  switch (fault) {
    case Fault::bad_address: return Error::illegal_address;
    case Fault::misaligned_access: return Error::misaligned_address;
    case Fault::illegal_instruction: return Error::illegal_instruction;
    case Fault::never_ends: return Error::launch_timeout;
    case Fault::unsupported: return Error::not_supported;
    default: return Error::launch_failure;
  }
}

bool is_lasting(Fault fault) {
  return fault != Fault::launch_refused && fault != Fault::unsupported;
}

void keep(const Failure& failure) {
  if (!failure.finding) return;
  State& device = state();
  device.under_way.forget();
  if (device.stopped == Error::success) device.stopped = failure.error;
  if (is_lasting(failure.finding->fault)) device.lost = failure.error;
  if (device.seen == nullptr) {
    tell(*failure.finding);
  } else if (!device.seen->finding) {
    device.seen->finding = failure.finding;
  }
}

void settle_pending() {
  if (auto finding = state().pending.settle()) throw Failure{Error::success, std::move(finding)};
}

Failure failure_of_work(const std::function<void()>& work) {
  try {
    work();
    return {};
  } catch (Failure& failure) {
    if (failure.finding && failure.error == Error::success)
      failure.error = error_of(failure.finding->fault);
    return std::move(failure);
  } catch (const std::bad_alloc&) {
    return {Error::memory_allocation};
  } catch (const assay::BadInput& error) {
    return {Error::not_supported, Finding{Fault::unsupported, error.what()}};
  }
}

}  // namespace

State& state() {
  static State& only = *[] {
    auto* const made = new State;
    made->model = &model_named("h200");
    return made;
  }();
  return only;
}

Error call(const std::function<void()>& work, WhenLost when_lost) {
  const std::lock_guard lock(state().mutex);
  if (state().pending.calls_function()) return Error::not_permitted;
  const Error lost = state().lost;
  if (lost != Error::success && when_lost == WhenLost::fail) return lost;
  const bool is_outermost = state().depth++ == 0;
  const Failure failure = failure_of_work([&] {
    if (is_outermost) settle_pending();
    work();
  });
  --state().depth;
  if (is_outermost) state().pending.look_again(state().timeline);
  keep(failure);
  if (lost != Error::success) return lost;
  if (failure.error == Error::success || failure.error == Error::not_ready) return failure.error;
  if (state().seen != nullptr) state().seen->told_error = true;
  return last_error = failure.error;
}

Error take_last_error() {
  const Error lost = state().lost;
  return lost != Error::success ? lost : std::exchange(last_error, Error::success);
}

Error peek_last_error() {
  const Error lost = state().lost;
  return lost != Error::success ? lost : last_error;
}

Error fail(Error error) {
  return call([&] { throw Failure{error}; });
}

Error not_supported(const char* function) {
  return call([&] {
    throw Failure{Error::not_supported,
                  Finding{Fault::unsupported, "the host code calls " + std::string(function) +
                                                  ", which this machine does not have"}};
  });
}

void report_forbidden(const char* function) {
  const std::lock_guard lock(state().mutex);
  const Finding found{Fault::forbidden_call,
                      "a function of the host that a stream calls (cudaLaunchHostFunc, "
                      "cudaStreamAddCallback) calls " +
                          std::string(function) +
                          ", where no call of CUDA is allowed: a GPU does nothing then but return "
                          "cudaErrorNotPermitted"};
  keep({error_of(found.fault), found});
}

void choose_model(std::string_view name) {
  const std::lock_guard lock(state().mutex);
  state().model = &model_named(name);
  for (const auto& binary : state().binaries) binary->broken.reset();
}

const Model& model() { return *state().model; }

void choose_multiprocessors(int number) { state().multiprocessors = number; }
int multiprocessors() {
  const int chosen = state().multiprocessors;
  return chosen != 0 ? chosen : model().multiprocessors;
}
int tell_multiprocessors() {
  state().tells_multiprocessors = true;
  return multiprocessors();
}
bool are_multiprocessors_told() { return state().tells_multiprocessors; }

void host_waits_for(const Known& work) {
  state().under_way.finish(work);
  state().timeline.wait_on_host(work);
  state().pending.call_functions(work, state().timeline);
}
void host_waits_for_all() { host_waits_for(state().timeline.of_all()); }

Known& KnownNow::get() {
  if (std::exchange(observation_, state().observation) != state().observation) known_ = {};
  return known_;
}

Past past_of_next(StreamName stream, bool starts_early) {
  Timeline& timeline = state().timeline;
  state().under_way.finish(timeline.before_next(stream));
  state().pending.call_functions(timeline.before_next(stream), timeline);
  return timeline.past_of_next(stream, starts_early);
}

void enter_access(StreamName name, const HostAccess& access) {
  State& device = state();
  device.under_way.finish_all();
  const Entered entered = enter(device.memory, access, past_of_next(name));
  device.timeline.add(name, {entered.numbers, access.name, nullptr, access});
  if (device.seen != nullptr) device.seen->is_no_part |= access.sets_values;
  if (entered.finding) throw Failure{Error::success, entered.finding};
}

std::string readable(const std::string& name) {
  int status = 0;
  char* const plain = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  const std::string text = status == 0 ? plain : name;
  std::free(plain);
  return text;
}

}  // namespace runtime
}  // namespace ptx
