#include "cli/gate/gate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"
#include "base/project.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "cli/command.h"
#include "cli/gate/commits.h"
#include "cli/gate/gate_report.h"
#include "cli/gate/subject.h"
#include "cli/out/table.h"
#include "cli/selection.h"
#include "cli/worker_flags.h"
#include "oracle/machine.h"
#include "regress/processes.h"

namespace assay {
namespace {

std::string verb(int cells) { return cells == 1 ? "is" : "are"; }

// How a gate ends in which some cell has this outcome, and none a worse one.
struct Ending {
  CellOutcome outcome;
  ExitCode code;
  const char* word;
};
constexpr Ending endings[] = {
    {CellOutcome::wrong, ExitCode::wrong, "FAIL"},
    {CellOutcome::slower, ExitCode::wrong, "FAIL"},
    {CellOutcome::undecided, ExitCode::undecided, "UNDECIDED"},
    {CellOutcome::invalid, ExitCode::unfit_environment, "INVALID"},
    {CellOutcome::no_baseline, ExitCode::no_baseline, "NO BASELINE"},
};

std::vector<std::string> variants_of(const GateReport& report, CellOutcome outcome) {
  std::vector<std::string> names;
  for (const GateLine& line : report.lines) {
    if (line.verdict.outcome == outcome) add_once(names, line.cell.variant);
  }
  return names;
}

// "2 of 118 cells are slower, 1 is undecided: warptiled, tiled_32", of the outcomes from `worst` to
// `last`, with the variants of the worst.
std::string summary(const GateReport& report, CellOutcome worst, CellOutcome last) {
  const auto cells = static_cast<std::int64_t>(report.lines.size());
  std::vector<std::string> parts;
  for (const Ending& ending : endings) {
    const int some = count(report, ending.outcome);
    if (some == 0 || ending.outcome > last) continue;
    const bool has_none = ending.outcome == CellOutcome::no_baseline;
    const char* word = has_none ? "without a baseline" : to_string(ending.outcome);
    const std::string amount =
        parts.empty() ? fmt::format("{} of {}", some, plural(cells, "cell")) : fmt::to_string(some);
    parts.push_back(fmt::format("{} {} {}", amount, verb(some), word));
  }
  return fmt::format("{}: {}", joined(parts), joined(variants_of(report, worst)));
}

// "12 cells of naive (4), tiled_4 (8)", of texts that begin with a variant.
std::string by_variant(const std::vector<std::string>& cells) {
  std::vector<std::pair<std::string, int>> variants;
  for (const std::string& cell : cells) {
    const std::string variant = cell.substr(0, cell.find(' '));
    if (variants.empty() || variants.back().first != variant) variants.emplace_back(variant, 0);
    ++variants.back().second;
  }
  std::vector<std::string> parts;
  for (const auto& [variant, count] : variants)
    parts.push_back(fmt::format("{} ({})", variant, count));
  return fmt::format("{} of {}", plural(static_cast<std::int64_t>(cells.size()), "cell"),
                     joined(parts));
}

Conclusion without_cells(const GateReport& report) {
  if (!report.new_variants.empty()) {
    return {
        ExitCode::no_baseline, "NO BASELINE",
        fmt::format("{} not been accepted yet: {}; run {}",
                    report.new_variants.size() == 1 ? "this variant has" : "these variants have",
                    joined(report.new_variants), accept_line(report.new_variants)),
        ""};
  }
  return {ExitCode::nothing_judged, "NOTHING JUDGED", "there is no cell to judge", ""};
}

// A change cannot bring its own yardstick.
Conclusion awaits_review(const GateReport& report) {
  return {ExitCode::wrong, "FAIL",
          fmt::format("this change accepts {} itself: whoever reviewed the ratios and reasons lets "
                      "it pass with --accepted-by-review",
                      plural(static_cast<std::int64_t>(report.accepted_here.size()), "thing")),
          "ci/gate --accepted-by-review"};
}

// What was watched and no longer is, though nobody said why.
std::optional<Conclusion> lost(const GateReport& report) {
  const auto end = [](const std::string& sentence, const std::string& next) {
    return Conclusion{ExitCode::no_baseline, "NO BASELINE", sentence, next};
  };
  if (const auto& gone = report.gone_variants; !gone.empty()) {
    return end(
        fmt::format("{} {} gone: nothing is compared with what was accepted, though it may "
                    "be there by another name",
                    joined(gone), verb(static_cast<int>(gone.size()))),
        fmt::format("assay accept time --remove {} --reason \"WHY\"", joined(gone, " --remove ")));
  }
  const auto without = [&](const char* what, const std::vector<std::string>& cells,
                           const std::string& flags) {
    std::vector<std::string> variants;
    for (const std::string& cell : cells) add_once(variants, parse_cell(cell).variant);
    return end(fmt::format("{} {} no {}", plural(static_cast<std::int64_t>(cells.size()), "cell"),
                           cells.size() == 1 ? "has" : "have", what),
               accept_command_line(variants, "WHY") + flags);
  };
  const Unwatched& cells = report.unwatched;
  if (!cells.without_record.empty())
    return without("baseline", cells.without_record, " --only-new");
  if (!cells.without_anchor.empty())
    return without("anchor, which git may still know", cells.without_anchor,
                   " --move-anchor \"WHY\"");
  return std::nullopt;
}

Conclusion pass(const GateResult& result) {
  const GateReport& report = result.report;
  const auto faster = variants_of(report, CellOutcome::faster);
  const auto cells = static_cast<std::int64_t>(report.lines.size());
  std::string sentence =
      fmt::format("{} {} not slower", plural(cells, "cell"), verb(static_cast<int>(cells)));
  std::string next;
  if (const int some = count(report, CellOutcome::faster); some > 0) {
    sentence += fmt::format(", {} {} faster", some, verb(some));
    if (!result.request.against) {
      sentence += ", which can be lost again unseen until it is accepted";
      next = accept_command_line(faster, "WHAT MADE IT FASTER");
    }
  }
  if (report.detectable > 0)
    sentence +=
        fmt::format("; a slowdown of {:.1f} % would have been seen", 100 * report.detectable);
  return {ExitCode::passed, "PASS", std::move(sentence), std::move(next)};
}

}  // namespace

std::vector<std::string> notes(const GateReport& report) {
  std::vector<std::string> lines;
  const auto add = [&](const char* what, const std::vector<std::string>& all) {
    for (const std::string& one : all) lines.push_back(fmt::format("{}: {}", what, one));
  };
  if (!report.new_variants.empty()) {
    lines.push_back(fmt::format("new, without a baseline: {}; once they are as they should be: {}",
                                joined(report.new_variants), accept_line(report.new_variants)));
  }
  add("not gated", report.not_gated);
  if (report.at_power_limit) {
    const auto limit = report.device.find("power_limit");
    lines.push_back(
        fmt::format("this card ran at its power limit{}: what draws more power is slower",
                    limit == report.device.end() ? "" : " of " + limit->second));
  }
  const auto add_cells = [&](const char* what, const std::vector<std::string>& cells) {
    if (cells.size() > 3) {
      lines.push_back(fmt::format("{}: {}, such as {}; --json names all", what, by_variant(cells),
                                  cells.front()));
    } else {
      add(what, cells);
    }
  };
  add_cells("not watched", report.unwatched.for_a_reason);
  add_cells("without a baseline", report.unwatched.without_record);
  add_cells("without an anchor", report.unwatched.without_anchor);
  if (!report.gone_variants.empty()) {
    lines.push_back(fmt::format("gone, with a baseline that nothing is compared with: {}",
                                joined(report.gone_variants)));
  }
  add("over the budget of creep", report.moved_anchors);
  if (!report.other_compiler.empty()) lines.push_back(report.other_compiler);
  add("this change accepts", report.accepted_here);
  return lines;
}

std::string reach(const GateReport& report) {
  const bool only_hosts =
      !report.lines.empty() &&
      std::ranges::all_of(report.lines, [](const GateLine& line) { return line.cell.host; });
  const std::string smallest =
      only_hosts ? "no kernel was timed"
      : report.detectable > 0
          ? fmt::format("the smallest slowdown that this run could have seen is {:.1f} %",
                        100 * report.detectable)
          : "no cell was timed well enough for this run to have seen a slowdown of any size";
  std::vector<std::string> parts = {fmt::format(
      "{} proven unchanged, {} of them timed as {}", plural(report.proven_unchanged, "cell"),
      report.controls, report.controls == 1 ? "a control" : "controls")};
  if (report.confirmed > 0)
    parts.push_back(fmt::format("{} timed in {} processes", report.confirmed, report.processes));
  const auto hosts = std::ranges::count_if(report.lines, [](const GateLine& line) {
    return line.cell.host && line.verdict.processes > 0;
  });
  if (hosts > 0)
    parts.push_back(fmt::format("{} timed on the host",
                                fmt::format("{} launch{}", hosts, hosts == 1 ? "" : "es")));
  return fmt::format("{}: {}; {}", smallest, joined(parts, "; "), duration_text(report.seconds));
}

Conclusion conclude(const GateResult& result) {
  const GateReport& report = result.report;
  if (!result.why_not.empty())
    return {ExitCode::nothing_judged, "NOTHING JUDGED", result.why_not, ""};
  if (!result.no_baseline.empty()) {
    return {ExitCode::no_baseline, "NO BASELINE",
            fmt::format("{}; run {}", result.no_baseline, accept_line({})), ""};
  }
  // A void measurement makes nothing slower, but a wrong result stays wrong.
  if (!report.unfit.empty()) {
    const CellOutcome wrong = CellOutcome::wrong;
    if (count(report, wrong) == 0) return {ExitCode::unfit_environment, "UNFIT", report.unfit, ""};
    return {ExitCode::wrong, "FAIL",
            fmt::format("{}; and nothing could be timed: {}", summary(report, wrong, wrong),
                        report.unfit),
            ""};
  }
  const bool is_agreed = report.accepted_here.empty() || result.request.accepted_by_review;
  for (const auto& [outcome, code, word] : endings) {
    if (!is_agreed && outcome > CellOutcome::slower) return awaits_review(report);
    if (count(report, outcome) == 0) continue;
    std::string sentence = summary(report, outcome, CellOutcome::no_baseline);
    if (outcome == CellOutcome::no_baseline)
      sentence += fmt::format("; run {}", accept_line(variants_of(report, outcome)));
    return {code, word, std::move(sentence), ""};
  }
  if (const auto found = lost(report); found && !result.request.against) return *found;
  return report.lines.empty() ? without_cells(report) : pass(result);
}

namespace {

std::optional<Cell> cell_asked_for(const GateRequest& request) {
  if (request.cell) return cell_named("--cell", *request.cell);
  if (request.explain) return cell_named("--explain", *request.explain);
  return std::nullopt;
}

void measure(GateResult& result, const Subject& subject, const std::optional<Cell>& cell) {
  const GateRequest& request = result.request;
  GateOptions options{
      .variants = subject.variants,
      .baselines = request.against ? kernels_at(*request.against) : request.baselines,
      .cell = cell,
      .remeasure_unchanged = request.all,
      .seed = request.seed,
      .compiler = result.origin.compiler,
      .rule = {.confirm_processes = request.processes},
      .time = processes_started_with(subject.worker)};
  std::optional<StoredAt> base;
  if (request.base) {
    base.emplace(*request.base);
    options.before = base->folder();
    options.after = request.baselines;
    if (!request.accepted_by_review) options.baselines = options.before;
  }
  ProgressLine progress(!request.quiet);
  const auto time = [&] {
    result.report = gate_time(
        options, [&](const std::string& step, double done) { progress.update(step, done); });
  };
  try {
    time();
  } catch (const NoBaseline& error) {
    if (!request.base) {
      result.no_baseline = error.what();
      return;
    }
    result.request.against = request.base;
    options.baselines = kernels_at(*request.base);
    time();
  }
}

ExitCode run(const GateRequest& given) {
  GateRequest request = given;
  if (request.accepted_by_review && !request.base)
    throw BadInput("--accepted-by-review is about what was accepted since --base: give that too");
  const Subject subject = subject_of(request.files, request.variants, request.baselines);
  if (subject.is_of_files && (request.against || request.base))
    throw BadInput(
        "--against and --base are commits of this project's own kernels: a FILE is compared with "
        "the baselines beside it");
  if (subject.is_named && (request.cell || request.explain))
    throw BadInput("a cell names its variant: give no other variants beside it");
  const bool is_seen = !subject.is_of_files || !subject.libraries().empty();
  const auto cell = is_seen ? cell_asked_for(request) : std::nullopt;
  GateResult result{.request = request, .origin = subject.origin};
  if (request.against) check_commit("--against", *request.against);
  if (request.base) check_commit("--base", *request.base);
  refuse_missing_gpu();
  const OutputFile json(request.json), markdown(request.markdown), junit(request.junit);

  result.why_not = unavailable(Backend::cuda);
  if (result.why_not.empty()) measure(result, subject, cell);
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
  request.baselines = project().baselines;
  flags.subject({"time"});
  flags.words("VARIANT", request.variants,
              "names from `assay list`, or FILEs of kernels such as mine.cu, and names of variants "
              "in them; default: all");
  request.files.add_flags(flags);
  flags.text("--baselines", request.baselines, "DIR",
             "the folder of baselines; default: the project's own, or beside the FILE");
  flags.text("--cell", request.cell, "\"VARIANT CASE\"", "judge only this one");
  flags.text("--explain", request.explain, "\"VARIANT CASE\"",
             "judge only this one and print every number");
  flags.text("--against", request.against, "REF",
             "compare with a git commit, built here, instead of baselines");
  flags.text("--base", request.base, "REF",
             "compare with what this commit had accepted; without any, with its kernels");
  flags.flag("--accepted-by-review", request.accepted_by_review,
             "let pass what was accepted since --base");
  flags.flag("--all", request.all, "time even what is proven unchanged");
  flags.number("--processes", request.processes, DecisionRule().confirm_processes, most_processes,
               "how many fresh processes time what changed, as `undecided` advises (12)");
  flags.number("--seed", request.seed, "seed of the operands and of the order (0)");
  flags.result("--json", request.json, "write the results as JSON; - is stdout");
  flags.result("--markdown", request.markdown, "write the results as Markdown; - is stdout");
  flags.result("--junit", request.junit, "write the results as JUnit XML; - is stdout");
  flags.flag("--quiet", request.quiet, "print only what fails and the verdict");
  flags.keep_all(request.arguments);
  flags.exclude("--cell", "--explain",
                "--cell and --explain each name the only cell: give one of them");
  flags.exclude("--against", "--baselines",
                "--against takes the place of --baselines: give one of them");
  flags.exclude("--base", "--against", "--base and --against each name a commit: give one of them");
  flags.exclude("--base", "--baselines",
                "--base takes the baselines of a commit and of this tree: give no others");
  flags.footer(
      "Examples:\n"
      "  assay gate time                        every cell that has a baseline\n"
      "  assay gate time path/to/mine.cu        those of a file, in baselines/ beside it\n"
      "  assay gate time --base main            compare with what a commit had accepted\n"
      "  assay gate time --against main         compare with a commit, built here and now\n"
      "  assay gate time --cell \"warptiled m=4096 n=4096 k=4096\"\n"
      "  assay gate time --explain \"warptiled m=4096 n=4096 k=4096\"\n"
      "\n"
      "Exit status: 0 no cell is slower, 1 a cell is slower or wrong, or was accepted since "
      "--base,\n"
      "             2 bad usage or bad input, 3 undecided, 4 the environment is unfit or a\n"
      "             measurement is invalid, 5 no baseline, or one for another device, or one "
      "whose\n"
      "             variant is gone, 77 nothing could be judged here\n");
}

Command gate_command() {
  return command("gate", "`gate time`: did anything get slower than its baseline?", add_flags, run);
}

}  // namespace assay
