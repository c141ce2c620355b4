// One command of the program, `assay NAME`: its flags, their help, and what it does, all in a file
// of its own. CMakeLists.txt lists the commands.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "cli/out/conclusion.h"

namespace assay {

struct Command {
  const char* name;
  const char* purpose;  // one line of `assay --help`
  std::function<ExitCode(const std::vector<std::string>& command_line)> run;
};

// A Request holds what the flags come to: `add_flags` binds each flag to a member. `run` prints
// what it finds, writes the files it was asked for, and returns the exit code.
template <class Request>
Command command(const char* name, const char* purpose, void (*add_flags)(Flags&, Request&),
                ExitCode (*run)(const Request&)) {
  return {name, purpose, [=](const std::vector<std::string>& command_line) {
            Request request;
            Flags flags(std::string("assay ") + name, purpose);
            add_flags(flags, request);
            return flags.read(command_line) ? run(request) : ExitCode::passed;
          }};
}

// The command line as a whole: `assay COMMAND ...`, `assay --help`, `assay --version`. It begins
// with the program. Throws BadInput for a command that does not exist, and suggests the nearest;
// without any, prints the help on stderr.
ExitCode run_command(const std::vector<std::string>& command_line);

}  // namespace assay
