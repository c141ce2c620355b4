// `assay history`: from the results of many gates, how each cell's time came about.
#include <fmt/format.h>

#include "base/errors.h"
#include "base/suggestion.h"
#include "base/whole_file.h"
#include "cli/command.h"
#include "cli/history/history_text.h"

namespace assay {
namespace {

struct HistoryRequest {
  std::vector<std::string> results;
  std::optional<std::string> cell;
  std::string svg;
};

std::optional<Cell> cell_asked_for(const HistoryRequest& request, const History& history) {
  if (!request.cell) return std::nullopt;
  const Cell cell = parse_cell(*request.cell);
  if (history.cells.contains(cell)) return cell;
  std::vector<std::string> names;
  for (const auto& [one, points] : history.cells) names.push_back(to_string(one));
  throw BadInput(fmt::format("--cell \"{}\": none of the results has it{}", *request.cell,
                             suggestion(*request.cell, names)));
}

ExitCode run(const HistoryRequest& request) {
  if (request.results.empty())
    throw BadInput(
        "history of what? name results of `assay gate time --json`, or a folder of them");
  const OutputFile svg(request.svg);
  const History history = read_history(request.results);
  const std::optional<Cell> only = cell_asked_for(request, history);
  const Screen screen = screen_beside({request.svg});
  screen.print(history_text(history, only, screen));
  if (svg) svg.write(history_svg(history, only));
  return history.runs.empty() ? ExitCode::nothing_judged : ExitCode::passed;
}

void add_flags(Flags& flags, HistoryRequest& request) {
  flags.words("RESULT", request.results, "files of `assay gate time --json`, or folders of them");
  flags.text("--cell", request.cell, "\"VARIANT CASE\"", "only this one, run by run");
  flags.result("--svg", request.svg, "draw the course of each cell; - is stdout");
  flags.footer(
      "Examples:\n"
      "  assay history build/cuda/results\n"
      "  assay history results --cell \"naive m=1024 n=1024 k=1024\" --svg naive.svg\n"
      "\n"
      "Exit status: 0 shown, 2 bad usage or bad input, 77 no result measured anything\n");
}

}  // namespace

Command history_command() {
  return command("history", "how each cell's time came about, commit by commit", add_flags, run);
}

}  // namespace assay
