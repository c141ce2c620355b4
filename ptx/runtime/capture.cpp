#include "ptx/runtime/capture.h"

#include <algorithm>
#include <utility>

#include "ptx/runtime/graph/handles.h"
#include "ptx/runtime/state.h"

namespace ptx::runtime {

namespace {

thread_local CaptureMode mode_of_thread = CaptureMode::global;

std::shared_ptr<Capture> capture_in(unsigned long long stream) {
  const auto found = state().captures.find(stream);
  return found == state().captures.end() ? nullptr : found->second;
}

bool is_legacy(void* stream) { return stream == nullptr || name_of_stream(stream).number == 1; }

// The legacy stream waits for all streams that are not apart, and so may not be used meanwhile.
void forbid_in_legacy_stream(void* stream) {
  if (!is_legacy(stream)) return;
  for (const auto& [_, capture] : state().captures)
    if (capture->of_blocking_stream) spoil(*capture, Error::stream_capture_implicit);
}

bool forbids_this_thread(const Capture& capture) {
  const bool is_own = capture.thread == std::this_thread::get_id();
  if (mode_of_thread == CaptureMode::relaxed) return false;
  if (is_own) return capture.mode != CaptureMode::relaxed;
  return mode_of_thread == CaptureMode::global && capture.mode == CaptureMode::global;
}

void add_all(std::vector<std::size_t>& to, const std::vector<std::size_t>& from) {
  for (const std::size_t node : from)
    if (std::find(to.begin(), to.end(), node) == to.end()) to.push_back(node);
}

// Those nodes, and all that come before them.
std::vector<bool> up_to(const Graph& graph, std::vector<std::size_t> open) {
  std::vector<bool> all(graph.nodes.size());
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    if (all[node]) continue;
    all[node] = true;
    add_all(open, graph.nodes[node].after);
  }
  return all;
}

bool is_joined(const Capture& capture) {
  const std::vector<bool> before_end = up_to(*capture.graph, capture.last.at(capture.origin));
  return std::all_of(capture.last.begin(), capture.last.end(), [&](const auto& of_stream) {
    return std::all_of(of_stream.second.begin(), of_stream.second.end(),
                       [&](std::size_t node) { return before_end[node]; });
  });
}

void end(Capture& capture) {
  capture.has_ended = true;
  std::erase_if(state().captures, [&](const auto& one) { return one.second.get() == &capture; });
}

}  // namespace

void spoil(Capture& capture, Error error) {
  capture.is_invalid = true;
  throw Failure{error};
}

bool is_captured(void* stream) {
  const auto capture = capture_in(name_of_stream(stream).number);
  if (capture == nullptr) {
    forbid_in_legacy_stream(stream);
    return false;
  }
  if (capture->is_invalid) throw Failure{Error::stream_capture_invalidated};
  return true;
}

Capture& capture_of(void* stream) { return *capture_in(name_of_stream(stream).number); }

void record(void* stream, Node node) {
  Capture& capture = capture_of(stream);
  std::vector<std::size_t>& last = capture.last[name_of_stream(stream).number];
  node.after = std::exchange(last, {capture.graph->nodes.size()});
  capture.graph->nodes.push_back(std::move(node));
}

void forbid_while_capturing() {
  bool is_forbidden = false;
  for (const auto& [_, capture] : state().captures)
    if (forbids_this_thread(*capture)) is_forbidden = capture->is_invalid = true;
  if (is_forbidden) throw Failure{Error::stream_capture_unsupported};
}

void forbid_while_any_captures() {
  for (const auto& [_, capture] : state().captures) capture->is_invalid = true;
  if (!state().captures.empty()) throw Failure{Error::stream_capture_unsupported};
}

void forbid_if_captured(void* stream) {
  const auto capture = capture_in(name_of_stream(stream).number);
  if (capture != nullptr) spoil(*capture, Error::stream_capture_unsupported);
  forbid_in_legacy_stream(stream);
  forbid_while_capturing();
}

void forbid_if_captured(const Captured& event) {
  const bool is_over =
      event.capture != nullptr && (event.capture->has_ended || event.capture->is_invalid);
  if (is_over) throw Failure{Error::invalid_value};
  if (event.capture != nullptr) spoil(*event.capture, Error::captured_event);
  forbid_while_capturing();
}

