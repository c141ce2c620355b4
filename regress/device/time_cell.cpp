#include "regress/device/time_cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "kernels/registry.h"
#include "regress/code/compare_code.h"

namespace assay {
namespace {

constexpr int rehearsals = 3;
constexpr double long_sample_us = 20e3;

// What a cell launches now, and what it is compared with; null where there is nothing.
struct Launches {
  Variant variant;
  Captured now;
  const CellRecord *accepted = nullptr, *anchor = nullptr;
};

// The bytes of a cubin that a recipe runs. Empty for a recipe that runs no kernel.
std::string machine_code(const std::map<std::string, std::string>& cubins,
                         const std::string& hash) {
  const auto found = cubins.find(hash);
  return found == cubins.end() ? "" : found->second;
}

std::string complaint_of(Enqueuer& arm, std::int64_t set, Arithmetic arithmetic,
                         const ProcessTools& tools) {
  return tools.check.complaint(arm, tools.sets, set, arithmetic, tools.stopwatch.stream());
}

// Whether a variant's own launch is right, though what was captured of it is not.
bool only_launch_is_right(const Variant& variant, std::int64_t set, const ProcessTools& tools) {
  return complaint_of(*direct(variant), set, variant.arithmetic, tools).empty();
}

// A launch may set up data once that its kernels read ever after. A copy of their machine code has
// not got them, which shows where such data have changed.
void refuse_what_needs_set_up(const Variant& variant, Captured& now, const ProcessTools& tools) {
  if (now.changed_variable.empty()) return;
  const auto copy = load(now.recipe, machine_code(tools.code.cubins(), now.cubin));
  if (complaint_of(*copy, 0, variant.arithmetic, tools).empty() ||
      !only_launch_is_right(variant, 0, tools))
    return;
  now = {.why_not = fmt::format("its launch sets up the variable {}, and without that its machine "
                                "code gives wrong results",
                                now.changed_variable)};
}

Captured capture_here(const Variant& variant, const ProcessTools& tools) {
  const OperandSets& sets = tools.sets;
  Captured now = capture(variant, sets.set(0), sets.set(sets.count() - 1), tools.code,
                         tools.stopwatch.stream());
  refuse_what_needs_set_up(variant, now, tools);
  return now;
}

Launches launches_of(const CellJob& job, const ProcessTools& tools) {
  Launches launches = {.variant = entry_named(job.cell.variant, Backend::cuda).variant};
  launches.now = capture_here(launches.variant, tools);
  if (tools.baseline == nullptr || !job.rival.empty()) return launches;
  launches.accepted = record_of(tools.baseline->accepted, job.cell);
  launches.anchor = record_of(tools.baseline->anchor, job.cell);
  return launches;
}

// Registers, stack and instructions of the first kernels that differ.
std::string code_difference(const Launches& launches, const ProcessTools& tools) {
  const auto& before = launches.accepted->recipe.nodes;
  const auto& now = launches.now.recipe.nodes;
  for (std::size_t i = 0; i < std::min(before.size(), now.size()); ++i) {
    const auto* a = std::get_if<KernelNode>(&before[i]);
    const auto* b = std::get_if<KernelNode>(&now[i]);
    if (a == nullptr || b == nullptr || a->code == b->code) continue;
    const auto accepted = accepted_kernel(*tools.baseline, launches.accepted->cubin, a->kernel);
    if (accepted) return difference(*accepted, tools.code.find(b->kernel)->code);
  }
  return "";
}

CellTiming survey(const Cell& cell, const Launches& launches, const ProcessTools& tools) {
  const std::string& why_not = launches.now.why_not;
  CellTiming timing = {.cell = cell,
                       .recipe = launches.now.recipe,
                       .cubin = launches.now.cubin,
                       .no_recipe = why_not,
                       .first_us = launches.now.first_us};
  if (launches.accepted == nullptr) return timing;
  if (!why_not.empty()) {
    timing.cause = "its launch can no longer be stored: " + why_not;
    return timing;
  }
  timing.cause = difference(launches.accepted->recipe, timing.recipe);
  const std::string code = code_difference(launches, tools);
  if (!code.empty()) timing.cause += (timing.cause.empty() ? "" : "; ") + code;
  timing.unchanged = same_launch(launches.accepted->recipe, timing.recipe);
  return timing;
}

Enqueuers load_arms(const CellJob& job, const Launches& launches, ProcessTools& tools) {
  std::vector<std::pair<Arm, std::function<std::unique_ptr<Enqueuer>()>>> loaders;
  const auto add = [&](Arm arm, const Variant& variant, const Captured& captured) {
    loaders.emplace_back(arm, [&] {
      if (!captured.why_not.empty()) return direct(variant);
      return load(captured.recipe, machine_code(tools.code.cubins(), captured.cubin));
    });
  };
  const auto add_stored = [&](Arm arm, const CellRecord& record) {
    loaders.emplace_back(arm, [&] {
      return load(record.recipe, machine_code(tools.baseline->cubins, record.cubin));
    });
  };
  add(Arm::head, launches.variant, launches.now);
  if (tools.job.control) add(Arm::twin, launches.variant, launches.now);
  Launches rival;
  if (!job.rival.empty()) {
    rival.variant = entry_named(job.rival, Backend::cuda).variant;
    rival.now = capture_here(rival.variant, tools);
    add(Arm::baseline, rival.variant, rival.now);
  }
  if (launches.accepted != nullptr) add_stored(Arm::baseline, *launches.accepted);
  const bool has_anchor = launches.accepted != nullptr && launches.anchor != nullptr;
  if (has_anchor && !anchor_is_baseline(*tools.baseline, job.cell))
    add_stored(Arm::anchor, *launches.anchor);
  // Where code lies in memory can make a difference: leave that to chance.
  std::shuffle(loaders.begin(), loaders.end(), tools.random);
  Enqueuers enqueuers;
  for (const auto& [arm, load_arm] : loaders) enqueuers[static_cast<std::size_t>(arm)] = load_arm();
  return enqueuers;
}

// Whether the results of all arms are right on one of the sets; else the timing says which is not.
bool is_right(const Enqueuers& enqueuers, std::int64_t set, const Launches& launches,
              ProcessTools& tools, CellTiming& timing) {
  const Variant& variant = launches.variant;
  for (const Arm arm : arms) {
    Enqueuer* enqueuer = enqueuers[static_cast<std::size_t>(arm)].get();
    if (enqueuer == nullptr) continue;
    const std::string complaint = complaint_of(*enqueuer, set, variant.arithmetic, tools);
    if (complaint.empty()) continue;
    timing.wrong = arm == Arm::head || arm == Arm::twin;
    timing.fault = fmt::format("{}: {}", to_string(arm), complaint);
    if (timing.wrong && launches.now.why_not.empty() && only_launch_is_right(variant, set, tools)) {
      timing.wrong = false;
      timing.fault = "its launch is right, but repeated from its machine code alone " + complaint;
    }
    return false;
  }
  return true;
}

// The latency of the larger input that comes next, over that of the same a moment later. The turn
// is at a random set, after one round over all of them.
double coldness(Enqueuer& head, OperandSets& sets, cudaStream_t stream) {
  for (std::int64_t i = 0; i < std::min<std::int64_t>(sets.count(), most_launches); ++i)
    head.enqueue(sets.next(), stream);
  const Gemm next = sets.next();
  const float* const first = next.n > next.m ? next.b : next.a;
  const std::int64_t floats =
      next.n > next.m ? (next.k - 1) * next.ldb + next.n : (next.m - 1) * next.lda + next.k;
  const DeviceArray<double> cycles(2);
  enqueue_latency(first, floats, cycles.get(), stream);
  enqueue_latency(first, floats, cycles.get() + 1, stream);
  cuda_check(cudaStreamSynchronize(stream), "measuring latency");
  std::vector<double> both(2);
  cycles.copy_to(both);
  return both[0] / both[1];
}

// The time of one launch.
double rehearse(Enqueuer& head, ProcessTools& tools) {
  double launch_us = 1e30;
  for (int i = 0; i < rehearsals; ++i) {
    const int launches = i == 0 ? 1 : std::clamp(static_cast<int>(1e3 / launch_us), 1, 10);
    launch_us = std::min(launch_us, tools.stopwatch.sample(head, tools.sets, launches).time_us);
  }
  return launch_us;
}

// Fewer of them where a single launch already takes long: those are quiet. Still some more than
// must be left when the card has throttled.
int rounds_worth_their_time(int rounds, double sample_us) {
  return sample_us > long_sample_us ? std::max(2, rounds * 7 / 20 * 2) : rounds;
}

}  // namespace

std::vector<Round> time_rounds(const Enqueuers& enqueuers, int count, const TakeSample& sample,
                               std::mt19937_64& random) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < enqueuers.size(); ++i) {
    if (enqueuers[i] != nullptr) order.push_back(i);
  }
  std::vector<Round> rounds;
  for (int r = 0; r < count; ++r) {
    if (r % 2 == 0) {
      std::shuffle(order.begin(), order.end(), random);
    } else {
      std::reverse(order.begin(), order.end());
    }
    Round& round = rounds.emplace_back();
    for (const std::size_t arm : order) round[arm] = sample(arms[arm], *enqueuers[arm]);
  }
  return rounds;
}

