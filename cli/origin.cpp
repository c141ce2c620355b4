#include "cli/origin.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <ctime>
#include <fstream>
#include <thread>

#include "base/child_process.h"
#include "base/errors.h"
#include "base/project.h"
#include "oracle/gpus.h"

namespace assay {
namespace {

// As Linux calls it; empty where it does not say.
std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    return line.substr(std::min(line.size(), line.find(": ") + 2));
  }
  return "";
}

// Without what git says about a folder that is no clone.
ProgramOutput git(std::vector<std::string> words) {
  words.insert(words.begin(), {"-c", "exec git \"$@\" 2>/dev/null", "git"});
  return output_of("sh", words);
}

}  // namespace

std::string commit_of(const std::string& source, bool dirty_too) {
  const ProgramOutput head = git({"-C", source, "rev-parse", "HEAD"});
  const ProgramOutput changes =
      git({"-C", source, "status", "--porcelain", "--", ".", ":!baselines"});
  if (head.code != 0 || changes.code != 0) {
    throw BadInput(fmt::format(
        "{}: git knows no commit of these sources, so nobody could rebuild what is accepted",
        source));
  }
  if (changes.text.empty()) return head.text;
  if (!dirty_too) {
    throw BadInput(fmt::format(
        "{}: the sources differ from commit {}, so nobody could rebuild what is accepted: commit "
        "them first, or say --dirty",
        source, head.text.substr(0, 12)));
  }
  return head.text + "-dirty";
}

Origin origin_of(const std::string& folder) {
  Origin origin = {.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))),
                   .harness = "assay " ASSAY_VERSION,
                   .compiler = ASSAY_CUDA_COMPILER,
                   .flags = ASSAY_CUDA_FLAGS,
                   .host_compiler = ASSAY_HOST_COMPILER};
  try {
    origin.commit = commit_of(folder, true);
  } catch (const BadInput&) {
    return origin;
  }
  const ProgramOutput told =
      output_of("env", {"TZ=UTC", "git", "-C", folder, "log", "-1",
                        "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "--format=%cd %P"});
  origin.kernels = git({"-C", folder, "rev-parse", "--quiet", "--verify", "HEAD:kernels"}).text;
  const std::size_t end = told.text.find(' ');
  origin.commit_date = told.text.substr(0, end);
  if (end != told.text.npos) {
    const std::string parents = told.text.substr(end + 1);
    origin.parent = parents.substr(0, parents.find(' '));
  }
  return origin;
}

Origin origin_here() { return origin_of(project().folder); }

std::map<std::string, std::string> machine_here() {
  utsname system = {};
  uname(&system);
  return {{"processor", processor_name()},
          {"cores", fmt::to_string(std::thread::hardware_concurrency())},
          {"system", fmt::format("{} {} {}", system.sysname, system.release, system.machine)}};
}

std::map<std::string, std::string> device_here() {
  std::map<std::string, std::string> facts;
  for (const GpuFact& fact : describe_gpus()) facts[fact.topic] = fact.text;
  return facts;
}

}  // namespace assay
