#include <fmt/format.h>

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "base/host_heap.h"
#include "oracle/counting.h"
#include "oracle/host/device_loan.h"
#include "oracle/host/graph_replays.h"
#include "oracle/host/host_memory.h"
#include "oracle/host/other_problems.h"
#include "oracle/host/ptx_verdict.h"
#include "oracle/host/twin.h"
#include "oracle/machine.h"
#include "oracle/trial.h"
#include "ptx/runtime/errors.h"
#include "ptx/runtime/observe.h"

namespace assay {
namespace {

constexpr double slowness_of_counting = 10;

// Of the launch that is under way. Kernels run into no fault: their accesses are looked at before.
const HostMemory* operands_of_launch = nullptr;
const char* explain_fault(const void* address) {
  constexpr std::array words = {
      "host code touches A itself, which is memory of the device: let a kernel do that, or copy it",
      "host code touches B itself, which is memory of the device: let a kernel do that, or copy it",
      "host code touches C itself, which is memory of the device: let a kernel do that, or copy it",
      "host code touches the workspace itself, which is memory of the device"};
  if (const char* const words = ptx::why_host_faults_at(address)) return words;
  if (operands_of_launch == nullptr) return nullptr;
  const auto operand = operands_of_launch->whereabouts_of(address).finding.operand;
  return operand ? words.at(static_cast<std::size_t>(*operand)) : nullptr;
}
struct Explained {
  explicit Explained(const HostMemory& operands) {
    operands_of_launch = &operands;
    explain_faults_by(explain_fault);
  }
  ~Explained() { operands_of_launch = nullptr; }
  Explained(const Explained&) = delete;
};

class PtxMachine : public Machine {
 public:
  explicit PtxMachine(bool counts = false) : counts_(counts) { ptx::hide_device_memory(true); }

  float* place(Operand o, const Image& image, Placement placement) override {
    return memory_.place(o, image, placement);
  }
  void fetch(Operand o, Image& image) override { memory_.fetch(o, image); }
  std::optional<Image> change_of(Operand o, const Image& placed) override {
    return memory_.change_of(o, placed);
  }
  std::string disagreement(const Case& c) override { return disagreement_on_host(c); }

  LaunchFailure launch(const Variant& variant, const Given& given, const Case& c, const Plan& plan,
                       const Resources&) override {
    DeviceLoan loan(memory_.placed(), given.beta != 0);
    const Explained explained(memory_);
    tile_ = variant.tile, program_ = variant.name;
    if (plan.setting == Setting::graph) return launch_as_graph(variant, given, c, plan, loan);
    if (plan.setting == Setting::graph_pair || plan.setting == Setting::two_streams)
      return launch_two(variant, given, c, plan, loan);
    if (plan.setting == Setting::slow_producer && !variant.in_legacy_stream)
      return launch_into_each_stream(variant, given, c, plan, loan);
    return observe(1, c, plan, [&] { return launch_into(0, variant, given); });
  }

  bool has_computed() const override { return computed_; }
  bool ran_a_part() const override { return is_part_; }
  std::optional<Crowd> crowd() const override { return crowd_; }
  int operations() const override { return launches_; }
  int allocations() const override { return allocations_; }
  std::string what_came_early() const override { return came_early_; }
  std::string heap_used_up() const override { return heap_used_up_; }
  bool asked_what_is_free() const override { return asked_what_is_free_; }
  std::uint64_t hash_of_kept_memory() const override { return ptx::hash_of_kept_memory(); }
  std::uint64_t kept_bytes() const override { return ptx::kept_bytes(); }
  std::uint64_t kept_handles() const override { return ptx::kept_handles(); }
  // Of the last launch, if this machine counts.
  std::vector<ptx::LaunchCounts> take_counts() { return std::move(counted_); }

