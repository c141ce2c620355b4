// What a launch of a graph does.
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "ptx/runtime/graph/handles.h"
#include "ptx/runtime/state.h"

namespace ptx::runtime {

namespace {

std::uintptr_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

// A node goes on in the lane of one before it, if it is the first to follow that.
void give_lanes(Executable& executable) {
  std::vector<std::size_t> last;  // of each lane
  for (std::size_t i = 0; i < executable.graph.nodes.size(); ++i) {
    const std::vector<std::size_t>& after = executable.graph.nodes[i].after;
    const auto followed = std::find_if(after.begin(), after.end(), [&](std::size_t before) {
      return last[executable.lane_of_node[before]] == before;
    });
    const bool goes_on = followed != after.end();
    executable.lane_of_node.push_back(goes_on ? executable.lane_of_node[*followed] : last.size());
    if (!goes_on) last.push_back(i);
    last[executable.lane_of_node.back()] = i;
  }
  while (executable.lanes.size() < last.size())
    executable.lanes.push_back({.number = state().next_stream++, .is_apart = true});
}

// Of those nodes of a part that none comes after, the places.
std::vector<std::size_t> ends_of(const Executable::Part& part) {
  std::vector<bool> is_followed(part.after.size());
  for (const std::vector<std::size_t>& after : part.after)
    for (const std::size_t before : after) is_followed[before] = true;
  std::vector<std::size_t> ends;
  for (const std::size_t node : part.there)
    if (!is_followed[node]) ends.push_back(part.place_of[node]);
  return ends;
}

std::shared_ptr<Executable> made_of(const std::shared_ptr<const Graph>&);

// Each node behind those that it comes after, else in the order in which they were added; what
// would come after none comes after `first`. The nodes of a graph in a graph come where the node
// that holds it does, and that behind them. Throws where they go in a circle.
void put_in_order(Executable& executable, const Graph& graph,
                  const std::vector<std::size_t>& first) {
  const std::vector<Node>& nodes = graph.nodes;
  constexpr std::size_t nowhere = ~std::size_t{0};
  Executable::Part& part = executable.parts[&graph];
  std::vector<std::size_t>& place_of = part.place_of;
  place_of.assign(nodes.size(), nowhere);
  part.there = nodes_there(graph);
  for (const Node& node : nodes) part.after.push_back(node.after);
  const auto is_placed = [&](std::size_t node) { return place_of[node] != nowhere; };
  for (bool goes_on = true; std::exchange(goes_on, false);)
    for (const std::size_t i : part.there) {
      if (is_placed(i) || !std::ranges::all_of(nodes[i].after, is_placed)) continue;
      goes_on = true;
      Node placed = nodes[i];
      for (std::size_t& before : placed.after) before = place_of[before];
      if (placed.after.empty()) placed.after = first;
      if (placed.inner != nullptr) {
        put_in_order(executable, *placed.inner, placed.after);
        const auto ends = ends_of(executable.parts.at(placed.inner.get()));
        if (!ends.empty()) placed.after = ends;
      }
      if (placed.branches != nullptr)
        for (const std::shared_ptr<Graph>& body : placed.branches->bodies) {
          expect_that_may_branch(*body);
          placed.bodies.push_back(made_of(body));
        }
      place_of[i] = executable.graph.nodes.size();
      executable.graph.nodes.push_back(std::move(placed));
    }
  if (!std::ranges::all_of(part.there, is_placed)) throw Failure{Error::invalid_value};
}

std::shared_ptr<Executable> made_of(const std::shared_ptr<const Graph>& graph) {
  auto made = std::make_shared<Executable>();
  made->made_of = graph;
  made->graph.memory = graph->memory;
  made->graph.objects = graph->objects;
  put_in_order(*made, *graph, {});
  give_lanes(*made);
  return made;
}

// What an earlier launch has allocated, and nobody freed, is still there.
void expect_no_memory(const Executable& executable) {
  for (const auto& memory : executable.graph.memory) {
    if (!state().allocations.contains(memory->first)) continue;
    if (!executable.frees_at_launch) throw Failure{Error::invalid_value};
    close(memory->first);
  }
}

void settle_pending() {
  if (auto finding = state().pending.settle()) throw Failure{Error::success, std::move(finding)};
}

bool follows_kernel_in_lane(const Executable& executable, std::size_t node) {
  const std::vector<std::size_t>& after = executable.graph.nodes[node].after;
  if (after.size() != 1) return false;
  const Node& ahead = executable.graph.nodes[after[0]];
  return ahead.kind == NodeKind::kernel && ahead.is_enabled &&
         executable.lane_of_node[after[0]] == executable.lane_of_node[node];
}

}  // namespace

void run(Executable& executable, StreamName stream, const void* frame) {
  Timeline& timeline = state().timeline;
  const std::vector<Node>& nodes = executable.graph.nodes;
  timeline.wait(stream, executable.known.get());
  expect_no_memory(executable);
  const Known before = timeline.before_next(stream);
  std::vector<Known> done;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::size_t lane = executable.lane_of_node[i];
    const StreamName name = lane == 0 ? stream : executable.lanes[lane];
    timeline.wait(name, before);
    for (const std::size_t node : nodes[i].after) timeline.wait(name, done[node]);
    settle_pending();
    const Turn turn{name, follows_kernel_in_lane(executable, i), frame};
    if (nodes[i].branches != nullptr)
      run_branches(nodes[i], turn);
    else if (nodes[i].is_enabled)
      nodes[i].run(turn);
    state().pending.look_again(timeline);
    done.push_back(timeline.before_next(name));
  }
  for (const Known& known : done) timeline.wait(stream, known);
  executable.known.get() = timeline.before_next(stream);
}

