// What somebody asks for: the words of the command line, with every flag known and every number in
// range. Names of variants, backends, claims and cells are looked up later, by the command.
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
  int jobs = 0;       // 0 means one for each core
  int watchdog = 10;  // seconds
  std::string json, junit;
  std::string corpus;
  bool use_corpus = true;
  bool quiet = false;
  std::vector<std::string> arguments;  // the whole command line
};

struct BenchRequest {
  std::vector<std::string> variants;  // empty means all that run on a GPU
  std::vector<std::string> problems;  // empty means the usual ones
  int processes = 3;
  std::uint64_t seed = 0;
  bool warm = false;
  std::string json;
  bool quiet = false;
  std::vector<std::string> arguments;
};

struct GateRequest {
  std::vector<std::string> variants;   // empty means all that have a baseline
  std::string baselines;               // the folder
  std::optional<std::string> cell;     // only this one
  std::optional<std::string> explain;  // only this one, with all its numbers
  std::optional<std::string> against;  // a commit, in the place of what is stored
  bool all = false;                    // time also what is proven unchanged
  std::uint64_t seed = 0;
  std::string json, markdown, junit;
  bool quiet = false;
  std::vector<std::string> arguments;
};

struct AcceptRequest {
  std::vector<std::string> variants;  // empty means all that run on a GPU
  std::string baselines;
  std::string reason;
  bool move_anchor = false;
  bool dirty = false;  // of a tree that differs from its commit
  int processes = 12;
  std::uint64_t seed = 0;
  std::optional<std::string> unmeasured;  // recipes and machine code only, as those of this commit
  std::string json;
  std::vector<std::string> arguments;
};

struct CodegenRequest {
  std::vector<std::string> kernels;    // by name, or by the stem of their file; empty means all
  std::vector<std::string> in;         // files; empty means this program
  std::optional<std::string> compare;  // a folder of baselines, with which the code is compared
  std::string commit;                  // only with what was accepted of this one
  std::string json;
  std::vector<std::string> arguments;
};

// The answer was printed while reading: help, the version, or how to use it.
struct Answered {
  ExitCode code;
};

using Request = std::variant<Answered, ListOptions, DoctorOptions, CheckOptions, BenchRequest,
                             GateRequest, AcceptRequest, CodegenRequest>;

// Throws BadInput that names the word at fault.
Request parse_command_line(int argc, char** argv);

}  // namespace assay
