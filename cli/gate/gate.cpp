#include "cli/gate/gate.h"

#include <fmt/format.h>

#include "base/child_process.h"
#include "base/errors.h"
#include "base/whole_file.h"
#include "cli/command.h"
#include "cli/gate/gate_json.h"
#include "cli/gate/gate_junit.h"
#include "cli/gate/gate_markdown.h"
#include "cli/gate/gate_text.h"
#include "cli/selection.h"
#include "cli/worker_flags.h"
#include "oracle/machine.h"
#include "regress/processes.h"

namespace assay {
namespace {

void check_commit(const std::string& ref) {
  const ProgramOutput known = output_of("git", {"-C", ASSAY_SOURCE_PATH, "rev-parse", "--verify",
                                                "--quiet", "--end-of-options", ref + "^{commit}"});
  if (known.code != 0)
    throw BadInput(fmt::format("--against {}: git knows no commit of that name", ref));
}

// Builds the kernels of a commit with this harness, and returns the folder of their baseline.
std::string baseline_of(const std::string& ref) {
  const ProgramOutput built = output_of(ASSAY_SOURCE_PATH "/ci/against", {ref});
  if (built.code == 0) return built.text.substr(built.text.rfind('\n') + 1);
  throw UnfitEnvironment(
      fmt::format("the kernels of {} cannot be had: ci/against ended with {}", ref, built.code));
}

std::optional<Cell> cell_asked_for(const GateRequest& request) {
  if (request.cell) return cell_named("--cell", *request.cell);
  if (request.explain) return cell_named("--explain", *request.explain);
  return std::nullopt;
}

void measure(GateResult& result, const std::optional<Cell>& cell) {
  const GateRequest& request = result.request;
  GateOptions options{
      .variants = request.variants.empty() ? request.variants : variants_for_gpu(request.variants),
      .baselines = request.against ? baseline_of(*request.against) : request.baselines,
      .cell = cell,
      .remeasure_unchanged = request.all,
      .seed = request.seed,
      .time = processes_started_with(time_worker_flag)};
  ProgressLine progress(!request.quiet);
  try {
    result.report = gate_time(
        options, [&](const std::string& step, double done) { progress.update(step, done); });
  } catch (const NoBaseline& error) {
    result.no_baseline = error.what();
  }
}

ExitCode run(const GateRequest& request) {
  refuse_unknown(request.variants);
  GateResult result{.request = request};
  const std::optional<Cell> cell = cell_asked_for(request);
  if (request.against) check_commit(*request.against);
  refuse_missing_gpu();
  const OutputFile json(request.json), markdown(request.markdown), junit(request.junit);

  result.why_not = unavailable(Backend::cuda);
  if (result.why_not.empty()) measure(result, cell);
  const Conclusion conclusion = conclude(result);
  const Screen screen = screen_beside({request.json, request.markdown, request.junit});
  screen.print(gate_text(result, conclusion, screen));
  if (json) json.write(json_of(result, conclusion));
  if (markdown) markdown.write(markdown_of(result, conclusion));
  if (junit) junit.write(junit_of(result));
  return conclusion.code;
}

}  // namespace

void add_flags(Flags& flags, GateRequest& request) {
  request.baselines = ASSAY_BASELINES_PATH;
  flags.subject({"time"});
  flags.words("VARIANT", request.variants, "names from `assay list`; default: all");
  flags.text("--baselines", request.baselines, "DIR",
             "the folder of baselines; default: the project's own");
  flags.text("--cell", request.cell, "\"VARIANT CASE\"", "judge only this one");
  flags.text("--explain", request.explain, "\"VARIANT CASE\"",
             "judge only this one and print every number");
  flags.text("--against", request.against, "REF",
             "compare with a git commit, built here, instead of baselines");
  flags.flag("--all", request.all, "time even what is proven unchanged");
  flags.number("--seed", request.seed, "seed of the operands and of the order (0)");
  flags.result("--json", request.json, "write the results as JSON; - is stdout");
  flags.result("--markdown", request.markdown, "write the results as Markdown; - is stdout");
  flags.result("--junit", request.junit, "write the results as JUnit XML; - is stdout");
  flags.flag("--quiet", request.quiet, "print only what fails and the verdict");
  flags.keep_all(request.arguments);
  flags.exclude("--cell", "--explain",
                "--cell and --explain each name the only cell: give one of them");
  for (const char* flag : {"--cell", "--explain"})
    flags.exclude(flag, "VARIANT", "a cell names its variant: give no other variants beside it");
  flags.exclude("--against", "--baselines",
                "--against takes the place of --baselines: give one of them");
  flags.footer(
      "Examples:\n"
      "  assay gate time                        every cell that has a baseline\n"
      "  assay gate time --against main         compare with a commit, built here and now\n"
      "  assay gate time --cell \"warptiled m=4096 n=4096 k=4096\"\n"
      "  assay gate time --explain \"warptiled m=4096 n=4096 k=4096\"\n"
      "\n"
      "Exit status: 0 no cell is slower, 1 a cell is slower or wrong, 2 bad usage or bad input,\n"
      "             3 undecided, 4 the environment is unfit or a measurement is invalid,\n"
      "             5 no baseline, or one for another device, 77 nothing could be judged here\n");
}

Command gate_command() {
  return command("gate", "`gate time`: did anything get slower than its baseline?", add_flags, run);
}

}  // namespace assay