CellTiming time_cell(const CellJob& job, ProcessTools& tools) {
  tools.sets.arrange(job.cell.problem);
  const Launches launches = launches_of(job, tools);
  CellTiming timing = survey(job.cell, launches, tools);
  if (tools.job.rounds == 0) return timing;
  const Enqueuers enqueuers = load_arms(job, launches, tools);
  if (!launches.now.why_not.empty() && tools.stopwatch.waits(*enqueuers[0], tools.sets.set(0))) {
    timing.fault = "its launch waits for the GPU, so its kernels cannot be timed alone";
    return timing;
  }
  if (!is_right(enqueuers, 0, launches, tools, timing)) return timing;
  timing.cold = coldness(*enqueuers[0], tools.sets, tools.stopwatch.stream());
  const double launch_us = rehearse(*enqueuers[0], tools);
  timing.launches = job.launches > 0 ? job.launches : launches_for(launch_us);
  const int rounds = rounds_worth_their_time(tools.job.rounds, timing.launches * launch_us);
  const auto sample = [&](Arm arm, Enqueuer& enqueuer) {
    const int planted = arm == Arm::head ? job.planted_launches : 0;
    return tools.stopwatch.sample(enqueuer, tools.sets, timing.launches, planted);
  };
  timing.rounds = time_rounds(enqueuers, rounds, sample, tools.random);
  is_right(enqueuers, tools.sets.count() - 1, launches, tools, timing);
  return timing;
}

}  // namespace assay
