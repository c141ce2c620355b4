#include "oracle/host/graph_replays.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>

#include "oracle/host/twin.h"
#include "oracle/reference.h"
#include "ptx/runtime/graph/graphs.h"
#include "ptx/runtime/observe.h"

namespace assay {
namespace {

namespace rt = ptx::runtime;

void* stream() { return ptx::stream_of_caller(0); }

LaunchFailure failure_of(const char* text, ptx::Error error) {
  if (error == ptx::Error::success) return std::nullopt;
  return launch_crashed(fmt::format("{}: {}", text, ptx::name_of(error)));
}

// As the calls of any program do before it launches a graph again.
[[gnu::noinline]] void use_the_stack() {
  std::array<volatile unsigned char, 64 * 1024> used;
  for (volatile unsigned char& byte : used) byte = 0xa5;
}
void use_the_heap() {
  constexpr std::size_t largest = 4096, step = 16, each = 8;
  std::vector<std::unique_ptr<unsigned char[]>> used;
  for (std::size_t bytes = step; bytes <= largest; bytes += step)
    for (std::size_t i = 0; i < each; ++i) {
      used.push_back(std::make_unique_for_overwrite<unsigned char[]>(bytes));
      std::memset(used.back().get(), 0xa5, bytes);
    }
}

}  // namespace

int calls_before_replay(const Case& c) {
  constexpr double few_products = 1 << 12;
  constexpr int most_cases = 8, many = 70;  // a ring has 4 to 64 slots
  thread_local int left = most_cases;
  return c.multiply_adds() <= few_products && left-- > 0 ? many : 1;
}

Contents::Contents(const ByOperand<Placed>& placed) {
  for (const Operand o : operands_and_workspace) {
    const auto i = static_cast<std::size_t>(o);
    const std::size_t bytes = bytes_of(placed[i]);
    first_[i] = const_cast<std::byte*>(static_cast<const std::byte*>(placed[i].first));
    if (bytes != 0) held_[i].assign(first_[i], first_[i] + bytes);
  }
}

void Contents::put_back() const {
  for (std::size_t i = 0; i < held_.size(); ++i)
    if (!held_[i].empty()) std::memcpy(first_[i], held_[i].data(), held_[i].size());
}

bool Contents::operator==(const Contents& other) const {
  const auto c = static_cast<std::size_t>(Operand::c);
  return held_[c] == other.held_[c];
}

bool are_alike(const Contents& one, const Contents& other, const Contents& before,
               const ByOperand<Placed>& placed, const Case& g, Arithmetic arithmetic) {
  const auto of = [&](Operand o) { return placed[static_cast<std::size_t>(o)]; };
  // Each of them may be that far from what is exact.
  const double allowed = 2 * allowed_gulps(arithmetic, g) * unit_roundoff;
  const double underflow = 2 * underflow_of(g);
  const auto are_alike = [&](std::int64_t i, std::int64_t j) {
    const double x = one.row(Operand::c, of(Operand::c), i)[j],
                 y = other.row(Operand::c, of(Operand::c), i)[j];
    if (x == y || (std::isnan(x) && std::isnan(y))) return true;
    double gauge = 0;
    for (std::int64_t p = 0; p < g.k && g.alpha != 0; ++p)
      gauge += std::abs(double{before.row(Operand::a, of(Operand::a), i)[p]} *
                        double{before.row(Operand::b, of(Operand::b), p)[j]});
    gauge *= std::abs(g.alpha);
    if (g.beta != 0)
      gauge +=
          weight_of_c(g) * std::abs(double{g.beta} * before.row(Operand::c, of(Operand::c), i)[j]);
    return std::abs(x - y) <= allowed * gauge + underflow;
  };
  for (std::int64_t i = 0; i < g.m; ++i)
    for (std::int64_t j = 0; j < g.n; ++j)
      if (!are_alike(i, j)) return false;
  return true;
}

void change_numbers(const ByOperand<Placed>& placed, std::uint64_t seed) {
  constexpr std::array<std::pair<Operand, float>, 3> factors = {
      {{Operand::a, 2.0f}, {Operand::b, -1.0f}, {Operand::c, 0.5f}}};
  for (const auto& [o, factor] : factors) {
    const Placed& p = placed[static_cast<std::size_t>(o)];
    if (bytes_of(p) == 0) continue;
    auto* const floats =
        const_cast<float*>(static_cast<const float*>(static_cast<const void*>(p.first)));
    const bool has_zeros = o == Operand::a && seed / 2 % 4 == 1;
    for (std::int64_t row = 0; row < p.rows; ++row)
      for (std::int64_t i = 0; i < p.columns; ++i) {
        float& element = floats[row * p.ld + i];
        element = has_zeros && i >= p.columns / 2 ? 0 : element * factor;
      }
  }
}

CapturedGraph::~CapturedGraph() {
  if (executable_ != nullptr) rt::destroy_executable(executable_);
  if (graph_ != nullptr) rt::destroy_graph(graph_);
}

LaunchFailure CapturedGraph::capture(const std::function<LaunchFailure()>& start) {
  if (const auto failure = failure_of("cudaStreamBeginCapture",
                                      rt::begin_capture(stream(), rt::CaptureMode::thread_local_)))
    return failure;
  const LaunchFailure failure = start();
  const ptx::Error captured = rt::end_capture(stream(), &graph_);
  if (failure) return launch_crashed("while it was captured: " + failure->reason);
  if (captured != ptx::Error::success) return failure_of("it cannot be captured", captured);
  return failure_of("its graph cannot be instantiated",
                    rt::instantiate(&executable_, graph_, false));
}

LaunchFailure CapturedGraph::launch(const void* frame) {
  use_the_heap();
  use_the_stack();
  return failure_of("its graph cannot be replayed", rt::launch_graph(executable_, stream(), frame));
}

LaunchFailure CapturedGraph::launch_at_once() {
  return failure_of("its graph cannot be launched",
                    rt::launch_graph(executable_, stream(), nullptr));
}

LaunchFailure side_by_side(const std::function<LaunchFailure()>& start) {
  void* const other = ptx::stream_of_caller(1);
  void* event = nullptr;
  const auto order = [&](void* before, void* after) {
    const ptx::Error recorded = rt::record_event(event, before);
    return recorded == ptx::Error::success ? rt::wait_for_event(after, event) : recorded;
  };
  if (const auto failure = failure_of("cudaEventCreate", rt::create_event(&event, false)))
    return failure;
  LaunchFailure failure = failure_of("a fork within a capture", order(stream(), other));
  if (!failure) failure = start();
  if (!failure) failure = failure_of("a join within a capture", order(other, stream()));
  rt::destroy_event(event);
  return failure;
}

bool in_a_copy_of_this_process(const std::function<bool()>& is_so) {
  constexpr int most_tried = 4, yes = 7;
  constexpr unsigned most_seconds = 20;
  static int tried = 0;
  if (tried++ >= most_tried) return false;
  const pid_t copy = fork();
  if (copy == 0) {
    alarm(most_seconds);
    _exit(is_so() ? yes : 0);
  }
  int status = 0;
  if (copy < 0 || waitpid(copy, &status, 0) != copy) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == yes;
}

LaunchFailure first_differs() {
  return Verdict{.status = TrialStatus::wrong,
                 .finding = {Fault::keeps_state},
                 .reason =
                     "where its first call is captured, the next call, and the graph behind "
                     "that, do not leave the same in C"};
}
LaunchFailure replay_differs() {
  return Verdict{.status = TrialStatus::wrong,
                 .finding = {Fault::keeps_state},
                 .reason =
                     "its graph leaves something else in C than a call of it does for the same "
                     "operands"};
}

}  // namespace assay