void give_storage(GraphMemory& memory) {
  constexpr std::size_t alignment = 256;
  memory.storage.resize(memory.bytes + alignment);
  std::byte* const begin = memory.storage.data();
  memory.storage_of_first = begin + (alignment - number_of(begin) % alignment);
  memory.first = memory.storage_of_first;
  if (!state().memory.is_hidden_from_host()) return;
  memory.hidden = HiddenAddresses(memory.bytes);
  memory.first = reinterpret_cast<void*>(memory.hidden.first());
}

void open(const std::shared_ptr<GraphMemory>& memory) {
  State& device = state();
  constexpr unsigned char poison = 0xff;  // a NaN
  std::memset(memory->storage_of_first, poison, memory->bytes);
  device.memory.lend({.name = memory->name,
                      .first = number_of(memory->first),
                      .row_bytes = memory->bytes,
                      .pitch_bytes = memory->bytes,
                      .written = false,
                      .away = number_of(memory->storage_of_first) - number_of(memory->first)});
  device.allocations[memory->first] = {.bytes = memory->bytes, .of_graph = memory};
  device.allocated += memory->bytes;
}

void close(void* first) {
  State& device = state();
  const auto found = device.allocations.find(first);
  device.allocated -= found->second.bytes;
  device.memory.forget(number_of(first));
  device.allocations.erase(found);
}

bool is_gone(const void* address, const void* frame) {
  thread_local const std::uintptr_t lowest = [] {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return ~std::uintptr_t{0};
    void* first = nullptr;
    std::size_t bytes = 0;
    pthread_attr_getstack(&attributes, &first, &bytes);
    pthread_attr_destroy(&attributes);
    return number_of(first);
  }();
  return number_of(address) >= lowest && number_of(address) < number_of(frame);
}

bool is_given_back(const void* first, std::size_t bytes) {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGE_SIZE));
  const std::uintptr_t begin = number_of(first) / page * page;
  const std::uintptr_t end = number_of(first) + bytes;
  std::vector<unsigned char> pages((end - begin + page - 1) / page);
  return mincore(reinterpret_cast<void*>(begin), end - begin, pages.data()) != 0;
}

Error destroy_graph(void* graph) {
  const auto work = [&] {
    const auto found = found_in(state().graphs, graph);
    const std::shared_ptr<Graph> kept = *found;
    if (kept->outer.lock() != nullptr) throw Failure{Error::invalid_value};  // a node's own
    forget_handles(*kept);
    state().graphs.erase(kept);
  };
  return call(work, WhenLost::go_on);
}

Error instantiate(void** executable, void* graph, bool frees_at_launch, unsigned long long flags) {
  return call([&] {
    if (executable == nullptr) throw Failure{Error::invalid_value};
    const std::shared_ptr<const Graph> of = *found_in(state().graphs, graph);
    const auto is_of_it = [&](const auto& other) { return other->made_of == of; };
    if (!of->memory.empty() && std::ranges::any_of(state().executables, is_of_it))
      throw Failure{Error::not_supported};  // the memory of one would be that of the other
    std::shared_ptr<Executable> made = made_of(of);
    made->frees_at_launch = frees_at_launch;
    made->flags = flags;
    *executable = made.get();
    state().executables.insert(std::move(made));
  });
}

Error destroy_executable(void* executable) {
  return call([&] { state().executables.erase(found_in(state().executables, executable)); },
              WhenLost::go_on);
}

Error check_executable(void* executable) {
  return call([&] { found_in(state().executables, executable); });
}

Error flags_of(void* executable, unsigned long long& flags) {
  return call([&] { flags = (*found_in(state().executables, executable))->flags; });
}

Error launch_graph(void* executable, void* stream, const void* frame) {
  return call([&] {
    const std::shared_ptr<Executable> launched = *found_in(state().executables, executable);
    if (is_captured(stream)) spoil(capture_of(stream), Error::stream_capture_unsupported);
    const StreamName name = name_of_stream(stream);
    state().timeline.wait(name, launched->known.get());
    begin_conditions(*launched, name);
    run(*launched, name, frame);
  });
}

}  // namespace ptx::runtime
