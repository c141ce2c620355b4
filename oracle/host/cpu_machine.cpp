#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>

#include "oracle/host/host_memory.h"
#include "oracle/host/twin.h"
#include "oracle/machine.h"
#include "simt/simt.h"

namespace assay {
namespace {

Fault fault_of(simt::FaultKind kind) {
  using simt::FaultKind;
  switch (kind) {
    case FaultKind::host_access: return Fault::host_access;
    case FaultKind::other_stream: return Fault::other_stream;
    case FaultKind::launch_refused: return Fault::launch_refused;
    case FaultKind::barrier_not_reached: return Fault::barrier_not_reached;
    case FaultKind::warp_not_reached: return Fault::warp_not_reached;
    case FaultKind::never_ends: return Fault::never_ends;
    case FaultKind::misaligned_access: return Fault::misaligned_access;
    case FaultKind::bad_address: return Fault::bad_address;
    case FaultKind::stack_overflow: return Fault::stack_overflow;
    case FaultKind::array_overrun: return Fault::array_overrun;
    case FaultKind::not_allowed: break;  // nobody judges accesses here
    case FaultKind::bad_instruction: return Fault::bad_instruction;
  }
  return Fault::unnamed;
}

class CpuMachine : public Machine, private simt::DeviceMemory {
 public:
  explicit CpuMachine(Backend backend) : backend_(backend) {}

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
    const simt::Settings settings = settings_of(c, plan, variant.tile);
    if (plan.setting == Setting::two_streams) return launch_two(variant, given, plan, settings);
    const LaunchFailure failure = start(variant, settings, {{&given, stream()}});
    if (seen_.is_part && !is_part_of_whole(variant.tile, c)) return Verdict{};
    if (plan.setting != Setting::broken_stream) return failure;
    const bool reported = failure && failure->finding.fault == Fault::launch_failed;
    if (reported) return std::nullopt;
    return failure ? failure : error_not_reported(plan.broken_launch);
  }

  std::string remark() const override { return seen_.remark; }
  int operations() const override { return seen_.operations; }
  bool has_computed() const override { return backend_ == Backend::host || seen_.kernels > 0; }
  bool ran_a_part() const override { return seen_.is_part; }

 private:
  void open() override { memory_.protect(PROT_READ | PROT_WRITE); }
  void close() override { memory_.protect(PROT_NONE); }

  // They are told apart by their addresses, and nothing else is done with them.
  cudaStream_t stream() const { return stream_of(streams_[0]); }
  cudaStream_t beside() const { return stream_of(streams_[1]); }
  cudaStream_t stream_of(const char& place) const {
    if (backend_ == Backend::host) return nullptr;
    return reinterpret_cast<cudaStream_t>(const_cast<char*>(&place));
  }

  struct Start {
    const Given* given;
    cudaStream_t stream;
  };
  // Calls the launch function for each; the first failure.
  LaunchFailure start(const Variant& variant, const simt::Settings& settings,
                      const std::vector<Start>& starts) {
    LaunchFailure failure;
    const auto call = [&] {
      for (const auto& [given, into] : starts) {
        if (failure) return;
        cudaError_t error = cudaSuccess;
        const std::string thrown =
            thrown_by([&] { error = variant.launch(*given, into, given->workspace); });
        if (!thrown.empty()) failure = launch_crashed(thrown);
        if (error != cudaSuccess) failure = launch_returned(cudaGetErrorName(error), *given);
      }
    };
    seen_ = {};
    if (backend_ == Backend::host) {
      call();
    } else {
      seen_ = simt::observe(settings, call);
    }
    return seen_.fault ? verdict_on(*seen_.fault) : failure;
  }

  // Whether the blocks that were run leave what they would leave beside all others: each a tile.
  bool is_part_of_whole(const Tile& tile, const Case& c) const {
    const std::int64_t tiles = ceil_div(c.m, tile.m) * ceil_div(c.n, tile.n);
    return !seen_.fault && !seen_.blocks_meet && seen_.blocks == static_cast<std::uint64_t>(tiles);
  }

