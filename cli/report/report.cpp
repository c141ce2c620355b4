// `assay report`: puts results together into the pages that people look at.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "base/errors.h"
#include "base/printable.h"
#include "base/whole_file.h"
#include "cli/command.h"
#include "report/page/page.h"
#include "report/verdict.h"
#include "report/views.h"

namespace assay {
namespace {

struct ReportRequest {
  std::vector<std::string> results, history;
  std::string html, markdown, junit, sarif;
};

Colour colour_of(const std::string& word) {
  return word == "PASS" ? Colour::green : word == "FAIL" ? Colour::red : Colour::yellow;
}

ExitCode run(const ReportRequest& request) {
  if (request.results.empty())
    throw BadInput(
        "report on what? name files that commands wrote with --json, or a folder of them");
  const OutputFile html(request.html), markdown(request.markdown), junit(request.junit),
      sarif(request.sarif);
  report::Report report = report::read_report(request.results);
  if (!request.history.empty()) add_history(report, request.history);
  const report::Verdict verdict = report::verdict_of(report);
  const Screen screen =
      screen_beside({request.html, request.markdown, request.junit, request.sarif});
  screen.print(fmt::format("{}: {}\n", screen.paint(verdict.word, colour_of(verdict.word)),
                           printable(verdict.sentence)));
  for (const report::Attention& item : verdict.attention)
    screen.print(fmt::format("- {}: {}\n", to_string(item.kind), printable(item.what)));
  if (const char* actions = std::getenv("GITHUB_ACTIONS"); actions != nullptr && *actions != '\0')
    screen.print(annotations_of(report));
  if (html) html.write(html_of(report));
  if (markdown) markdown.write(markdown_of(report));
  if (junit) junit.write(junit_of(report));
  if (sarif) sarif.write(sarif_of(report));
  if (!request.html.empty() && request.html != "-")
    screen.print(fmt::format("the report: {}\n", std::filesystem::absolute(request.html).string()));
  return ExitCode::passed;
}

void add_flags(Flags& flags, ReportRequest& request) {
  flags.words("RESULT", request.results,
              "files that commands wrote with --json, or folders of them");
  flags.texts("--history", request.history, "RESULT",
              "gates of other commits, for the course of times alone; files or folders, repeat for "
              "more");
  flags.result("--html", request.html, "write one page that needs no network; - is stdout");
  flags.result("--md", request.markdown, "write a comment of less than 60 KB; - is stdout");
  flags.result("--junit", request.junit, "write JUnit XML; - is stdout");
  flags.result("--sarif", request.sarif, "write SARIF, for reviews; - is stdout");
  flags.footer(
      "Results of several machines, cards, backends and shards are put together; where two say\n"
      "different things of the same, the report shows both.\n"
      "\n"
      "Examples:\n"
      "  assay report check.json build/cuda/gate.json --html report.html --md report.md\n"
      "  assay report results --junit results.xml --sarif results.sarif\n"
      "\n"
      "Exit status: 0 reported, whatever the verdict, 2 bad usage or bad input\n");
}

}  // namespace

Command report_command() {
  return command("report", "puts results together into a page, a comment, JUnit and SARIF",
                 add_flags, run);
}

}  // namespace assay
