#include "regress/device/time_cell.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/registry.h"
#include "regress/code/compare_code.h"

namespace assay {
namespace {

constexpr int rehearsals = 3;
constexpr double long_sample_us = 20e3;

// An arm of a cell, as it is to be loaded.
struct Candidate {
  Arm arm;
  const Recipe* recipe = nullptr;  // null: by its own launch function
  const std::string* cubin = nullptr;
  Variant variant;
};

class CellTimer {
 public:
  CellTimer(const CellJob& job, ProcessTools& tools)
      : job_(job),
        tools_(tools),
        variant_(entry_named(job.cell.variant, Backend::cuda).variant),
        stream_(tools.stopwatch.stream()) {
    timing_.cell = job.cell;
  }

  CellTiming run() {
    tools_.sets.arrange(job_.cell.problem);
    look_at_launch();
    if (tools_.job.rounds == 0) return timing_;
    load_arms();
    if (is_right(0)) {
      timing_.cold = coldness();
      choose_launches();
      run_rounds();
      is_right(tools_.sets.count() - 1);
    }
    return timing_;
  }

 private:
  void look_at_launch() {
    const OperandSets& sets = tools_.sets;
    captured_ = capture(variant_, sets.set(0), sets.set(sets.count() - 1), tools_.code, stream_);
    timing_.recipe = captured_.recipe;
    timing_.cubin = captured_.cubin;
    timing_.no_recipe = captured_.why_not;
    if (tools_.baseline == nullptr || !job_.rival.empty()) return;
    accepted_ = record_of(tools_.baseline->accepted, job_.cell);
    anchor_ = record_of(tools_.baseline->anchor, job_.cell);
    if (accepted_ == nullptr) return;
    if (!captured_.why_not.empty()) {
      timing_.cause = "its launch can no longer be captured: " + captured_.why_not;
      return;
    }
    timing_.cause = difference(accepted_->recipe, captured_.recipe);
    const std::string code = code_difference();
    if (!code.empty()) timing_.cause += (timing_.cause.empty() ? "" : "; ") + code;
    timing_.unchanged = same_launch(accepted_->recipe, captured_.recipe);
  }

  // Registers, stack and instructions of the first kernels that differ.
  std::string code_difference() const {
    const auto& before = accepted_->recipe.nodes;
    const auto& now = captured_.recipe.nodes;
    for (std::size_t i = 0; i < std::min(before.size(), now.size()); ++i) {
      const auto* a = std::get_if<KernelNode>(&before[i]);
      const auto* b = std::get_if<KernelNode>(&now[i]);
      if (a == nullptr || b == nullptr || a->code == b->code) continue;
      const auto accepted = accepted_kernel(*tools_.baseline, accepted_->cubin, a->kernel);
      if (accepted) return difference(*accepted, tools_.code.find(b->kernel)->code);
    }
    return "";
  }

  void load_arms() {
    std::vector<Candidate> candidates;
    const auto add_mine = [&](Arm arm) {
      if (captured_.why_not.empty()) {
        candidates.push_back({arm, &captured_.recipe,
                              machine_code(tools_.code.cubins(), captured_.cubin), variant_});
      } else {
        candidates.push_back({.arm = arm, .variant = variant_});
      }
    };
    add_mine(Arm::head);
    if (tools_.job.control) add_mine(Arm::twin);
    if (!job_.rival.empty()) {
      rival_variant_ = entry_named(job_.rival, Backend::cuda).variant;
      const OperandSets& sets = tools_.sets;
      rival_ =
          capture(rival_variant_, sets.set(0), sets.set(sets.count() - 1), tools_.code, stream_);
      const bool known = rival_.why_not.empty();
      candidates.push_back({Arm::baseline, known ? &rival_.recipe : nullptr,
                            machine_code(tools_.code.cubins(), rival_.cubin), rival_variant_});
    }
    if (accepted_ != nullptr) candidates.push_back(stored(Arm::baseline, *accepted_));
    const bool has_anchor = accepted_ != nullptr && anchor_ != nullptr;
    if (has_anchor && !anchor_is_baseline(*tools_.baseline, job_.cell))
      candidates.push_back(stored(Arm::anchor, *anchor_));
    // Where code lies in memory can make a difference: leave that to chance.
    std::shuffle(candidates.begin(), candidates.end(), tools_.random);
    for (const Candidate& candidate : candidates) {
      arms_[static_cast<std::size_t>(candidate.arm)] =
          candidate.recipe != nullptr ? load(*candidate.recipe, *candidate.cubin)
                                      : direct(candidate.variant);
    }
  }

