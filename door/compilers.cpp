#include "door/compilers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/child_process.h"
#include "base/errors.h"
#include "base/project.h"
#include "base/text.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name, const char* otherwise = "") {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

// Where a program lies that is named as on a command line; empty if there is none.
std::string located(const std::string& name) {
  const auto is_program = [](const fs::path& file) {
    return fs::is_regular_file(file) && access(file.c_str(), X_OK) == 0;
  };
  if (name.empty()) return "";
  if (name.find('/') != name.npos) return is_program(name) ? name : "";
  std::istringstream folders(environment("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (is_program(fs::path(folder) / name)) return fs::path(folder) / name;
  }
  return "";
}

// The number behind a word of what it says of itself; empty if it does not run, or is no nvcc.
std::string number_behind(const std::string& word, const std::string& nvcc) {
  const std::string said = output_of(nvcc, {"--version"}).text;
  const std::size_t at = said.find(word);
  if (at == said.npos) return "";
  const std::size_t begin = at + word.size();
  return said.substr(begin, said.find_first_not_of("0123456789.", begin) - begin);
}

std::string release_of(const std::string& nvcc) { return number_behind("release ", nvcc); }

}  // namespace

std::string version_of_nvcc(const std::string& nvcc) { return number_behind(", V", nvcc); }

std::string find_nvcc(const fs::path& recipes) {
  std::string of_the_build;
  std::getline(std::ifstream(recipes / "nvcc"), of_the_build);
  std::vector<std::string> others,
      names = {of_the_build, "nvcc", environment("CUDA_HOME", "/usr/local/cuda") + "/bin/nvcc"};
  if (const std::string asked = environment("CUDACXX"); !asked.empty()) names = {asked};
  for (const std::string& name : names) {
    const std::string nvcc = located(name);
    if (nvcc.empty()) continue;
    const std::string release = release_of(nvcc);
    if (release.starts_with("13.")) return nvcc;
    add_once(others, release.empty() ? nvcc + " does not run here"
                                     : fmt::format("{} is of CUDA {}", nvcc, release));
  }
  throw BadInput(
      fmt::format("no nvcc of CUDA 13 was found{}{}: {}, or say where it is with CUDACXX",
                  others.empty() ? "" : "; ", joined(others, "; "), project().nvcc_is_had));
}

std::string find_gxx() {
  for (const std::string& name : {environment("CXX"), std::string("g++"), std::string("c++")}) {
    const std::string program = located(name);
    if (program.empty()) continue;
    if (output_of(program, {"--version"}).text.find("Free Software Foundation") !=
        std::string::npos)
      return program;
  }
  throw BadInput("no g++ was found: install it, or say where it is with CXX");
}

std::string identity_of(const std::string& program) {
  const fs::path file = fs::canonical(program);
  return fmt::format("{} {} {}", file.string(), fs::file_size(file),
                     fs::last_write_time(file).time_since_epoch().count());
}

}  // namespace assay
