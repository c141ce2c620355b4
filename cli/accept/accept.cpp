#include "cli/accept/accept.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/child_process.h"
#include "base/errors.h"
#include "base/printable.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "cli/command.h"
#include "cli/out/json.h"
#include "cli/selection.h"
#include "cli/worker_flags.h"
#include "oracle/machine.h"
#include "regress/processes.h"

namespace assay {

std::string commit_of(const std::string& source, bool dirty_too) {
  const ProgramOutput head = output_of("git", {"-C", source, "rev-parse", "HEAD"});
  const ProgramOutput changes =
      output_of("git", {"-C", source, "status", "--porcelain", "--", ".", ":!baselines"});
  if (head.code != 0 || changes.code != 0) {
    throw BadInput(fmt::format(
        "{}: git knows no commit of these sources, so nobody could rebuild what is accepted",
        source));
  }
  if (changes.text.empty()) return head.text;
  if (!dirty_too) {
    throw BadInput(fmt::format(
        "{}: the sources differ from commit {}, so nobody could rebuild what is accepted: commit "
        "them first, or say --dirty",
        source, head.text.substr(0, 12)));
  }
  return head.text + "-dirty";
}

Conclusion conclude(const AcceptResult& result) {
  const AcceptReport& report = result.report;
  if (!result.why_not.empty())
    return {ExitCode::nothing_judged, "NOTHING ACCEPTED", result.why_not, ""};
  if (!report.unfit.empty())
    return {ExitCode::unfit_environment, "NOTHING ACCEPTED", report.unfit, ""};
  if (report.accepted.empty()) {
    return report.left_out.empty()
               ? Conclusion{ExitCode::nothing_judged, "NOTHING ACCEPTED", "there is no variant", ""}
               : Conclusion{ExitCode::wrong, "NOTHING ACCEPTED", joined(report.left_out, "; "), ""};
  }
  std::vector<std::string> missing;
  for (const std::string& name : result.request.variants) {
    if (std::find(report.accepted.begin(), report.accepted.end(), name) == report.accepted.end())
      missing.push_back(name);
  }
  const std::string what = fmt::format(
      "{} of {}, written to {}", plural(report.cells, "cell"),
      plural(static_cast<std::int64_t>(report.accepted.size()), "variant"), report.folder);
  const auto in_part = [&](const std::string& why) {
    return Conclusion{ExitCode::wrong, "ACCEPTED IN PART", fmt::format("{}; {}", why, what), ""};
  };
  if (report.wrong) return in_part("a result was wrong, and was left out");
  if (!missing.empty()) {
    return in_part(
        fmt::format("{} {} left out", joined(missing), missing.size() == 1 ? "was" : "were"));
  }
  if (!report.lost.empty()) {
    return in_part(fmt::format("{} {} left out",
                               plural(static_cast<std::int64_t>(report.lost.size()), "cell"),
                               report.lost.size() == 1 ? "was" : "were"));
  }
  return {ExitCode::passed, "ACCEPTED", what, ""};
}

std::string accept_text(const AcceptResult& result, const Conclusion& conclusion,
                        const Screen& screen) {
  const AcceptReport& report = result.report;
  std::string text;
  if (result.why_not.empty() && report.unfit.empty()) {
    if (!report.accepted.empty()) text += fmt::format("accepted: {}\n", joined(report.accepted));
    for (const std::string& reason : report.left_out)
      text += fmt::format("{}: {}\n", screen.paint("left out", Colour::yellow), printable(reason));
    text +=
        fmt::format("because: {}\nin {}\n\n", result.request.reason, duration_text(report.seconds));
  }
  return text + conclusion_text(conclusion, screen);
}

std::string json_of(const AcceptResult& result, const Conclusion& conclusion) {
  const AcceptReport& report = result.report;
  return json_text(
      "accept time", result.request.arguments, conclusion,
      {{"folder", report.folder},
       {"reason", result.request.reason},
       {"accepted", report.accepted},
       {"left_out", report.left_out},
       {"lost", json_list(report.lost, [](const Cell& cell) { return to_string(cell); })},
       {"cells", report.cells},
       {"unfit", report.unfit},
       {"seconds", report.seconds}});
}

namespace {

void measure(AcceptResult& result) {
  const AcceptRequest& request = result.request;
  AcceptOptions options = request;
  options.variants = variants_for_gpu(request.variants);
  options.measured = !request.unmeasured;
  options.provenance = {.commit = request.unmeasured ? *request.unmeasured
                                                     : commit_of(ASSAY_SOURCE_PATH, request.dirty),
                        .harness = "assay " ASSAY_VERSION,
                        .compiler = ASSAY_CUDA_COMPILER,
                        .flags = ASSAY_CUDA_FLAGS};
  options.time = processes_started_with(time_worker_flag);
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
