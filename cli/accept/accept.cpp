#include "cli/accept/accept.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"
#include "base/printable.h"
#include "base/project.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "cli/command.h"
#include "cli/gate/subject.h"
#include "cli/out/result.h"
#include "cli/selection.h"
#include "cli/worker_flags.h"
#include "oracle/machine.h"
#include "regress/decide/decide.h"
#include "regress/processes.h"
#include "regress/store/changes.h"
#include "regress/watched.h"

namespace assay {

namespace {

// "naive, tiled_4 are as they were: a result is wrong"; empty where all were accepted.
std::string refused_text(const AcceptReport& report) {
  if (report.refused.empty()) return "";
  return fmt::format("{} {}", joined(report.refused),
                     report.wrong ? "would be wrong, and nothing was changed"
                                  : "cannot be accepted as a whole, and nothing was changed");
}

std::string ratios_text(const AcceptReport& report, const Screen& screen) {
  Table table;
  table.add_column("time of", Side::left);
  table.add_column("over the baseline's (95 %)", Side::left);
  table.add_column("over the anchor's (95 %)", Side::left);
  std::int64_t rows = 0;
  for (const AcceptLine& line : report.lines) {
    if (line.to_baseline.processes == 0 && line.to_anchor.processes == 0) continue;
    ++rows;
    table.add_row(
        {{to_string(line.cell)},
         {to_text(line.to_baseline)},
         {to_text(line.to_anchor), is_over_budget(line.to_anchor) ? Colour::red : Colour::plain}});
  }
  std::string text = rows > 0 ? table.text(screen) : "";
  const std::int64_t first = static_cast<std::int64_t>(report.lines.size()) - rows;
  if (first > 0)
    text += fmt::format("with nothing to compare it with: {}\n", plural(first, "cell"));
  text += "\n";
  for (const AcceptLine& line : report.lines) {
    if (std::ranges::count(report.refused, line.cell.variant) == 0) continue;
    if (line.refusal.empty()) continue;
    text += fmt::format("{}: {}: {}\n", screen.paint("refused", Colour::yellow),
                        to_string(line.cell), printable(line.refusal));
  }
  return text;
}

}  // namespace

Conclusion conclude(const AcceptResult& result) {
  const AcceptReport& report = result.report;
  if (!report.removed.empty()) {
    return {ExitCode::passed, "REMOVED",
            "the gate no longer watches this, and tells so with the reason", ""};
  }
  if (!result.why_not.empty())
    return {ExitCode::nothing_judged, "NOTHING ACCEPTED", result.why_not, ""};
  if (!report.unfit.empty())
    return {ExitCode::unfit_environment, "NOTHING ACCEPTED", report.unfit, ""};
  const std::string refused = refused_text(report);
  if (report.accepted.empty()) {
    const std::string why = refused.empty() ? joined(report.not_gated, "; ") : refused;
    return why.empty()
               ? Conclusion{ExitCode::nothing_judged, "NOTHING ACCEPTED", "there is no variant", ""}
               : Conclusion{ExitCode::wrong, "NOTHING ACCEPTED", why, ""};
  }
  std::vector<std::string> missing;
  for (const std::string& name : result.named) {
    const bool is_told = std::ranges::count(report.refused, name) > 0;
    if (!is_told && std::ranges::count(report.accepted, name) == 0) missing.push_back(name);
  }
  const std::string what = fmt::format(
      "{} of {}, written to {}", plural(report.cells(), "cell"),
      plural(static_cast<std::int64_t>(report.accepted.size()), "variant"), report.folder);
  const auto in_part = [&](const std::string& why) {
    return Conclusion{ExitCode::wrong, "ACCEPTED IN PART", fmt::format("{}; {}", why, what), ""};
  };
  if (!refused.empty()) return in_part(refused);
  if (!missing.empty()) {
    return in_part(
        fmt::format("{} {} left out", joined(missing), missing.size() == 1 ? "was" : "were"));
  }
  return {ExitCode::passed, "ACCEPTED", what, ""};
}

std::string accept_text(const AcceptResult& result, const Conclusion& conclusion,
                        const Screen& screen) {
  const AcceptReport& report = result.report;
  std::string text;
  if (result.why_not.empty() && report.unfit.empty()) {
    if (!report.lines.empty() && !result.request.unmeasured) text += ratios_text(report, screen);
    if (!report.accepted.empty()) text += fmt::format("accepted: {}\n", joined(report.accepted));
    for (const std::string& name : report.removed) text += fmt::format("removed: {}\n", name);
    for (const std::string& reason : report.not_gated)
      text += fmt::format("{}: {}\n", screen.paint("not gated", Colour::yellow), printable(reason));
    text += fmt::format("because: {}\n", result.request.reason);
    if (!result.request.move_anchor.empty())
      text += fmt::format("the anchor moves, because: {}\n", result.request.move_anchor);
    text += fmt::format("in {}\n\n", duration_text(report.seconds));
  }
  return text + conclusion_text(conclusion, screen);
}

static JsonValue json_of(const Ratio& ratio) {
  if (ratio.processes == 0) return {};
  return {{"ratio", ratio.value},
          {"low", ratio.low},
          {"high", ratio.high},
          {"processes", ratio.processes}};
}

static JsonValue json_of(const AcceptLine& line) {
  return {{"variant", line.cell.variant},
          {"problem", to_string(line.cell.problem)},
          {"host", line.cell.host},
          {"to_baseline", json_of(line.to_baseline)},
          {"to_anchor", json_of(line.to_anchor)},
          {"refusal", line.refusal}};
}

std::string json_of(const AcceptResult& result, const Conclusion& conclusion) {
  const AcceptReport& report = result.report;
  return result_text(
      {"accept time", result.request.arguments, conclusion},
      {{"folder", report.folder},
       {"reason", result.request.reason},
       {"accepted", report.accepted},
       {"move_anchor", result.request.move_anchor},
       {"refused", report.refused},
       {"removed", report.removed},
       {"not_gated", report.not_gated},
       {"cells", report.cells()},
       {"results", json_list(report.lines, [](const AcceptLine& line) { return json_of(line); })},
       {"unfit", report.unfit},
       {"seconds", report.seconds}});
}

namespace {

void measure(AcceptResult& result, const Subject& subject) {
  const AcceptRequest& request = result.request;
  AcceptOptions options = request;
  options.variants = subject.variants;
  options.libraries = subject.libraries();
  options.measured = !request.unmeasured;
  const Origin& origin = subject.origin;
  options.provenance = {
      .kernels = request.unmeasured ? "" : origin.kernels,
      .commit = request.unmeasured ? *request.unmeasured : commit_of(subject.folder, request.dirty),
      .harness = origin.harness,
      .compiler = origin.compiler,
      .flags = origin.flags};
  options.time = processes_started_with(subject.worker);
  ProgressLine progress(true);
  result.report = accept_time(
      options, [&](const std::string& step, double done) { progress.update(step, done); });
}

bool is_blank(const std::string& text) {
  return text.find_first_not_of(" \t\r\n") == std::string::npos;
}

ExitCode run(const AcceptRequest& given) {
  if (is_blank(given.reason))
    throw BadInput("accept needs a reason, such as --reason \"first baseline\"");
  if (given.moves_anchor && is_blank(*given.moves_anchor))
    throw BadInput("--move-anchor needs a reason of its own: why may this be so much slower?");
  AcceptRequest request = given;
  request.move_anchor = given.moves_anchor.value_or("");
  const Subject subject = subject_of(request.files, request.variants, request.baselines);
  if (subject.is_of_files && request.unmeasured)
    throw BadInput("--unmeasured is of a commit of this project's own kernels: give no FILE");
  if (request.remove.empty()) refuse_missing_gpu();
  const OutputFile json(request.json);

  AcceptResult result{.request = request};
  if (subject.is_named) result.named = subject.variants;
  if (!request.remove.empty()) {
    const Provenance why = {.commit = commit_of(project().folder, true),
                            .date = today(),
                            .harness = "assay " ASSAY_VERSION,
                            .reason = request.reason};
    result.report.removed = give_up(request.baselines, request.remove, why);
  } else if (result.why_not = unavailable(Backend::cuda); result.why_not.empty()) {
    measure(result, subject);
  }
  const Conclusion conclusion = conclude(result);
  const Screen screen = screen_beside({request.json});
  screen.print(accept_text(result, conclusion, screen));
  if (json) json.write(json_of(result, conclusion));
  return conclusion.code;
}

}  // namespace

void add_flags(Flags& flags, AcceptRequest& request) {
  request.baselines = project().baselines;
  flags.subject({"time"});
  flags.words("VARIANT", request.variants,
              "names from `assay list`, or FILEs of kernels such as mine.cu, and names of variants "
              "in them; default: all");
  request.files.add_flags(flags);
  flags.text("--reason", request.reason, "TEXT", "why; stored with the baseline for reviewers");
  flags.flag("--only-new", request.only_new,
             "accept only what has no record yet, such as a new problem; the rest stays as it is");
  flags.text("--move-anchor", request.moves_anchor, "WHY",
             "accept also what is over the budget of creep, and count from there");
  flags.flag("--upgrade", request.upgrade,
             "toolkit, driver or card were changed on purpose: take today's canaries");
  flags.texts("--remove", request.remove, "NAME",
              "a variant or \"VARIANT CASE\" that is no longer to be watched; needs no GPU");
  flags.flag("--dirty", request.dirty,
             "accept files that are not committed, which nobody can rebuild");
  flags.number("--processes", request.processes, 2, 1000,
               "how many fresh processes time it, one after the other (12)");
  flags.number("--seed", request.seed, "seed of the operands and of the order (0)");
  flags.text("--baselines", request.baselines, "DIR",
             "where to write; default: the project's own, or beside the FILE");
  flags.text("--unmeasured", request.unmeasured, "COMMIT",
             "store only machine code and launches, as those of this commit");
  flags.result("--json", request.json, "write what was accepted as JSON; - is stdout");
  flags.keep_all(request.arguments);
  flags.exclude("--remove", "VARIANT",
                "--remove names what is given up: give no variants beside it");
  flags.exclude("--only-new", "--move-anchor", "what is new has no anchor that could move");
  flags.exclude("--only-new", "--upgrade",
                "--upgrade accepts everything again: say one of the two");
  flags.exclude("--upgrade", "VARIANT",
                "--upgrade stores what all variants are compared by: accept all of them");
  flags.footer(
      "Examples:\n"
      "  assay accept time --reason \"first baseline\"\n"
      "  assay accept time --remove naive --reason \"tiled_4 teaches the same\"\n"
      "  assay accept time warptiled --reason \"more registers for the longer k tile, see #12\"\n"
      "\n"
      "Exit status: 0 accepted, 1 a variant was refused or left out,\n"
      "             2 bad usage or bad input, 4 the environment is unfit,\n"
      "             77 nothing could be accepted here\n");
}

Command accept_command() {
  return command("accept", "`accept time`: makes what is here now the baseline, for a reason",
                 add_flags, run);
}

}  // namespace assay