  Candidate stored(Arm arm, const CellRecord& record) const {
    return {arm, &record.recipe, machine_code(tools_.baseline->cubins, record.cubin), variant_};
  }

  // Empty for a recipe that runs no kernel.
  static const std::string* machine_code(const std::map<std::string, std::string>& cubins,
                                         const std::string& hash) {
    static const std::string none;
    const auto found = cubins.find(hash);
    return found == cubins.end() ? &none : &found->second;
  }

  bool is_right(std::int64_t set) {
    for (const Arm arm : arms) {
      Enqueuer* enqueuer = arms_[static_cast<std::size_t>(arm)].get();
      if (enqueuer == nullptr) continue;
      const std::string complaint =
          tools_.check.complaint(*enqueuer, tools_.sets, set, variant_.arithmetic, stream_);
      if (complaint.empty()) continue;
      timing_.wrong = arm == Arm::head || arm == Arm::twin;
      timing_.fault = fmt::format("{}: {}", to_string(arm), complaint);
      return false;
    }
    return true;
  }

  // The latency of the operands that come next, over that of the same a moment later. The turn is
  // at a random set, after one round over all of them.
  double coldness() {
    OperandSets& sets = tools_.sets;
    Enqueuer& head = *arms_[0];
    for (std::int64_t i = 0; i < std::min<std::int64_t>(sets.count(), most_launches); ++i)
      head.enqueue(sets.next(), stream_);
    const Gemm next = sets.next();
    const std::int64_t floats = (next.m - 1) * next.lda + next.k;
    const DeviceArray<double> cycles(2);
    enqueue_latency(next.a, floats, cycles.get(), stream_);
    enqueue_latency(next.a, floats, cycles.get() + 1, stream_);
    cuda_check(cudaStreamSynchronize(stream_), "measuring latency");
    std::vector<double> both(2);
    cycles.copy_to(both);
    return both[0] / both[1];
  }

  void choose_launches() {
    double launch_us = 1e30;
    for (int i = 0; i < rehearsals; ++i) {
      const int launches = i == 0 ? 1 : std::clamp(static_cast<int>(1e3 / launch_us), 1, 10);
      launch_us =
          std::min(launch_us, tools_.stopwatch.sample(*arms_[0], tools_.sets, launches).time_us);
    }
    timing_.launches = job_.launches > 0 ? job_.launches : launches_for(launch_us);
    sample_us_ = timing_.launches * launch_us;
  }

  // Fewer of them where a single launch already takes long: those are quiet. Still some more than
  // must be left when the card has throttled.
  int rounds_worth_their_time() const {
    const int rounds = tools_.job.rounds;
    return sample_us_ > long_sample_us ? std::max(2, rounds * 7 / 20 * 2) : rounds;
  }

  void run_rounds() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < arms_.size(); ++i) {
      if (arms_[i] != nullptr) order.push_back(i);
    }
    for (int r = 0; r < rounds_worth_their_time(); ++r) {
      if (r % 2 == 0) {
        std::shuffle(order.begin(), order.end(), tools_.random);
      } else {
        std::reverse(order.begin(), order.end());
      }
      Round round;
      for (const std::size_t arm : order) {
        round[arm] = tools_.stopwatch.sample(*arms_[arm], tools_.sets, timing_.launches,
                                             arm == 0 ? job_.planted_launches : 0);
      }
      timing_.rounds.push_back(round);
    }
  }

  const CellJob& job_;
  ProcessTools& tools_;
  Variant variant_, rival_variant_;
  cudaStream_t stream_;
  CellTiming timing_;
  double sample_us_ = 0;
  Captured captured_, rival_;
  const CellRecord *accepted_ = nullptr, *anchor_ = nullptr;
  std::array<std::unique_ptr<Enqueuer>, arms.size()> arms_;
};

}  // namespace

CellTiming time_cell(const CellJob& job, ProcessTools& tools) {
  return CellTimer(job, tools).run();
}

}  // namespace assay
