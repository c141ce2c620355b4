// replayed_gate CARD CODE PERCENT ARGUMENT...: does what ci/bisect asks of `assay` where there is
// no GPU. The gate is the real one; its processes are those of a recorded card, drawn again. CODE
// is the machine code of today's kernels, which are slower by PERCENT.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <iterator>
#include <random>

#include "base/whole_file.h"
#include "cli/gate/gate_report.h"
#include "kernels/register.h"
#include "regress/accept.h"
#include "regress/tests/recorded_samples.h"

namespace {

using namespace assay;
using assay_test::Recorded;

struct Kernels {
  std::vector<Recorded> recorded;
  unsigned code = 0;
  double slower = 0;
};

Recipe recipe_with(unsigned code) {
  return {{MemsetNode{.operand = Operand::c, .value = code, .element_bytes = 4, .width = 1}}};
}

// Rounds that reduce to just what a process measured.
std::vector<Round> rounds_of(const Replicate& process, double time_us) {
  const auto sample = [&](double log) { return Sample{time_us * std::exp(-log), 1980, 0}; };
  return std::vector<Round>(
      2 * fewest_pairs, {sample(0), sample(*process.to_twin), sample(*process.to_baseline), {}});
}

CellTiming timing_of(const Cell& cell, const Baseline& baseline, bool timed, const Kernels& kernels,
                     std::mt19937_64& random) {
  CellTiming timing = {.cell = cell, .recipe = recipe_with(kernels.code), .cold = 2};
  const CellRecord* accepted = record_of(baseline.accepted, cell);
  timing.unchanged = accepted != nullptr && accepted->recipe == timing.recipe;
  if (!timed) return timing;
  const auto found = std::ranges::find(kernels.recorded, cell, &Recorded::cell);
  std::uniform_int_distribution<std::size_t> any(0, found->processes.size() - 1);
  Replicate process = found->processes[any(random)];
  *process.to_baseline += std::log1p(kernels.slower);
  timing.rounds = rounds_of(process, found->time_us);
  return timing;
}

TimeInProcesses recorded(const Kernels& kernels) {
  return [&](const TimingJob& job, int processes, const TimingProgress&) {
    const Baseline baseline = job.cells.empty() || job.baselines.empty()
                                  ? Baseline()
                                  : read_baseline(job.baselines, "recorded");
    std::mt19937_64 random(1000 * job.seed + kernels.code);
    std::vector<ProcessTiming> timings(static_cast<std::size_t>(processes));
    for (ProcessTiming& timing : timings) {
      timing.device = {{"key", "recorded"},
                       {"name", "RECORDED"},
                       {"architecture", "sm_90"},
                       {"driver", "1"},
                       {"runtime", "13.0"}};
      for (const CellJob& asked : job.cells)
        timing.cells.push_back(timing_of(asked.cell, baseline, job.rounds > 0, kernels, random));
    }
    return timings;
  };
}

// The word after a flag; empty if the flag is not there.
std::string after(const std::string& flag, const std::vector<std::string>& words) {
  const auto found = std::ranges::find(words, flag);
  return found == words.end() ? "" : *std::next(found);
}

int gate(const std::vector<std::string>& words, const Kernels& kernels) {
  const GateResult result = {.report = gate_time({.baselines = after("--baselines", words),
                                                  .cell = parse_cell(after("--cell", words)),
                                                  .time = recorded(kernels)})};
  const Conclusion conclusion = conclude(result);
  write_whole(after("--json", words), json_of(result, conclusion));
  std::cout << conclusion.text() << '\n';
  return static_cast<int>(conclusion.code);
}

int accept(const std::vector<std::string>& words, const Kernels& kernels) {
  const AcceptReport report = accept_time({.baselines = after("--baselines", words),
                                           .reason = after("--reason", words),
                                           .measured = false,
                                           .provenance = {.commit = after("--unmeasured", words)},
                                           .time = recorded(kernels)});
  return report.accepted.empty() ? 4 : 0;
}

cudaError_t launch_nothing(const Gemm&, cudaStream_t) { return cudaSuccess; }

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  Kernels kernels = {.recorded = assay_test::read_samples(false).at(words.at(0)),
                     .code = static_cast<unsigned>(std::stoul(words.at(1))),
                     .slower = std::stod(words.at(2)) / 100};
  std::map<std::string, int> positions;
  for (const Recorded& one : kernels.recorded) {
    const auto [at, is_new] = positions.try_emplace(one.cell.variant, positions.size());
    if (is_new)
      register_variant(
          {.name = at->first.c_str(), .idea = "of a recorded card", .launch = launch_nothing},
          Backend::cuda, at->second);
  }
  return words.at(3) == "gate" ? gate(words, kernels) : accept(words, kernels);
}
