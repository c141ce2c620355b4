#include "cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

#include "base/errors.h"
#include "base/suggestion.h"
#include "cli/flags.h"

namespace assay {
namespace {

constexpr const char* exit_codes =
    "Exit status: 0 all that was judged passed, 1 a variant is wrong or got slower,\n"
    "             2 bad usage or bad input, 3 undecided, 4 the environment is unfit,\n"
    "             5 no baseline, 77 nothing could be judged here\n";

class CommandLine {
 public:
  CommandLine() {
    app_.name("assay");
    app_.set_version_flag("--version", "assay " ASSAY_VERSION, "print the version");
    app_.require_subcommand(0, 1);
    app_.allow_extras();
    app_.footer(exit_codes);
    for (const auto& make : {list_command, doctor_command, check_command, bench_command,
                             gate_command, accept_command, codegen_command})
      commands_.push_back(make(app_));
  }

  Request parse(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::Success& answer) {
      app_.exit(answer);
      return Answered{ExitCode::passed};
    } catch (const CLI::ParseError& error) {
      throw BadInput(fmt::format("{}; see {} --help", error.what(), name_of_command()));
    }
    insist_on_known_words();
    for (const auto& command : commands_) {
      if (command->app().parsed()) return command->request({argv, argv + argc});
    }
    std::fputs(app_.help().c_str(), stderr);
    return Answered{ExitCode::bad_input};
  }

 private:
  const CLI::App* command() const {
    const auto chosen = app_.get_subcommands();
    return chosen.empty() ? &app_ : chosen.front();
  }
  std::string name_of_command() const {
    return command() == &app_ ? "assay" : fmt::format("assay {}", command()->get_name());
  }

  void insist_on_known_words() const {
    auto unknown = app_.remaining(true);
    std::erase(unknown, "--");
    if (unknown.empty()) return;
    const std::string& word = unknown.front();
    if (word.starts_with("-")) {
      std::vector<std::string> flags;
      for (const CLI::Option* option : command()->get_options()) {
        for (const std::string& name : option->get_lnames())
          flags.push_back(fmt::format("--{}", name));
      }
      throw BadInput(fmt::format("there is no flag '{}'{}; see {} --help", word,
                                 suggestion(word, flags), name_of_command()));
    }
    if (command() != &app_) {
      throw BadInput(fmt::format("{} takes no '{}'; see {} --help", name_of_command(), word,
                                 name_of_command()));
    }
    std::vector<std::string> commands;
    for (const auto& known : commands_) commands.push_back(known->app().get_name());
    throw BadInput(fmt::format("there is no command '{}'{}; there are {}", word,
                               suggestion(word, commands), fmt::join(commands, ", ")));
  }

  CLI::App app_{
      "Says whether hand-written CUDA GEMM kernels are right, and whether they got slower."};
  std::vector<std::unique_ptr<Command>> commands_;
};

}  // namespace

Request parse_command_line(int argc, char** argv) {
  return CommandLine().parse(argc, argv);
}

}  // namespace assay
