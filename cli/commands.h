// The command line as a whole: `assay COMMAND ...`, `assay --help`, `assay --version`.
#pragma once

#include <string>
#include <vector>

#include "cli/exit_codes.h"

namespace assay {

// `command_line` begins with the program. Throws BadInput for a command that does not exist, and
// suggests the nearest; without any, prints the help on stderr.
ExitCode run_command(const std::vector<std::string>& command_line);

}  // namespace assay
