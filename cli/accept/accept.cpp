#include "cli/accept/accept.h"

#include "base/errors.h"
#include "base/whole_file.h"
#include "cli/accept/accept_report.h"
#include "cli/accept/commit.h"
#include "cli/command.h"
#include "cli/selection.h"
#include "cli/worker_flags.h"
#include "oracle/machine.h"
#include "regress/processes.h"

namespace assay {
namespace {

void measure(AcceptResult& result) {
  const AcceptRequest& request = result.request;
  const AcceptOptions options{
      .variants = variants_for_gpu(request.variants),
      .baselines = request.baselines,
      .reason = request.reason,
      .move_anchor = request.move_anchor,
      .measured = !request.unmeasured,
      .processes = request.processes,
      .seed = request.seed,
      .provenance = {.commit = request.unmeasured ? *request.unmeasured
                                                  : commit_of(ASSAY_SOURCE_PATH, request.dirty),
                     .harness = "assay " ASSAY_VERSION,
                     .compiler = ASSAY_CUDA_COMPILER,
                     .flags = ASSAY_CUDA_FLAGS},
      .time = processes_started_with(time_worker_flag)};
  ProgressLine progress(true);
  result.report = accept_time(
      options, [&](const std::string& step, double done) { progress.update(step, done); });
}

ExitCode run(const AcceptRequest& request) {
  if (request.reason.find_first_not_of(" \t\r\n") == std::string::npos)
    throw BadInput("accept needs a reason, such as --reason \"first baseline\"");
  refuse_unknown(request.variants);
  refuse_missing_gpu();
  const OutputFile json(request.json);

  AcceptResult result{.request = request, .why_not = unavailable(Backend::cuda)};
  if (result.why_not.empty()) measure(result);
  const Conclusion conclusion = conclude(result);
  const Screen screen = screen_beside({request.json});
  screen.print(accept_text(result, conclusion, screen));
  if (json) json.write(json_of(result, conclusion));
  return conclusion.code;
}

}  // namespace

void add_flags(Flags& flags, AcceptRequest& request) {
  request.baselines = ASSAY_BASELINES_PATH;
  flags.subject({"time"});
  flags.words("VARIANT", request.variants, "names from `assay list`; default: all");
  flags.text("--reason", request.reason, "TEXT", "why; stored with the baseline for reviewers");
  flags.flag("--move-anchor", request.move_anchor,
             "forget how much slower it became since the first baseline");
  flags.flag("--dirty", request.dirty,
             "accept files that are not committed, which nobody can rebuild");
  flags.number("--processes", request.processes, 2, 1000,
               "how many fresh processes time it, one after the other (12)");
  flags.number("--seed", request.seed, "seed of the operands and of the order (0)");
  flags.text("--baselines", request.baselines, "DIR", "where to write; default: the project's own");
  flags.text("--unmeasured", request.unmeasured, "COMMIT",
             "store only machine code and launches, as those of this commit");
  flags.result("--json", request.json, "write what was accepted as JSON; - is stdout");
  flags.keep_all(request.arguments);
  flags.footer(
      "Examples:\n"
      "  assay accept time --reason \"first baseline\"\n"
      "  assay accept time warptiled --reason \"more registers for the longer k tile, see #12\"\n"
      "\n"
      "Exit status: 0 accepted, 1 a cell or a variant that was asked for was left out,\n"
      "             2 bad usage or bad input, 4 the environment is unfit,\n"
      "             77 nothing could be accepted here\n");
}

Command accept_command() {
  return command("accept", "`accept time`: makes what is here now the baseline, for a reason",
                 add_flags, run);
}

}  // namespace assay
