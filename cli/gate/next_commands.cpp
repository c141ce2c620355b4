// The commands that a gate says to run next.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/gate/gate.h"
#include "cli/selection.h"

namespace assay {

std::string repeat_line(const GateLine& line, const GateRequest& request) {
  std::string text = "assay gate time";
  if (const std::string files = files_of({line.cell.variant}); !files.empty())
    text += " " + files.substr(0, files.size() - 1);
  if (request.against) {
    text += fmt::format(" --against {}", *request.against);
  } else if (request.base) {
    text += fmt::format(" --base {}", *request.base);
    if (request.accepted_by_review) text += " --accepted-by-review";
  } else if (request.baselines != request.files.baselines(request.variants)) {
    text += fmt::format(" --baselines \"{}\"", request.baselines);
  }
  int processes = request.processes;
  if (line.verdict.outcome == CellOutcome::undecided)
    processes = std::clamp(line.verdict.processes_needed, processes, most_processes);
  if (processes != DecisionRule().confirm_processes)
    text += fmt::format(" --processes {}", processes);
  return fmt::format("{} --cell \"{}\"", text, to_string(line.cell));
}

std::string accept_line(const std::vector<std::string>& variants, const std::string& reason) {
  return fmt::format("`{}`", accept_command_line(variants, reason));
}

std::string accept_command_line(const std::vector<std::string>& variants,
                                const std::string& reason) {
  return fmt::format("assay accept time {}{}--reason \"{}\"", files_of(variants),
                     variants.empty() ? "" : joined(variants, " ") + " ", reason);
}

}  // namespace assay
