#include "cli/bench/bench.h"

#include "base/whole_file.h"
#include "cli/bench/bench_report.h"
#include "cli/command.h"
#include "cli/selection.h"
#include "cli/worker_flags.h"
#include "oracle/machine.h"
#include "regress/problems.h"
#include "regress/processes.h"

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

ExitCode run(const BenchRequest& request) {
  refuse_unknown(request.variants);
  std::vector<Case> problems;
  for (const std::string& text : request.problems)
    problems.push_back(problem_named("--problem", text));
  refuse_missing_gpu();
  const OutputFile json(request.json);

  BenchResult result{.request = request, .why_not = unavailable(Backend::cuda)};
  if (result.why_not.empty()) measure(result, problems);
  const Conclusion conclusion = conclude(result);
  const Screen screen = screen_beside({request.json});
  screen.print(bench_text(result, conclusion, screen));
  if (json) json.write(json_of(result, conclusion));
  return conclusion.code;
}

}  // namespace

void add_flags(Flags& flags, BenchRequest& request) {
  flags.words("VARIANT", request.variants, "names from `assay list`; default: all");
  flags.texts("--problem", request.problems, "TEXT",
              "a case such as \"m=1024 n=1024 k=64\"; repeat for more");
  flags.number("--processes", request.processes, 1, 1000,
               "how many fresh processes time it, one after the other (3)");
  flags.number("--seed", request.seed, "seed of the operands and of the order (0)");
  flags.flag("--warm", request.warm, "let operands stay in the L2 cache");
  flags.result("--json", request.json, "write the results as JSON; - is stdout");
  flags.flag("--quiet", request.quiet, "print only wrong results and the verdict");
  flags.keep_all(request.arguments);
  flags.footer(
      "Examples:\n"
      "  assay bench                                            the ladder on the usual problems\n"
      "  assay bench warptiled --problem \"m=4096 n=4096 k=4096\" --processes 12\n"
      "\n"
      "Exit status: 0 everything was timed and is right, 1 a result is wrong,\n"
      "             2 bad usage or bad input, 4 the environment is unfit,\n"
      "             77 nothing could be timed here\n");
}

Command bench_command() {
  return command("bench", "times variants beside cuBLAS and the limits of the GPU", add_flags, run);
}

}  // namespace assay
