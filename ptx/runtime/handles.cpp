// Streams, events and pools: there is something to hold, and nothing to wait for.
#include "ptx/runtime/state.h"

namespace ptx::runtime {

namespace {

// The stream that is always there, and the legacy and per-thread ones that can be named.
bool is_built_in(const void* stream) { return reinterpret_cast<std::uintptr_t>(stream) <= 2; }

Event& event_of(void* handle) {
  const auto found = find_handle(state().events, handle);
  if (found == state().events.end()) throw Failure{Error::invalid_resource_handle};
  return **found;
}

template <class Set>
Error destroy(Set& set, void* handle) {
  const auto work = [&] {
    const auto found = find_handle(set, handle);
    if (found == set.end()) throw Failure{Error::invalid_resource_handle};
    set.erase(found);
  };
  return call(work, WhenLost::go_on);
}

}  // namespace

void need_stream(void* stream) {
  if (!is_built_in(stream) && find_handle(state().streams, stream) == state().streams.end())
    throw Failure{Error::invalid_resource_handle};
}

Error create_stream(void** result, unsigned flags, int priority) {
  return call([&] {
    if (result == nullptr || flags > 1) throw Failure{Error::invalid_value};
    State& device = state();
    auto stream = std::make_unique<Stream>(Stream{{flags, priority, device.next_stream++}});
    *result = stream.get();
    device.streams.insert(std::move(stream));
  });
}

Error destroy_stream(void* stream) { return destroy(state().streams, stream); }

Error stream_facts(void* stream, StreamFacts& facts) {
  return call([&] {
    need_stream(stream);
    if (is_built_in(stream))
      facts = {.id = reinterpret_cast<std::uintptr_t>(stream)};
    else
      facts = (*find_handle(state().streams, stream))->facts;
  });
}

Error check_stream(void* stream) {
  return call([&] { need_stream(stream); });
}

Error create_event(void** result, bool timed) {
  return call([&] {
    if (result == nullptr) throw Failure{Error::invalid_value};
    auto event = std::make_unique<Event>(Event{.timed = timed});
    *result = event.get();
    state().events.insert(std::move(event));
  });
}

Error destroy_event(void* event) { return destroy(state().events, event); }

Error record_event(void* event, void* stream) {
  return call([&] {
    need_stream(stream);
    event_of(event).recorded = std::chrono::steady_clock::now();
  });
}

Error check_event(void* event) {
  return call([&] { event_of(event); });
}

Error elapsed(float& milliseconds, void* from, void* to) {
  return call([&] {
    const Event &first = event_of(from), &second = event_of(to);
    if (!first.timed || !second.timed || !first.recorded || !second.recorded)
      throw Failure{Error::invalid_resource_handle};
    milliseconds =
        std::chrono::duration<float, std::milli>(*second.recorded - *first.recorded).count();
  });
}

Error create_pool(void** result) {
  return call([&] {
    if (result == nullptr) throw Failure{Error::invalid_value};
    auto pool = std::make_unique<int>();
    *result = pool.get();
    state().pools.insert(std::move(pool));
  });
}

Error destroy_pool(void* pool) { return destroy(state().pools, pool); }

Error check_pool(void* pool) {
  return call([&] {
    if (pool != default_pool() && find_handle(state().pools, pool) == state().pools.end())
      throw Failure{Error::invalid_value};
  });
}

void* default_pool() {
  static int pool = 0;
  return &pool;
}

}  // namespace ptx::runtime
