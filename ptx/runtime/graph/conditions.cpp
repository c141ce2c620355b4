// Nodes that do other graphs as a condition says, which kernels set.
#include <fmt/format.h>

#include <ctime>

#include "ptx/runtime/graph/handles.h"

namespace ptx::runtime {
namespace {

// Stands for what nobody has set.
constexpr unsigned unset = 0x5eedc0de;

HostAccess access_to(const unsigned& value, bool writes) {
  return {.name = writes ? "a launch of a graph" : "a node of a graph that goes by a condition",
          .does = writes ? "sets" : "reads",
          .did = writes ? "set" : "wrote",
          .first = &value,
          .width = sizeof value,
          .writes = writes,
          .sets_values = true};  // which decide what is done next
}

}  // namespace

Condition::Condition(const Graph* of, std::optional<unsigned> at_launch)
    : of(of), at_launch_(at_launch) {
  state().memory.lend({.name = "the condition of a graph",
                       .first = handle() - condition_beyond_address,
                       .row_bytes = sizeof value_,
                       .pitch_bytes = sizeof value_});
}
Condition::~Condition() {
  state().memory.forget(handle() - condition_beyond_address);
  state().conditions.erase(handle());
}

unsigned long long Condition::handle() const {
  return reinterpret_cast<std::uintptr_t>(&value_) + condition_beyond_address;
}

void Condition::begin(StreamName stream) {
  enter_access(stream, access_to(value_, true));
  value_ = at_launch_.value_or(unset);
}

unsigned Condition::value_in(StreamName stream) {
  enter_access(stream, access_to(value_, false));
  if (value_ == unset)
    throw Failure{Error::success,
                  Finding{Fault::uninitialised,
                          "a node of a graph goes by a condition that nobody has set: no kernel by "
                          "cudaGraphSetConditional, and it has no value of its own at each launch "
                          "(cudaGraphCondAssignDefault)"}};
  return value_;
}

void begin_conditions(const Executable& executable, StreamName stream) {
  for (const Node& node : executable.graph.nodes) {
    if (node.branches == nullptr || state().runs_nothing()) continue;
    node.branches->condition->begin(stream);
    for (const std::shared_ptr<Executable>& body : node.bodies) begin_conditions(*body, stream);
  }
}

namespace {

// Then nobody sets a condition.
bool are_kernels_left_out() {
  const State& device = state();
  const Request* const request = device.request;
  return device.seen_enough ||
         (request != nullptr &&
          (request->runs_nothing ||
           (request->refused_launch && device.seen->launches > *request->refused_launch)));
}

// Ends a loop as a kernel is ended that never does so itself.
class Rounds {
 public:
  void expect_an_end() {
    const bool has_launched = state().launched != std::exchange(launched_, state().launched);
    const double spent = cpu_seconds() - start_;
    if (has_launched && (++rounds_ < most_at_once || spent <= limit_)) return;
    const std::string why = has_launched ? fmt::format(
                                               "it has done so {} times in {:.3g} s of CPU "
                                               "time, and its condition is not 0 yet",
                                               rounds_, spent)
                                         : "no kernel in it could set its condition to 0";
    throw Failure{Error::success, Finding{Fault::never_ends,
                                          "a graph does another one as long as a condition says "
                                          "(cudaGraphCondTypeWhile): " +
                                              why}};
  }

 private:
  static double cpu_seconds() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
  }

  static constexpr int most_at_once = 1000;  // however long they take
  const Request* const request_ = state().request;
  const double limit_ = (request_ == nullptr ? Settings{} : request_->settings).cpu_seconds;
  const double start_ = cpu_seconds();
  int rounds_ = 0;
  std::uint64_t launched_ = state().launched;
};

// The graph that is done, by its number; as many as there are: none.
std::size_t chosen(BranchKind kind, unsigned value, std::size_t size) {
  if (kind == BranchKind::switch_) return std::min<std::size_t>(value, size);
  return value != 0 ? 0 : kind == BranchKind::if_ ? 1 : size;
}

}  // namespace

