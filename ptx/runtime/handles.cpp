// Streams, events and pools. Work is done when it is enqueued; what may count on it is told.
#include "ptx/runtime/state.h"

namespace ptx::runtime {

namespace {

// The stream that is always there, and the legacy and per-thread ones that can be named.
unsigned long long number_of_built_in(const void* stream) {
  return reinterpret_cast<std::uintptr_t>(stream);
}
bool is_built_in(const void* stream) { return number_of_built_in(stream) <= 2; }

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

namespace {

const Stream& made_stream(void* handle) {
  for (const Stream& one : state().of_caller)
    if (&one == handle) return one;
  const auto found = find_handle(state().streams, handle);
  if (found == state().streams.end()) throw Failure{Error::invalid_resource_handle};
  return **found;
}

}  // namespace

void need_stream(void* stream) {
  if (!is_built_in(stream)) made_stream(stream);
}

StreamName name_of_stream(void* stream) {
  if (is_built_in(stream)) return {.number = stream == nullptr ? 1 : number_of_built_in(stream)};
  const StreamFacts& facts = made_stream(stream).facts;
  return {.number = facts.id, .is_apart = (facts.flags & 1) != 0};
}

Error create_stream(void** result, unsigned flags, int priority) {
  return call([&] {
    if (result == nullptr || flags > 1) throw Failure{Error::invalid_value};
    need_memory();
    State& device = state();
    auto stream = std::make_unique<Stream>(Stream{{flags, priority, device.next_stream++}});
    *result = stream.get();
    device.streams.insert(std::move(stream));
  });
}

Error destroy_stream(void* stream) {
  const bool is_made = find_handle(state().streams, stream) != state().streams.end();
  if (is_made) {
    leave_captures(stream);
    state().attributes.erase(name_of_stream(stream).number);
  }
  return destroy(state().streams, stream);
}

Error stream_facts(void* stream, StreamFacts& facts) {
  return call([&] {
    need_stream(stream);
    if (is_built_in(stream))
      facts = {.id = reinterpret_cast<std::uintptr_t>(stream)};
    else
      facts = made_stream(stream).facts;
  });
}

Error check_stream(void* stream) {
  return call([&] { need_stream(stream); });
}

Error set_attribute(void* stream, int which, const AttributeValue& value) {
  return call([&] { state().attributes[name_of_stream(stream).number][which] = value; });
}

Error get_attribute(void* stream, int which, AttributeValue& value) {
  return call([&] {
    const Attributes& all = state().attributes[name_of_stream(stream).number];
    if (const auto found = all.find(which); found != all.end()) value = found->second;
  });
}

Error copy_attributes(void* to, void* from) {
  return call([&] {
    const StreamName source = name_of_stream(from);
    state().attributes[name_of_stream(to).number] = state().attributes[source.number];
  });
}

// Of a stream that has callbacks: a graph can hold none.
Error wait_for_stream(void* stream) {
  return call([&] {
    forbid_if_captured(stream);
    host_waits_for(state().timeline.before_next(name_of_stream(stream)));
  });
}

namespace {

// How often the host asks in vain: where time is short, whoever gives up after a while does so. Not
// about everything that is asked about in an observation: it takes long where calls are many.
int times_in_vain() {
  constexpr int usual = 1, many = 1500, most_works = 8;
  State& device = state();
  const bool is_slow = device.request != nullptr && device.request->settings.seed % 2 == 1;
  return is_slow && device.works_asked_about++ < most_works ? many : usual;
}
// Whether work is done: not yet, as long as the host can only guess. Whoever asks about the same
// work often enough finds it done.
void answer_for(const Known& work, Known& asked) {
  State& device = state();
  if (!device.timeline.host_knows(work)) {
    if (asked != work) asked = work, device.asked_in_vain = times_in_vain();
    if (device.asked_in_vain-- > 0) throw Failure{Error::not_ready};
  }
  host_waits_for(work);
}

}  // namespace

Error query_stream(void* stream) {
  return call([&] {
    State& device = state();
    const StreamName name = name_of_stream(stream);
    forbid_if_captured(stream);
    answer_for(device.timeline.before_next(name), device.asked[name.number]);
  });
}

Error create_event(void** result, bool timed) {
  return call([&] {
    if (result == nullptr) throw Failure{Error::invalid_value};
    need_memory();
    auto event = std::make_unique<Event>(Event{.timed = timed});
    *result = event.get();
    state().events.insert(std::move(event));
  });
}

Error destroy_event(void* event) { return destroy(state().events, event); }

namespace {

void record_now(Event& event, StreamName stream) {
  event.captured = {};
  event.known.get() = state().timeline.before_next(stream);
  event.recorded = std::chrono::steady_clock::now();
}
void wait_now(Event& event, StreamName stream) {
  if (event.recorded) state().timeline.wait(stream, event.known.get());
}

// As a node that does so at each launch.
void record_as_node(void* event, void* stream, NodeKind kind, void (*does)(Event&, StreamName)) {
  if (!is_captured(stream)) throw Failure{Error::illegal_state};
  const auto run = [event, does](const Turn& turn) { does(event_of(event), turn.stream); };
  record(stream, {.run = run, .kind = kind, .event = event});
}

}  // namespace

Error record_event(void* event, void* stream, EventOf of) {
  return call([&] {
    Event& its = event_of(event);
    if (of == EventOf::outside) return record_as_node(event, stream, NodeKind::record, record_now);
    if (!record_captured(its.captured, stream)) record_now(its, name_of_stream(stream));
  });
}

Error wait_for_event(void* event) {
  return call([&] {
    Event& its = event_of(event);
    forbid_if_captured(its.captured);
    host_waits_for(its.known.get());
  });
}

Error query_event(void* event) {
  return call([&] {
    Event& its = event_of(event);
    forbid_if_captured(its.captured);
    answer_for(its.known.get(), its.asked.get());
  });
}

Error wait_for_event(void* stream, void* event, EventOf of) {
  return call([&] {
    Event& its = event_of(event);
    if (of == EventOf::outside) return record_as_node(event, stream, NodeKind::wait, wait_now);
    const bool was_recorded = its.recorded || its.captured.capture != nullptr;
    if (!was_recorded || wait_for_captured(stream, its.captured)) return;
    wait_now(its, name_of_stream(stream));
  });
}

Error elapsed(float& milliseconds, void* from, void* to) {
  return call([&] {
    Event &first = event_of(from), &second = event_of(to);
    for (const Event* event : {&first, &second})
      if (event->captured.capture != nullptr) forbid_if_captured(event->captured);
    if (!first.timed || !second.timed || !first.recorded || !second.recorded)
      throw Failure{Error::invalid_resource_handle};
    answer_for(second.known.get(), second.asked.get());
    milliseconds =
        std::chrono::duration<float, std::milli>(*second.recorded - *first.recorded).count();
  });
}

Error create_pool(void** result) {
  return call([&] {
    if (result == nullptr) throw Failure{Error::invalid_value};
    need_memory();
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
