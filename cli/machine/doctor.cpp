// `assay doctor`: what this machine can and cannot do, and why.
#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>

#include "base/errors.h"
#include "base/project.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "cli/command.h"
#include "cli/out/result.h"
#include "cli/out/table.h"
#include "cli/selection.h"
#include "door/door.h"
#include "kernels/registry.h"
#include "oracle/gpus.h"
#include "oracle/machine.h"
#include "properties/corpus.h"
#include "regress/store/baseline.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

struct DoctorRequest {
  std::string json;
  std::string corpus;
  std::vector<std::string> arguments;
};

// One thing that a machine has or lacks, and what that means.
struct MachineFact {
  std::string topic;
  bool good;
  std::string text;
};

struct Diagnosis {
  Conclusion conclusion;
  std::vector<MachineFact> facts;
};

MachineFact cores() {
  const unsigned count = std::thread::hardware_concurrency();
  return {"cores", count > 0,
          count > 0 ? fmt::format("{}: as many claims are tried at once", count)
                    : "unknown: one claim is tried at a time"};
}

MachineFact memory() {
  const double gib = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                     static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 30);
  return {"memory", true,
          fmt::format("{:.1f} GiB: a case that takes more than 80 % of it is bad input", gib)};
}

MachineFact fused_multiply_add() {
#if defined(ASSAY_HAS_FMA)
  return {"fma", true, "compiled in as one instruction"};
#else
  return {"fma", false, "not compiled in: emulated, with the same results, many times slower"};
#endif
}

MachineFact backend(const BackendState& state) {
  const bool works = state.why_not.empty();
  return {fmt::format("backend {}", to_string(state.backend)), works,
          !works                 ? "skipped: " + state.why_not
          : registered().empty() ? "files, by " + compiler_for(state.backend)
                                 : plural(state.variants, "variant")};
}

// Of a program without variants of its own: whether files are judged there.
BackendState backend_for_files(Backend backend) {
  BackendState state{.backend = backend, .variants = 0, .why_not = unavailable(backend)};
  try {
    if (state.why_not.empty()) compiler_for(backend);
  } catch (const BadInput& error) {
    state.why_not = error.what();
  }
  return state;
}

MachineFact nvcc() {
  try {
    return {"nvcc", true, compiler_for(Backend::ptx)};
  } catch (const BadInput& error) {
    return {"nvcc", false, error.what()};
  }
}

// In one of the directories, which are named as in PATH.
bool is_in(const std::string& directories, const std::string& program) {
  std::istringstream names(directories);
  for (std::string directory; std::getline(names, directory, ':');) {
    const fs::path candidate = fs::path(directory.empty() ? "." : directory) / program;
    std::error_code error;
    if (fs::is_regular_file(candidate, error) && access(candidate.c_str(), X_OK) == 0) return true;
  }
  return false;
}

// On PATH, or in its home if it has one.
MachineFact tool(const std::string& program, const char* without, const std::string& home = "") {
  const char* path = std::getenv("PATH");
  if (path != nullptr && is_in(path, program)) return {program, true, "on PATH"};
  if (!home.empty() && is_in(home, program)) return {program, true, "in " + home};
  return {program, false, fmt::format("not on PATH: {}", without)};
}

// Those that some cards cannot hold.
std::vector<MachineFact> claims_of_gigabytes() {
  std::vector<MachineFact> facts;
  const double here = least_free_gibibytes();
  for (const Claim& claim : claims()) {
    if (claim.gibibytes == 0) continue;
    const bool fits = claim.gibibytes <= here;
    facts.push_back({claim.name, fits,
                     fmt::format("{}it takes {:.1f} GiB of GPU memory, and {:.1f} are free",
                                 fits ? "" : "skipped: ", claim.gibibytes, here)});
  }
  return facts;
}

MachineFact gpu_devices() {
  int count = 0;
  std::error_code error;
  for (const auto& file : fs::directory_iterator("/dev", error)) {
    const std::string name = file.path().filename().string();
    count += name.size() > 6 && name.starts_with("nvidia") &&
             std::isdigit(static_cast<unsigned char>(name[6])) != 0;
  }
  return {"GPU devices", count > 0,
          count > 0 ? fmt::format("{} in /dev", count) : "no /dev/nvidia*: nothing runs on a GPU"};
}

bool can_be_written(const fs::path& file) {
  std::error_code error;
  if (fs::exists(file, error)) return access(file.c_str(), W_OK) == 0;
  const fs::path parent = fs::absolute(file, error).parent_path();
  return access(parent.c_str(), W_OK | X_OK) == 0;
}

MachineFact corpus(const std::string& path) {
  try {
    const auto lines = read_corpus(path);
    const std::string what =
        fmt::format("{} in {}", plural(static_cast<int>(lines.size()), "past failure"), path);
    if (can_be_written(path)) return {"corpus", true, what};
    return {"corpus", false, what + ", which cannot be written: new failing cases are not kept"};
  } catch (const BadInput& error) {
    return {"corpus", false, fmt::format("`assay check` stops with: {}", error.what())};
  }
}

