#include "base/whole_file.h"
#include "cli/bench/bench_report.h"
#include "cli/commands.h"
#include "cli/gate/timing_files.h"
#include "oracle/machine.h"

namespace assay {
namespace {

void measure(BenchResult& result, const std::vector<Case>& problems) {
  const BenchRequest& request = result.request;
  ProgressLine progress(!request.quiet);
  result.report = bench({.variants = variants_for_gpu(request.variants),
                         .problems = problems.empty() ? bench_problems() : problems,
                         .processes = request.processes,
                         .seed = request.seed,
                         .warm = request.warm,
                         .time = processes_started_with(time_worker_flag)},
                        [&](const std::string& step, double done) { progress.update(step, done); });
}

}  // namespace

ExitCode run_bench(const BenchRequest& request) {
  insist_on_known(request.variants);
  std::vector<Case> problems;
  for (const std::string& text : request.problems)
    problems.push_back(problem_named("--problem", text));
  insist_on_required_gpu();
  const OutputFile json(request.json);

  BenchResult result{.request = request, .why_not = unavailable(Backend::cuda)};
  if (result.why_not.empty()) measure(result, problems);
  const Conclusion conclusion = conclude(result);
  const Screen screen = screen_beside({request.json});
  screen.print(bench_text(result, conclusion, screen));
  if (json) json.write(json_of(result, conclusion));
  return conclusion.code;
}

}  // namespace assay
