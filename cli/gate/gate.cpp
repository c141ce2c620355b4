#include <fmt/format.h>

#include "base/child_process.h"
#include "base/errors.h"
#include "base/whole_file.h"
#include "cli/commands.h"
#include "cli/gate/gate_text.h"
#include "cli/gate/timing_files.h"
#include "oracle/machine.h"

namespace assay {
namespace {

void insist_on_commit(const std::string& ref) {
  const ProgramOutput known = output_of("git", {"-C", ASSAY_SOURCE_PATH, "rev-parse", "--verify",
                                                "--quiet", "--end-of-options", ref + "^{commit}"});
  if (known.code != 0)
    throw BadInput(fmt::format("--against {}: git knows no commit of that name", ref));
}

// Builds the kernels of a commit with this harness, and answers the folder with what they are.
std::string baseline_of(const std::string& ref) {
  const ProgramOutput built = output_of(ASSAY_SOURCE_PATH "/ci/against", {ref});
  if (built.code == 0) return built.text.substr(built.text.rfind('\n') + 1);
  throw UnfitEnvironment(
      fmt::format("the kernels of {} cannot be had: ci/against ended with {}", ref, built.code));
}

void measure(GateResult& result) {
  const GateRequest& request = result.request;
  GateOptions options{
      .variants = request.variants.empty() ? request.variants : variants_for_gpu(request.variants),
      .baselines = request.against ? baseline_of(*request.against) : request.baselines,
      .cell = request.explain.value_or(request.cell.value_or("")),
      .remeasure_unchanged = request.all,
      .seed = request.seed,
      .time = processes_started_with(time_worker_flag)};
  ProgressLine progress(!request.quiet);
  try {
    result.report = gate_time(
        options, [&](const std::string& step, double done) { progress.update(step, done); });
  } catch (const NoBaseline& error) {
    result.no_baseline = error.what();
    return;
  }
  if (!options.cell.empty() && result.report.unfit.empty() && result.report.lines.empty()) {
    insist_on_cell(options.cell, read_baseline(options.baselines, result.report.device.at("key")));
  }
}

}  // namespace

ExitCode run_gate(const GateRequest& request) {
  insist_on_known(request.variants);
  GateResult result{.request = request};
  if (request.cell) result.request.cell = cell_named("--cell", *request.cell);
  if (request.explain) result.request.explain = cell_named("--explain", *request.explain);
  if (request.against) insist_on_commit(*request.against);
  insist_on_required_gpu();
  const OutputFile json(request.json), markdown(request.markdown), junit(request.junit);

  result.why_not = unavailable(Backend::cuda);
  if (result.why_not.empty()) measure(result);
  const Conclusion conclusion = conclude(result);
  const Screen screen = screen_beside({request.json, request.markdown, request.junit});
  screen.print(gate_text(result, conclusion, screen));
  if (json) json.write(json_of(result, conclusion));
  if (markdown) markdown.write(markdown_of(result, conclusion));
  if (junit) junit.write(junit_of(result));
  return conclusion.code;
}

}  // namespace assay
