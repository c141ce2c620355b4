#include "oracle/watched/dry_launches.h"

#include <exception>
#include <functional>

#include "base/scramble.h"
#include "oracle/host/device_loan.h"
#include "oracle/host/graph_replays.h"
#include "oracle/operands.h"
#include "oracle/plan.h"
#include "ptx/runtime/observe.h"
#include "simt/simt.h"

namespace assay {
namespace {

constexpr std::uint64_t most_calls = 20'000, calls_to_launch = 150;
constexpr std::uintptr_t quad_bytes = 16;

// Where nothing ever lies, 2^42 bytes apart.
constexpr std::uintptr_t address_of(Operand o) {
  return (std::uintptr_t{9} + static_cast<std::uintptr_t>(o)) << 42;
}

Given given_at_addresses(const DryLaunch& d) {
  const Case& c = d.c;
  const auto begin = [&](Operand o) {
    const auto floats = static_cast<std::uintptr_t>(c.offset.floats[static_cast<std::size_t>(o)]);
    // Every second seed begins 16 bytes past what an allocation is aligned to.
    const std::uintptr_t beside = c.offset == Offsets{} && c.seed % 2 == 1 ? quad_bytes : 0;
    return reinterpret_cast<float*>(address_of(o) + beside + floats * sizeof(float));
  };
  Given gemm{gemm_of(c, begin(Operand::a), begin(Operand::b), begin(Operand::c)),
             reinterpret_cast<void*>(address_of(Operand::workspace))};
  if (d.adjoining) {
    const auto span = [](std::int64_t rows, std::int64_t columns, std::int64_t ld) {
      return rows == 0 || columns == 0 ? 0 : (rows - 1) * ld + columns;
    };
    gemm.b = gemm.a + span(c.m, c.k, gemm.lda);
    gemm.c = const_cast<float*>(gemm.b) + span(c.k, c.n, gemm.ldb);
  }
  return gemm;
}

// How many tiles come to a block, as a power of 16: where the product of sizes gives out, a path
// for tiny problems is taken by huge ones, and no comparison goes another way.
std::uint64_t crowding(const Case& c, const Tile& tile, std::uint64_t blocks) {
  const double tiles =
      static_cast<double>(ceil_div(c.m, tile.m)) * static_cast<double>(ceil_div(c.n, tile.n));
  double crowd = blocks > 0 ? tiles / static_cast<double>(blocks) : 0;
  std::uint64_t power = 0;
  for (; crowd >= 16; crowd /= 16) ++power;
  return power * 0x9e3779b97f4a7c15u;
}

// A kernel may be taken from a table, which no comparison tells.
std::uint64_t sum_of(const std::map<const void*, std::uint64_t>& blocks_of) {
  std::uint64_t sum = 0;
  for (const auto& [kernel, blocks] : blocks_of)
    sum += scramble(reinterpret_cast<std::uintptr_t>(kernel));
  return sum;
}

struct Launched {
  std::uint64_t blocks, what;
  std::map<const void*, std::uint64_t> blocks_of;
  bool is_refused = false, lacked_memory = false;
};

using Call = std::function<void(const Launch&, cudaStream_t)>;

// In the caller's first stream, where another one cannot be captured.
void launch_on_machine(const DryLaunch& d, const Launch& launch, const Call& call) {
  if (!d.captured) return call(launch, nullptr);
  CapturedGraph graph;
  const LaunchFailure failure = graph.capture([&] {
    call(launch, static_cast<cudaStream_t>(ptx::stream_of_caller(0)));
    return LaunchFailure();
  });
  if (!failure) graph.launch_at_once();
}

// By the executor's build that is watched, or by nvcc's for the PTX machine.
Launched launched_by(const Entry& entry, const DryLaunch& d, simt::Watch& watch, const Call& call) {
  const bool by_executor = entry.watched_launch != nullptr;
  simt::Settings settings = {.watch = &watch};
  if (by_executor) settings.refused_launch = d.refused, settings.runs_nothing = true;
  ptx::Observation by_machine;
  const auto host_code = [&] {
    if (by_executor) return call(entry.watched_launch, nullptr);
    const DeviceLoan alone({}, false);
    by_machine = ptx::observe({.refused_launch = d.refused, .runs_nothing = true},
                              [&] { launch_on_machine(d, entry.variant.launch, call); });
  };
  const simt::Observation seen = simt::observe(settings, std::ref(host_code));
  if (by_executor) return {seen.blocks, seen.launched, seen.blocks_of};
  const bool is_refused =
      by_machine.finding && by_machine.finding->fault == ptx::Fault::launch_refused;
  return {by_machine.blocks, by_machine.launched, by_machine.blocks_of, is_refused,
          by_machine.lacked_memory};
}

}  // namespace

DryLaunches::DryLaunches(const Entry& entry, const simt::Hints& hints)
    : entry_(entry), hints_(hints), watch_(std::numeric_limits<std::uint64_t>::max(), hints) {}

Dry DryLaunches::launch(const DryLaunch& d, simt::Watch& watch) {
  const Given gemm = given_at_addresses(d);
  if (!refusal(entry_.variant, gemm).empty()) return {};
  Dry dry{.accepted = true};
  const std::uint64_t before = watch.calls();
  const auto call = [&](const Launch& launch, cudaStream_t stream) {
    const auto host_code = [&] {
      try {
        if (entry_.variant.workspace != nullptr) entry_.variant.workspace(gemm);
        dry.gave_up = launch(gemm, stream, gemm.workspace) != cudaSuccess;
      } catch (const std::exception&) {  // which a trial reports
        dry.gave_up = true;
      }
    };
    const bool ended = watch.run(most_calls, std::ref(host_code));
    dry.too_long = !ended && watch.calls() - before > most_calls;
    dry.at_fault = !ended && !dry.too_long;
  };
  const Launched launched = launched_by(entry_, d, watch, std::ref(call));
  dry.took_new_side = watch.took_new_side();
  dry.launched = launched.what;
  dry.kernels = sum_of(launched.blocks_of);
  dry.blocks_of = launched.blocks_of;
  dry.blocks = launched.blocks;
  dry.fails = (launched.is_refused || dry.gave_up) && !launched.lacked_memory && !d.refused &&
              !dry.at_fault && !dry.too_long;
  dry.path = watch.path() + dry.kernels + dry.at_fault +
             crowding(d.c, entry_.variant.tile, launched.blocks);
  dry.cost = watch.calls() - before + calls_to_launch;
  return dry;
}

Dry DryLaunches::launch(const DryLaunch& d) { return launch(d, watch_); }

std::vector<simt::Comparison> DryLaunches::compared_in(const DryLaunch& d) {
  simt::Watch alone(std::numeric_limits<std::uint64_t>::max(), hints_);
  launch(d, alone);
  return alone.comparisons();
}

}  // namespace assay