 private:
  // Runs host code that is given that many of the caller's streams.
  LaunchFailure observe(int streams, const Case& c, const Plan& plan,
                        const std::function<LaunchFailure()>& host_code,
                        ptx::FirstStream first = ptx::FirstStream::own) {
    LaunchFailure failure;
    ptx::Request request = request_for(c, plan);
    request.streams = streams;
    request.first_stream = first;
    ptx::Observation seen = ptx::observe(request, [&] { failure = host_code(); });
    computed_ = seen.kernels > 0;
    is_part_ = seen.is_part;
    has_finding_ = seen.finding.has_value();
    is_of_drawn_numbers_ = has_finding_ && seen.finding->is_of_drawn_numbers;
    launches_ = seen.launches;
    allocations_ = seen.allocations;
    asked_what_is_free_ = seen.asked_what_is_free;
    came_early_ = std::move(seen.seen_late);
    heap_used_up_ = std::move(seen.heap_used_up);
    crowd_.reset();
    if (seen.crowd)
      crowd_ = Crowd{static_cast<std::int64_t>(seen.crowd->together),
                     static_cast<std::int64_t>(seen.crowd->fit)};
    counted_ = std::move(seen.counts);
    // Of some blocks nothing can be said where they are no part of the whole, or host code is not
    // content with what they left.
    const bool is_endless = seen.finding && seen.finding->fault == ptx::Fault::never_ends;
    const bool is_misled = failure && !seen.told_error;
    const bool says_nothing = is_part_ && (seen.is_no_part || is_misled);
    if (plan.setting == Setting::dry && seen.launches > 0 && is_misled) return std::nullopt;
    if (plan.most_blocks != 0 && is_endless && !says_nothing)
      return Verdict{.status = TrialStatus::refused, .reason = "even some blocks take too long"};
    if (plan.most_blocks != 0 && says_nothing) return Verdict{};
    // Who says that there is no memory may have started something that nobody waits for.
    const bool is_given_up = (plan.most_allocations || plan.free_memory) && failure;
    const bool is_left_behind = seen.finding && seen.finding->fault == ptx::Fault::unordered_work;
    if (is_given_up && is_left_behind) return Verdict{.judged = 1};
    // What runs behind a launch that failed alone may well miss what that one was to write.
    if (seen.finding && !plan.broken_launch)
      return verdict_on(*seen.finding, memory_.placed(), HostMemory::fences());
    if (is_given_up) return Verdict{.judged = 1};
    if (plan.setting != Setting::broken_stream) return failure;
    return failure ? std::nullopt : error_not_reported(plan.broken_launch);
  }

  // First into streams that have no handle of their own: whoever is given one may say that it
  // cannot use it, as for a capture, but not by one of its two names alone. Then into one that
  // waits for the default stream, and one of either priority.
  LaunchFailure launch_into_each_stream(const Variant& variant, const Given& given, const Case& c,
                                        const Plan& plan, DeviceLoan& loan) {
    using First = ptx::FirstStream;
    const Contents before(memory_.placed());
    const auto launch = [&](First first, const char* name) {
      LaunchFailure failure = observe(
          1, c, plan,
          [&] {
            return failure_of_launch(variant, given,
                                     static_cast<cudaStream_t>(ptx::handle_of(first)));
          },
          first);
      if (failure) failure->reason += name;
      return failure;
    };
    bool takes_default = false;
    for (const auto& [first, name] :
         {std::pair(First::of_thread, ", when it was given cudaStreamPerThread"),
          std::pair(First::legacy_default,
                    ", when it was given the default stream, a null pointer"),
          std::pair(
              First::legacy_by_name,
              ", when it was given cudaStreamLegacy, the default stream by its other name")}) {
      const bool is_by_name = first == First::legacy_by_name;
      if (is_by_name && (c.seed / 2 % 2 == 0 || !takes_default)) break;
      LaunchFailure failure = launch(first, name);
      if (failure && is_by_name && !has_finding_)
        failure->diagnosis = "it takes the default stream as a null pointer, and not by its name";
      if (failure && (has_finding_ || is_by_name)) return failure;
      takes_default = first == First::legacy_default && !failure;
      before.put_back();
      loan.renew(memory_.placed(), given.beta != 0);
    }
    if (c.seed / 4 % 2 == 1) {
      if (auto failure = launch(First::that_blocks, ", in a stream of cudaStreamCreate"))
        return failure;
      before.put_back();
      loan.renew(memory_.placed(), given.beta != 0);
    }
    return launch(c.seed % 2 == 1 ? First::of_high_priority : First::own, "");
  }

  // Two launches may well draw numbers of one counter, if these decide nothing: then C holds the
  // same bits whatever numbers another launch draws in between.
  LaunchFailure launch_two(const Variant& variant, const Given& given, const Case& c,
                           const Plan& plan, DeviceLoan& loan) {
    const Contents before(memory_.placed());
    const auto launch_both = [&](const Case& its) {
      return plan.setting == Setting::graph_pair
                 ? launch_captured_pair(variant, given, its, plan, loan)
                 : launch_beside(variant, given, its, plan, loan);
    };
    LaunchFailure failure = launch_both(c);
    if (!failure || !is_of_drawn_numbers_) return failure;
    const ptx::KeptMemory kept;
    const auto again = [&](ptx::Drawn numbers, std::uint64_t seed) {
      before.put_back();
      loan.renew(memory_.placed(), given.beta != 0);
      numbers_ = numbers;
      Case its = c;
      its.seed = seed;
      const bool has_failed = launch_both(its).has_value();
      numbers_ = ptx::Drawn::by_one_launch;
      kept.put_back();
      return !has_failed;
    };
    constexpr std::uint64_t times = 4;
    if (!again(ptx::Drawn::by_several, c.seed)) return failure;
    const Contents wanted(memory_.placed());
    for (std::uint64_t i = 0; i < times; ++i)
      if (!again(ptx::Drawn::with_gaps, c.seed + i) || !(Contents(memory_.placed()) == wanted))
        return failure;
    return std::nullopt;
  }

