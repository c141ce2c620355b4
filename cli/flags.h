// One command of the program: its flags, and the request that they come to. Values are read only
// once the whole command line is known to make sense.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_line.h"

namespace assay {

class Command {
 public:
  Command(CLI::App& program, const char* name, const char* purpose);
  virtual ~Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  const CLI::App& app() const { return app_; }
  // Throws BadInput that names the flag at fault.
  Request request(const std::vector<std::string>& arguments);

 protected:
  virtual Request finish(const std::vector<std::string>& arguments) = 0;

  void words(const char* name, std::vector<std::string>& values, const char* meaning);
  void flag(const char* name, bool& value, const char* meaning);
  CLI::Option* text(const char* name, std::string& value, const char* type, const char* meaning);
  void text(const char* name, std::optional<std::string>& value, const char* type,
            const char* meaning);
  // One value each time the flag is given: what follows `--backend simt` is a variant.
  void texts(const char* name, std::vector<std::string>& values, const char* type,
             const char* meaning);
  // A file that is read, and one that is written: two of the latter are not the same.
  CLI::Option* file(const char* name, std::string& value, const char* meaning);
  void result(const char* name, std::string& value, const char* meaning);
  void corpus(std::string& value);
  void number(const char* name, int& value, int least, int most, const char* meaning);
  void number(const char* name, std::uint64_t& value, const char* meaning);
  // The first word, of which only some are known.
  void subject(const std::vector<std::string>& known, const char* meaning);
  void footer(const std::string& text) { app_.footer(text); }

 private:
  template <class Number>
  void whole(const char* name, Number& value, Number least, Number most,
             const std::string& meaning);

  CLI::App& app_;
  std::vector<std::function<void()>> checks_;  // to be made once all is parsed
  std::vector<std::pair<std::string, const std::string*>> results_;
  std::string subject_;
};

// "assay NAME", and each word a command knows how to read.
std::unique_ptr<Command> list_command(CLI::App& program);
std::unique_ptr<Command> doctor_command(CLI::App& program);
std::unique_ptr<Command> check_command(CLI::App& program);
std::unique_ptr<Command> bench_command(CLI::App& program);
std::unique_ptr<Command> gate_command(CLI::App& program);
std::unique_ptr<Command> accept_command(CLI::App& program);
std::unique_ptr<Command> codegen_command(CLI::App& program);

}  // namespace assay
