// Times slowdowns of the catalogue against the stages they are edits of, on this GPU, and decides
// as the gate does. Prints a table in Markdown.
//
//   time_slowdowns        at two sizes
//   time_slowdowns only   those that one problem of the gate is there for, at all its problems
#include <fmt/format.h>

#include <algorithm>

#include "regress/decide/decide.h"
#include "regress/device/timing_process.h"
#include "regress/problems.h"
#include "regress/processes.h"
#include "regress/slowdowns/slowdowns.h"

namespace {

using namespace assay;

constexpr const char* problems[] = {"m=256 n=256 k=256", "m=1024 n=1024 k=1024"};
constexpr const char* problems_of_few_rows[] = {"m=8 n=4096 k=4096", "m=1 n=4096 k=4096"};

constexpr int processes = 12;

// The cells to time, in the order of the catalogue.
std::vector<CellJob> jobs(bool only) {
  std::vector<CellJob> jobs;
  for (const Slowdown& slowdown : slowdowns) {
    if (only != (*slowdown.only != '\0')) continue;
    const Variant stage = entry_named(slowdown.variant, Backend::cuda).variant;
    std::vector<Case> cases = gate_problems();
    if (!only) {
      cases.clear();
      const bool is_of_few_rows = std::string_view(stage.name) == "few_rows";
      for (const char* problem : is_of_few_rows ? problems_of_few_rows : problems)
        cases.push_back(parse_case(problem));
    }
    for (const Case& c : cases) {
      // One launch of `coalesced` takes 28 ms at 4096 cubed.
      const bool is_long = c.multiply_adds() > 2e10 && std::string_view(stage.name) == "coalesced";
      if (!not_timed(stage, c).empty() || is_long) continue;
      CellJob& job = jobs.emplace_back();
      job.cell = {slowdown.name, c};
      job.rival = slowdown.variant;
    }
  }
  return jobs;
}

const Slowdown& slowdown_of(const CellJob& job) {
  return *std::ranges::find_if(
      slowdowns, [&](const Slowdown& slowdown) { return job.cell.variant == slowdown.name; });
}

int time_all(bool only) {
  TimingJob job = {.cells = jobs(only), .seed = 1};
  const auto timings =
      time_in_processes(job, processes, {"--time-worker"},
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
    const Slowdown& slowdown = slowdown_of(job.cells[i]);
    const CellVerdict& v = verdicts[i];
    if (only && v.outcome == CellOutcome::same) continue;
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
  const bool only = argc == 2 && std::string_view(argv[1]) == "only";
  if (argc > 1 && !only) {
    fmt::print(stderr, "usage: time_slowdowns [only]\n");
    return 2;
  }
  return time_all(only);
}