  // Launches problems like it, each in memory and a stream of its own, in turns; the first failure.
  // Memory that a variant keeps may have to grow while the first launch is under way: for every
  // other seed the second problem is then a larger one, in another stream or in the same.
  LaunchFailure launch_beside(const Variant& variant, const Given& given, const Case& c,
                              const Plan& plan, DeviceLoan& loan) {
    const int launches = launches_of_twin(given, plan);
    const int others = std::min(launches, plan.in_flight > 0 ? ptx::streams_of_caller - 1 : 1);
    Twins twins;
    for (int i = 0; i < others; ++i) {
      twins.push_back(std::make_unique<Twin>(given, memory_.placed(), shared_by(plan, c)));
      loan.add(twins.back()->placed(), given.beta != 0);
    }
    const auto larger = plan.in_flight == 0 && c.seed % 2 == 1
                            ? LargerProblem::than(variant, given, memory_.placed())
                            : std::nullopt;
    return observe(1 + others, larger ? of_sizes(c, larger->given()) : c, plan, [&] {
      LaunchFailure failure = launch_into(0, variant, given);
      if (larger && !failure && ptx::kept_bytes() > 0) {
        loan.add(larger->placed(), given.beta != 0);
        return launch_into(c.seed / 2 % 2 == 0 ? 1 : 0, variant, larger->given());
      }
      if (failure) return failure;
      const auto launch_one = [&](int other, const Given& its) {
        return launch_into(1 + other, variant, its);
      };
      return launch_in_turns(twins, launches, plan.may_be_fewer_in_flight, launch_one);
    });
  }

  // Captures a call for it and one for a problem like it, side by side, and launches their graph.
  // A variant may keep what it needs for one problem only, and then has to set itself up for each
  // of the two in turn, which no capture allows. So a pair that cannot be captured is not judged.
  LaunchFailure launch_captured_pair(const Variant& variant, const Given& given, const Case& c,
                                     const Plan& plan, DeviceLoan& loan) {
    Twin twin(given, memory_.placed());
    loan.add(twin.placed(), given.beta != 0);
    observe(2, c, plan, [&] { return launch_into(1, variant, twin.given()); });
    twin.take_c();
    loan.renew(memory_.placed(), given.beta != 0);
    loan.add(twin.placed(), given.beta != 0);
    return observe(2, c, plan, [&] {
      CapturedGraph graph;
      const void* const frame = __builtin_frame_address(0);
      const LaunchFailure failure = graph.capture([&] {
        return side_by_side([&] {
          const LaunchFailure of_first = launch_into(0, variant, given);
          return of_first ? of_first : launch_into(1, variant, twin.given());
        });
      });
      return failure ? std::nullopt : graph.launch(frame);
    });
  }

  // Launches once as usual before it captures: the first launch may set up what later ones use. The
  // graph is then launched with other numbers in the operands, and, after a smaller problem, with
  // those of the case.
  LaunchFailure launch_as_graph(const Variant& variant, const Given& given, const Case& c,
                                const Plan& plan, DeviceLoan& loan) {
    const auto step = [&](const std::function<LaunchFailure()>& host_code) {
      loan.renew(memory_.placed(), given.beta != 0);
      return observe(1, c, plan, host_code);
    };
    const Contents of_case(memory_.placed());
    change_numbers(memory_.placed(), c.seed);
    const Contents others(memory_.placed());
    const void* const frame = __builtin_frame_address(0);
    const auto launch = [&] { return step([&] { return launch_into(0, variant, given); }); };
    const auto capture = [&](CapturedGraph& graph) {
      return step([&] { return graph.capture([&] { return launch_into(0, variant, given); }); });
    };
    const auto replay = [&](CapturedGraph& graph) {
      return step([&] { return graph.launch(frame); });
    };
    const auto is_like = [&](const Contents& wanted) {
      return !variant.deterministic || are_alike(Contents(memory_.placed()), wanted, others,
                                                 memory_.placed(), c, variant.arithmetic);
    };
    // A call that nothing was set up for may say that it cannot be captured. If it can, the next
    // call does not count on its graph, which does the same.
    const auto goes_wrong_if_captured_first = [&] {
      CapturedGraph graph;
      if (capture(graph)) return false;
      others.put_back();
      if (launch()) return true;
      const Contents of_call(memory_.placed());
      others.put_back();
      return replay(graph) || !is_like(of_call);
    };
    const bool goes_wrong = in_a_copy_of_this_process(goes_wrong_if_captured_first);
    if (auto failure = launch()) return failure;
    const Contents wanted(memory_.placed());
    others.put_back();
    CapturedGraph graph;
    if (auto failure = capture(graph)) return failure;
    const auto failure_with_others = [&](const char* when) {
      others.put_back();
      LaunchFailure failure = replay(graph);
      if (!failure && !is_like(wanted)) failure = replay_differs();
      if (failure) failure->reason += when;
      return failure;
    };
    if (auto failure = failure_with_others("")) return failure;
    // Whatever another call sets up for itself, and does not do well, is judged elsewhere.
    if (const auto half = half_of(variant, given)) {
      for (int i = calls_before_replay(c); i > 0; --i)
        static_cast<void>(step([&] { return launch_into(0, variant, *half); }));
      if (auto failure = failure_with_others(", after calls for a smaller problem"))
        return failure;
    }
    of_case.put_back();
    if (auto failure = replay(graph)) return failure;
    return goes_wrong ? first_differs() : std::nullopt;
  }