MachineFact baselines() {
  const auto gpus = stored_gpus(project().baselines);
  return {"baselines", !gpus.empty(),
          gpus.empty() ? std::string("none: `assay gate time` has nothing to compare with")
                       : fmt::format("for {}", joined(gpus))};
}

std::vector<std::string> names_of(const std::vector<BackendState>& states, bool usable) {
  std::vector<std::string> names;
  for (const BackendState& state : states) {
    if (state.why_not.empty() == usable) names.emplace_back(to_string(state.backend));
  }
  return names;
}

std::string required_gpu_missing() {
  try {
    refuse_missing_gpu();
    return "";
  } catch (const UnfitEnvironment& missing) {
    return missing.what();
  }
}

Diagnosis diagnose_machine(const std::string& corpus_path) {
  auto states = backend_states();
  const bool takes_files_alone = registered().empty();
  if (takes_files_alone)
    states = {backend_for_files(Backend::simt), backend_for_files(Backend::ptx),
              backend_for_files(Backend::cuda)};
  const auto usable = names_of(states, true), missing = names_of(states, false);
  Diagnosis diagnosis;
  if (const std::string gpu = required_gpu_missing(); !gpu.empty()) {
    diagnosis.conclusion = {ExitCode::unfit_environment, "UNFIT", gpu, ""};
  } else if (usable.empty()) {
    diagnosis.conclusion = {ExitCode::unfit_environment, "UNFIT",
                            "no variant can run on this machine", ""};
  } else {
    diagnosis.conclusion = {
        ExitCode::passed, "FIT",
        fmt::format("{} can be checked on {}{}", takes_files_alone ? "files" : "variants",
                    joined(usable, " and "),
                    missing.empty() ? "" : fmt::format(", not on {}", joined(missing, " or "))),
        ""};
  }
  for (const BackendState& state : states) diagnosis.facts.push_back(backend(state));
  for (const GpuFact& fact : describe_gpus())
    diagnosis.facts.push_back({fact.topic, fact.good, fact.text});
  if (gpu_count() > 0) {
    for (const MachineFact& fact : claims_of_gigabytes()) diagnosis.facts.push_back(fact);
  }
  diagnosis.facts.insert(diagnosis.facts.end(),
                         {cores(), memory(), fused_multiply_add(), nvcc(),
                          // as ci/sanitize looks for it
                          tool("compute-sanitizer", "NVIDIA's memory and race checks are skipped",
                               "/usr/local/cuda/bin"),
                          tool("nvidia-smi", "the driver cannot be asked about its GPUs"),
                          gpu_devices(), corpus(corpus_path), baselines()});
  return diagnosis;
}

std::string diagnosis_text(const Diagnosis& diagnosis, const Screen& screen) {
  Table table;
  for (const char* heading : {"", "", ""}) table.add_column(heading, Side::left);
  for (const MachineFact& fact : diagnosis.facts) {
    table.add_row({{fact.good ? "yes" : "no", fact.good ? Colour::green : Colour::yellow},
                   {fact.topic},
                   {fact.text}});
  }
  const bool fit = diagnosis.conclusion.code == ExitCode::passed;
  return screen.paint(diagnosis.conclusion.text(), fit ? Colour::green : Colour::red) + "\n\n" +
         table.text(screen);
}

std::string json_of(const Diagnosis& diagnosis, const DoctorRequest& request) {
  const auto one = [](const MachineFact& fact) -> JsonValue {
    return {{"topic", fact.topic}, {"good", fact.good}, {"text", fact.text}};
  };
  return result_text({.command = "doctor",
                      .arguments = request.arguments,
                      .conclusion = diagnosis.conclusion,
                      .device = device_here()},
                     {{"results", json_list(diagnosis.facts, one)}});
}

void add_flags(Flags& flags, DoctorRequest& request) {
  flags.result("--json", request.json, "also write it as JSON; - is stdout");
  flags.corpus(request.corpus);
  flags.keep_all(request.arguments);
  flags.footer(
      "Exit status: 0 variants can be judged here, 2 bad usage or bad input,\n"
      "             4 the environment is unfit\n");
}

ExitCode run(const DoctorRequest& request) {
  const OutputFile json(request.json);
  const Screen screen = screen_beside({request.json});
  const Diagnosis diagnosis = diagnose_machine(request.corpus);
  screen.print(diagnosis_text(diagnosis, screen));
  if (json) json.write(json_of(diagnosis, request));
  return diagnosis.conclusion.code;
}

}  // namespace

Command doctor_command() {
  return command("doctor", "tells what this machine can and cannot do, and why", add_flags, run);
}

}  // namespace assay
