#include "cli/command.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/errors.h"
#include "base/suggestion.h"
#include "base/text.h"

namespace assay {

// CMakeLists.txt lists them, in the order of the help.
#define COMMAND(name) Command name##_command();
#include "cli/commands.inc"
#undef COMMAND

namespace {

std::vector<Command> commands() {
#define COMMAND(name) name##_command(),
  return {
#include "cli/commands.inc"
  };
}

std::string help() {
  std::string text =
      "Tells whether hand-written CUDA GEMM kernels are right, and whether they got slower.\n"
      "Usage: assay COMMAND [OPTIONS]\n"
      "\n"
      "Commands:\n";
  for (const Command& command : commands())
    text += fmt::format("  {:<9} {}\n", command.name, command.purpose);
  return text +
         "\n"
         "  assay COMMAND --help    its options, with examples\n"
         "  assay --version\n"
         "\n"
         "Exit status: 0 everything that was judged passed, 1 a variant is wrong or got slower,\n"
         "             2 bad usage or bad input, 3 undecided, 4 the environment is unfit,\n"
         "             5 no baseline, 77 nothing could be judged here\n";
}

[[noreturn]] void refuse(const std::string& word) {
  if (word.starts_with("-"))
    throw BadInput(fmt::format("there is no flag '{}'; see assay --help", word));
  std::vector<std::string> names;
  for (const Command& command : commands()) names.emplace_back(command.name);
  throw BadInput(fmt::format("there is no command '{}'{}; there are {}", word,
                             suggestion(word, names), joined(names)));
}

}  // namespace

ExitCode run_command(const std::vector<std::string>& command_line) {
  if (command_line.size() < 2) {
    std::fputs(help().c_str(), stderr);
    return ExitCode::bad_input;
  }
  const std::string& word = command_line[1];
  if (word == "--help" || word == "-h") {
    std::fputs(help().c_str(), stdout);
    return ExitCode::passed;
  }
  if (word == "--version") {
    std::puts("assay " ASSAY_VERSION);
    return ExitCode::passed;
  }
  for (const Command& command : commands()) {
    if (command.name == word) return command.run(command_line);
  }
  refuse(word);
}

}  // namespace assay