  // By which its time is limited.
  static Case of_sizes(Case c, const Gemm& g) {
    c.m = g.m, c.n = g.n, c.k = g.k;
    return c;
  }

  // The problem is gone when it returns, as that of most callers.
  static LaunchFailure launch_into(int stream, const Variant& variant, const Given given) {
    auto* const handle = static_cast<cudaStream_t>(ptx::stream_of_caller(stream));
    return failure_of_launch(variant, given, handle);
  }
  ptx::Request request_for(const Case& c, const Plan& plan) const {
    constexpr std::array orders = {ptx::Order::forward, ptx::Order::reverse, ptx::Order::shuffled};
    const std::size_t order = plan.order == ThreadOrder::interrupted ? 2
                              : plan.order == ThreadOrder::by_seed
                                  ? c.seed % 3
                                  : static_cast<std::size_t>(plan.order) - 1;
    constexpr TimeLimit of_some_blocks = {4, 0};
    const TimeLimit limit = plan.most_blocks != 0 ? of_some_blocks : time_limit(c, tile_);
    const double slowness = counts_ ? slowness_of_counting : 1;
    return {.settings = {.order = orders[order],
                         .seed = c.seed,
                         .cpu_seconds = slowness * limit.cpu_seconds,
                         .cpu_seconds_per_thread = slowness * limit.cpu_seconds_per_thread,
                         .counts = counts_,
                         .most_blocks = plan.most_blocks,
                         .numbers = numbers_,
                         .sees_stores_at_once = plan.sees_stores_at_once},
            .program = program_,
            .shares_room = plan.setting == Setting::two_streams ? 2u : 1u,
            .meet = plan.setting == Setting::two_streams || plan.setting == Setting::graph_pair,
            .refuses_launches = plan.setting == Setting::broken_stream && !plan.broken_launch,
            .refused_launch = plan.broken_launch,
            .most_allocations = plan.most_allocations,
            .free_memory = plan.free_memory,
            .runs_nothing = plan.setting == Setting::dry};
  }

  HostMemory memory_;
  bool computed_ = false, counts_ = false, is_part_ = false, has_finding_ = false,
       is_of_drawn_numbers_ = false;
  ptx::Drawn numbers_ = ptx::Drawn::by_one_launch;
  int launches_ = 0, allocations_ = 0;
  bool asked_what_is_free_ = false;
  std::string came_early_, heap_used_up_, program_;
  Tile tile_;
  std::optional<Crowd> crowd_;
  std::vector<ptx::LaunchCounts> counted_;
};

}  // namespace

std::unique_ptr<Machine> make_ptx_machine() { return std::make_unique<PtxMachine>(); }

Counting count(const Entry& entry, const Case& c) {
  require_memory_for(c);
  const Operands images = operands_of_allocations(c);
  PtxMachine machine(true);
  const auto place = [&](Operand o) {
    return machine.place(o, images[o], Placement::begins_at_fence);
  };
  const float *const a = place(Operand::a), *const b = place(Operand::b);
  Given given{gemm_of(c, a, b, place(Operand::c))};
  Counting counting;
  counting.refusal = refusal(entry.variant, given);
  if (!counting.refusal.empty()) return counting;
  const Plan plan{.placement = Placement::begins_at_fence};
  Image workspace;
  counting.failure = place_workspace(machine, entry.variant, c, plan, given, workspace);
  if (!counting.failure) counting.failure = machine.launch(entry.variant, given, c, {}, {});
  counting.launches = machine.take_counts();
  return counting;
}

}  // namespace assay