bool record_captured(Captured& event, void* stream) {
  event = {};
  if (!is_captured(stream)) return false;
  event.capture = capture_in(name_of_stream(stream).number);
  event.nodes = event.capture->last[name_of_stream(stream).number];
  return true;
}

bool wait_for_captured(void* stream, const Captured& event) {
  const StreamName name = name_of_stream(stream);
  const auto own = capture_in(name.number);
  if (event.capture == nullptr) {
    if (own != nullptr) spoil(*own, Error::stream_capture_isolation);
    return false;
  }
  if (event.capture->has_ended) throw Failure{Error::invalid_value};
  if (is_legacy(stream)) spoil(*event.capture, Error::stream_capture_implicit);
  if (own != nullptr && own != event.capture) {
    own->is_invalid = true;
    spoil(*event.capture, Error::stream_capture_merge);
  }
  if (event.capture->is_invalid) throw Failure{Error::stream_capture_invalidated};
  state().captures[name.number] = event.capture;
  add_all(event.capture->last[name.number], event.nodes);
  return true;
}

// What it has recorded counts; if it is the one that the capture began in, nobody can end that.
void leave_captures(void* stream) {
  const unsigned long long number = name_of_stream(stream).number;
  const auto capture = capture_in(number);
  if (capture == nullptr) return;
  state().captures.erase(number);
  if (capture->origin == number) end(*capture);
}

namespace {
void begin(void* stream, CaptureMode mode, std::shared_ptr<Graph> graph,
           std::vector<std::size_t> last) {
  State& device = state();
  const StreamName name = name_of_stream(stream);
  if (is_legacy(stream)) throw Failure{Error::stream_capture_unsupported};
  if (device.captures.contains(name.number)) throw Failure{Error::illegal_state};
  auto capture = std::make_shared<Capture>();
  capture->id = device.next_capture++;
  capture->origin = name.number;
  capture->of_blocking_stream = !name.is_apart;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->graph = std::move(graph);
  capture->last[name.number] = std::move(last);
  device.captures[name.number] = std::move(capture);
}
}  // namespace

Error begin_capture(void* stream, CaptureMode mode) {
  return call([&] { begin(stream, mode, std::make_shared<Graph>(), {}); });
}

Error begin_capture_to(void* graph, std::span<void* const> after, void* stream, CaptureMode mode) {
  return call([&] {
    const std::shared_ptr<Graph> to = graph_of(graph);
    begin(stream, mode, to, numbers_in(to, after));
  });
}

Error end_capture(void* stream, void** graph) {
  return call([&] {
    if (graph == nullptr) throw Failure{Error::invalid_value};
    *graph = nullptr;
    const StreamName name = name_of_stream(stream);
    const auto capture = capture_in(name.number);
    if (capture == nullptr) throw Failure{Error::illegal_state};
    if (capture->origin != name.number) spoil(*capture, Error::stream_capture_unmatched);
    if (capture->mode != CaptureMode::relaxed && capture->thread != std::this_thread::get_id())
      throw Failure{Error::stream_capture_wrong_thread};
    end(*capture);
    if (capture->is_invalid) throw Failure{Error::stream_capture_invalidated};
    if (!is_joined(*capture)) throw Failure{Error::stream_capture_unjoined};
    *graph = capture->graph.get();
    state().graphs.insert(capture->graph);
  });
}

Error capture_facts(void* stream, CaptureFacts& facts) {
  return call([&] {
    facts = {};
    const auto capture = capture_in(name_of_stream(stream).number);
    if (capture != nullptr)
      facts = {capture->is_invalid ? CaptureStatus::invalidated : CaptureStatus::active,
               capture->id};
    if (!is_legacy(stream)) return;
    for (const auto& [_, other] : state().captures)  // to ask spoils nothing
      if (other->of_blocking_stream) throw Failure{Error::stream_capture_implicit};
  });
}

Error exchange_capture_mode(CaptureMode& mode) {
  if (mode != CaptureMode::global && mode != CaptureMode::thread_local_ &&
      mode != CaptureMode::relaxed)
    return fail(Error::invalid_value);
  std::swap(mode, mode_of_thread);
  return Error::success;
}

}  // namespace ptx::runtime
