// Times every slowdown of the catalogue against the stage it is an edit of, on this GPU, and
// decides as the gate does. Prints a table in Markdown.
#include <fmt/format.h>

#include "regress/decide/decide.h"
#include "regress/device/timing_process.h"
#include "regress/processes.h"
#include "regress/slowdowns/slowdowns.h"

namespace {

using namespace assay;

constexpr const char* problems[] = {"m=256 n=256 k=256", "m=1024 n=1024 k=1024"};

constexpr int processes = 12;

int time_all() {
  TimingJob job = {.seed = 1};
  for (const Slowdown& slowdown : slowdowns) {
    for (const char* problem : problems)
      job.cells.push_back(
          {.cell = {slowdown.name, parse_case(problem)}, .rival = slowdown.variant});
  }
  const auto timings =
      time_in_processes(job, processes, "--time-worker",
                        [](const std::string& text, double) { fmt::print(stderr, "{}\n", text); });
  std::vector<CellBatches> batches(job.cells.size());
  for (const ProcessTiming& timing : timings) {
    if (const std::string why = why_unusable(timing, {}); !why.empty()) {
      fmt::print(stderr, "{}\n", why);
      return 4;
    }
    for (std::size_t i = 0; i < batches.size(); ++i)
      batches[i].confirm.push_back(replicate_of(timing.cells.at(i), false));
  }
  const auto verdicts = decide(batches, {.confirm_processes = processes});
  fmt::print(
      "| slowdown | of | problem | verdict | ratio | 99 % interval | what |\n"
      "|---|---|---|---|---|---|---|\n");
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const Slowdown& slowdown = slowdowns[i / std::size(problems)];
    const CellVerdict& v = verdicts[i];
    fmt::print("| {} | {} | {} | {} | {:.4f} | {:.4f} to {:.4f} | {} |\n", slowdown.name,
               slowdown.variant, to_string(job.cells[i].cell.problem), to_string(v.outcome),
               v.ratio, v.interval.low, v.interval.high,
               v.outcome == CellOutcome::invalid ? v.reason : slowdown.what);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--time-worker") return serve_timing();
  if (argc > 1) {
    fmt::print(stderr, "usage: time_slowdowns\n");
    return 2;
  }
  return time_all();
}
