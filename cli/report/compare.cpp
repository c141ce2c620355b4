// `assay compare`: what became different from one result to another.
#include "report/compare.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"
#include "base/printable.h"
#include "cli/command.h"

namespace assay {
namespace {

using report::Change;

struct CompareRequest {
  std::vector<std::string> results;
};

Colour colour_of(Change change) {
  return change == Change::worse    ? Colour::red
         : change == Change::better ? Colour::green
                                    : Colour::yellow;
}

Conclusion conclude(const report::Comparison& comparison) {
  const auto count = [&](Change change) {
    return std::ranges::count(comparison.differences, change, &report::Difference::change);
  };
  if (comparison.in_common == 0)
    return {ExitCode::nothing_judged, "NOTHING COMPARED", "the two are about nothing in common",
            ""};
  const auto worse = count(Change::worse), lost = count(Change::lost),
             better = count(Change::better);
  const std::string found = fmt::format("{} worse, {} lost, {} better, of {} in common", worse,
                                        lost, better, comparison.in_common);
  if (worse > 0) return {ExitCode::wrong, "WORSE", found, ""};
  if (lost > 0) return {ExitCode::undecided, "LESS", found, ""};
  return {ExitCode::passed, better > 0 ? "BETTER" : "NO WORSE", found, ""};
}

ExitCode run(const CompareRequest& request) {
  if (request.results.size() != 2)
    throw BadInput("compare what with what? name two results, or two folders of them");
  const report::Comparison comparison = report::compared(report::read_report({request.results[0]}),
                                                         report::read_report({request.results[1]}));
  const Screen screen(stdout);
  for (const report::Difference& one : comparison.differences)
    screen.print(fmt::format("- {}: {}\n",
                             screen.paint(to_string(one.change), colour_of(one.change)),
                             printable(one.what)));
  const Conclusion conclusion = conclude(comparison);
  screen.print(conclusion_text(conclusion, screen));
  return conclusion.code;
}

void add_flags(Flags& flags, CompareRequest& request) {
  flags.words(
      "RESULT", request.results,
      "two files that commands wrote with --json, or two folders of them: before, and after");
  flags.footer(
      "Times are compared through what each run timed beside them: the anchor, or cuBLAS.\n"
      "\n"
      "Examples:\n"
      "  assay compare before.json after.json\n"
      "\n"
      "Exit status: 0 nothing became worse, 1 something did, 2 bad usage or bad input,\n"
      "             3 something is judged or reached no more, 77 the two have nothing in common\n");
}

}  // namespace

Command compare_command() {
  return command("compare", "what became worse or better from one result to another", add_flags,
                 run);
}

}  // namespace assay
