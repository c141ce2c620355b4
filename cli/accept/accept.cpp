#include "base/whole_file.h"
#include "cli/accept/accept_report.h"
#include "cli/accept/commit.h"
#include "cli/commands.h"
#include "cli/gate/timing_files.h"
#include "oracle/machine.h"

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

}  // namespace

ExitCode run_accept(const AcceptRequest& request) {
  insist_on_known(request.variants);
  insist_on_required_gpu();
  const OutputFile json(request.json);

  AcceptResult result{.request = request, .why_not = unavailable(Backend::cuda)};
  if (result.why_not.empty()) measure(result);
  const Conclusion conclusion = conclude(result);
  const Screen screen = screen_beside({request.json});
  screen.print(accept_text(result, conclusion, screen));
  if (json) json.write(json_of(result, conclusion));
  return conclusion.code;
}

}  // namespace assay