  // The second of two launches at a time must leave what it leaves alone. The first is judged as
  // any other.
  LaunchFailure launch_two(const Variant& variant, const Given& given, const Plan& plan,
                           simt::Settings settings) {
    Twin twin(given, memory_.placed());
    std::vector<Start> starts(static_cast<std::size_t>(launches_of_twin(given, plan)),
                              {&twin.given(), beside()});
    if (auto failure = start(variant, settings, starts)) return failure;
    const std::vector<std::byte> alone = twin.take_c();
    settings.keeps_in_flight = true;
    starts.insert(starts.begin(), {&given, stream()});
    auto failure = start(variant, settings, starts);
    if (failure || !variant.deterministic || twin.take_c() == alone) return failure;
    return launches_disturb();
  }

  simt::Settings settings_of(const Case& c, const Plan& plan, const Tile& tile) {
    constexpr std::array orders = {simt::Order::forward, simt::Order::reverse,
                                   simt::Order::shuffled};
    const bool interrupted = plan.order == ThreadOrder::interrupted;
    const std::size_t order = interrupted ? 2
                              : plan.order == ThreadOrder::by_seed
                                  ? c.seed % 3
                                  : static_cast<std::size_t>(plan.order) - 1;
    const TimeLimit limit = time_limit(c, tile);
    const double slowness = interrupted ? 50 : 1;
    return {.order = orders[order],
            .seed = c.seed,
            .cpu_seconds = slowness * limit.cpu_seconds,
            .cpu_seconds_per_thread = slowness * limit.cpu_seconds_per_thread,
            .refuses_launches = plan.setting == Setting::broken_stream && !plan.broken_launch,
            .refused_launch = plan.broken_launch,
            .ordinary_shared = has_ordinary_shared(c, plan),
            .runs_nothing = plan.setting == Setting::dry,
            .most_blocks = plan.most_blocks,
            .streams = {stream(), beside()},
            .interrupt_accesses = interrupted,
            .device_memory = plan.open_to_host ? nullptr : this};
  }

  Verdict verdict_on(const simt::Fault& fault) const {
    const bool never_ends = fault.kind == simt::FaultKind::never_ends;
    Diagnosis where{{fault_of(fault.kind)}, ""};
    const bool by_host = fault.kind == simt::FaultKind::host_access;
    if ((by_host || fault.kind == simt::FaultKind::bad_address) && fault.address != nullptr) {
      where = memory_.whereabouts_of(fault.address);
      if (by_host) {  // it may lie anywhere in an operand
        where.finding.fault = fault_of(fault.kind);
        if (where.finding.operand) where.words = to_string(*where.finding.operand);
      }
    }
    return {.status = never_ends ? TrialStatus::hung : TrialStatus::crashed,
            .finding = where.finding,
            .reason = fmt::format("{}: {}{}{}", to_string(fault.kind), fault.text,
                                  where.words.empty() ? "" : ": ", where.words)};
  }

  Backend backend_;
  HostMemory memory_;
  char streams_[2] = {};
  simt::Observation seen_;  // of the last launch
};

}  // namespace

std::string disagreement_on_host(const Case& c) {
  const Operands images = make_operands(c, Placement::guarded, {4, 4, 4});
  if (agree(make_reference(c, images), make_plain_reference(c, images), c.k)) return "";
  return fmt::format("Eigen and plain loops differ on {}", to_string(c));
}

// Some ten times as long as slow but right kernels take on a slow core: one thread for all
// elements, a warp for each of them, a block that meets at a barrier for every step along k, or
// asks in a loop, thread by thread, whether all have come (which long sums do not for each step). A
// block that computes many elements one after the other takes some 40 us for each, however few its
// threads are: four times that is waited for, and a minute at most. Tiles are computed whole, in
// products of parts of floats it may be: for those elements that are none, half a minute at most.
TimeLimit time_limit(const Case& c, const Tile& tile) {
  const double elements = static_cast<double>(c.m) * static_cast<double>(c.n);
  const double one_by_one = std::min(60.0, 160e-6 * elements);
  const double in_tiles = static_cast<double>(ceil_div(c.m, tile.m) * tile.m) *
                          static_cast<double>(ceil_div(c.n, tile.n) * tile.n);
  const double of_none = std::min(30.0, 50e-9 * (in_tiles - elements) * static_cast<double>(c.k));
  return {1 + 50e-9 * c.multiply_adds() + of_none + 200e-9 * elements + one_by_one,
          20e-6 + 200e-9 * static_cast<double>(c.k) +
              std::min(2e-3, 800e-9 * static_cast<double>(c.k))};
}

std::unique_ptr<Machine> make_cpu_machine(Backend backend) {
  return std::make_unique<CpuMachine>(backend);
}

}  // namespace assay
