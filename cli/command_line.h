// What somebody asks for: the words of the command line, with every flag known and every number in
// range. Names of variants, backends and claims are looked up later, by the command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/exit_codes.h"

namespace assay {

struct ListOptions {
  std::string json;  // of all file names: empty is none, "-" is stdout
};

struct DoctorOptions {
  std::string json;
  std::string corpus;
};

struct CheckOptions {
  std::vector<std::string> variants, backends, claims;  // empty means all
  int cases = 100;
  std::optional<std::string> case_text;
  std::uint64_t seed = 0;
  int jobs = 0;  // 0 means one for each core
  std::string json, junit;
  std::string corpus;
  bool use_corpus = true;
  bool quiet = false;
  std::vector<std::string> arguments;  // the whole command line
};

// The answer was printed while reading: help, the version, or how to use it.
struct Answered {
  ExitCode code;
};

using Request = std::variant<Answered, ListOptions, DoctorOptions, CheckOptions>;

// Throws BadInput that names the word at fault.
Request parse_command_line(int argc, char** argv);

}  // namespace assay