void run_branches(const Node& node, const Turn& turn) {
  const Branches& branches = *node.branches;
  Observation* const seen = state().seen;
  if (seen != nullptr && seen->is_part)  // it would go by what is not all there
    seen->is_no_part = state().seen_enough = true;
  for (Rounds rounds; !are_kernels_left_out(); rounds.expect_an_end()) {
    const unsigned value = branches.condition->value_in(turn.stream);
    const std::size_t number = chosen(branches.kind, value, node.bodies.size());
    if (number >= node.bodies.size()) return;
    run(*node.bodies[number], turn.stream, turn.frame);
    if (branches.kind != BranchKind::while_) return;
  }
}

// Of kernels, copies, memsets, graphs, and others that branch.
void expect_that_may_branch(const Graph& body) {
  for (const std::size_t number : nodes_there(body)) {
    const Node& node = body.nodes[number];
    switch (node.kind) {
      case NodeKind::host:
      case NodeKind::wait:
      case NodeKind::record:
      case NodeKind::allocate:
      case NodeKind::release: throw Failure{Error::invalid_value};
      default: break;
    }
    if (node.inner != nullptr) expect_that_may_branch(*node.inner);
  }
}

Error create_condition(void* graph, std::optional<unsigned> at_launch, unsigned long long& handle) {
  return call([&] {
    const std::shared_ptr<Graph> of = graph_of(graph);
    if (at_launch && of->outer.lock() != nullptr)
      throw Failure{Error::not_supported,
                    Finding{Fault::unsupported,
                            "the host code calls cudaGraphConditionalHandleCreate with a value for "
                            "each launch of a graph in another one, which this machine does not "
                            "have: it could be each launch, or each time that the graph is done"}};
    auto made = std::make_shared<Condition>(of.get(), at_launch);
    handle = made->handle();
    state().conditions[handle] = made;
    of->conditions.push_back(std::move(made));
  });
}

namespace {

// One that this node is the first to go by, of the same graph or one around it.
std::shared_ptr<Condition> condition_for(const std::shared_ptr<Graph>& graph,
                                         unsigned long long handle) {
  const auto found = state().conditions.find(handle);
  const auto condition = found == state().conditions.end() ? nullptr : found->second.lock();
  std::shared_ptr<const Graph> around = graph;
  while (condition != nullptr && around != nullptr && around.get() != condition->of)
    around = around->outer.lock();
  if (condition == nullptr || around == nullptr || condition->has_node)
    throw Failure{Error::invalid_value};
  return condition;
}

std::shared_ptr<Branches> branches_of(const std::shared_ptr<Graph>& graph, const Branching& asked) {
  const bool has_size = asked.kind == BranchKind::switch_ ? asked.size > 0
                        : asked.kind == BranchKind::if_   ? asked.size == 1 || asked.size == 2
                                                          : asked.size == 1;
  if (!has_size) throw Failure{Error::invalid_value};
  auto made =
      std::make_shared<Branches>(Branches{asked.kind, condition_for(graph, asked.condition)});
  for (unsigned i = 0; i < asked.size; ++i) {
    made->bodies.push_back(std::make_shared<Graph>());
    made->bodies.back()->outer = graph;
    made->handles.push_back(made->bodies.back().get());
  }
  return made;
}

}  // namespace

Error add_branches(void** node, void* graph, std::span<void* const> after, const Branching& asked,
                   std::span<void*>& bodies) {
  return call([&] {
    const std::shared_ptr<Graph> to = graph_of(graph);
    const std::shared_ptr<Branches> made = branches_of(to, asked);
    add_to(to, after, node, [&] {
      to->nodes.push_back(
          {.run = [](const Turn&) {}, .kind = NodeKind::branches, .branches = made});
    });
    made->condition->has_node = true;
    state().graphs.insert(made->bodies.begin(), made->bodies.end());
    bodies = made->handles;
  });
}

}  // namespace ptx::runtime
