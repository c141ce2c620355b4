#include "cli/kernel_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/project.h"
#include "base/text.h"
#include "cli/out/table.h"
#include "cli/selection.h"
#include "kernels/registry.h"
#include "oracle/gpus.h"
#include "oracle/machine.h"
#include "regress/bench.h"

namespace assay {
namespace {

// Takes out the words that name files.
std::vector<std::string> files_among(std::vector<std::string>& words) {
  const auto first_file = std::stable_partition(
      words.begin(), words.end(), [](const std::string& word) { return !names_a_file(word); });
  std::vector<std::string> files(first_file, words.end());
  words.erase(first_file, words.end());
  return files;
}

// The first of each file, by whatever paths it is named.
std::vector<std::string> each_once(const std::vector<std::string>& files) {
  std::vector<std::string> first;
  for (const std::string& file : files) {
    const bool is_known = std::any_of(first.begin(), first.end(), [&](const std::string& other) {
      std::error_code missing;
      return other == file || std::filesystem::equivalent(other, file, missing);
    });
    if (!is_known) first.push_back(file);
  }
  return first;
}

}  // namespace

void KernelFiles::add_flags(Flags& flags) {
  flags.texts("-I", includes, "DIR", "for a FILE: where it finds headers; repeat for more");
  flags.texts("-D", definitions, "MACRO", "for a FILE: defines it; repeat for more");
  flags.texts("--nvcc-flag", nvcc_flags, "FLAG", "for a FILE: given to nvcc; repeat for more");
  flags.text("--cache", cache, "DIR", "where compiled files are kept (assay/ in $XDG_CACHE_HOME)");
}

void KernelFiles::add_library_flag(Flags& flags) {
  flags.texts(
      "--library", libraries, "FILE",
      "a shared library with a table of variants, as assay_library.h shows; repeat for more");
}

void KernelFiles::add_model_flag(Flags& flags) {
  flags.text(
      "--model", model, "NAME",
      "for a FILE on ptx: the GPU that the machine stands in for: h200 (the default), a100 or "
      "rtx4090");
}

namespace {

constexpr const char* built_for_another_model =
    "--model is for files, which are compiled for it: name one, such as kernels/tiled.cu";

void refuse_without_ptx(const std::vector<std::string>& backends) {
  refuse_without_recipe(Backend::ptx);
  if (!backends.empty() && std::find(backends.begin(), backends.end(), "ptx") == backends.end())
    throw BadInput(fmt::format("--model is about the backend ptx, and not about {}",
                               joined(backends, " and ")));
}

// All that the GPU here can run, and code is compiled for no other; without one, for an H200.
std::string architecture_of_gpu() {
  constexpr int of_h200 = 90, first_with_more_of_its_own = 90;
  const int here = least_compute_capability();
  const int capability = here == 0 ? of_h200 : here;
  return fmt::format("{}{}", capability, capability >= first_with_more_of_its_own ? "a" : "");
}

}  // namespace

DoorRequest KernelFiles::request(const std::vector<std::string>& files,
                                 const std::vector<std::string>& backends) const {
  DoorRequest request{.files = each_once(files),
                      .libraries = each_once(libraries),
                      .includes = includes,
                      .definitions = definitions,
                      .nvcc_flags = nvcc_flags,
                      .architecture = architecture_of_gpu(),
                      .model = model,
                      .model_capability = capability_of_model(),
                      .cache = cache,
                      .load_seconds = load_seconds,
                      .backends = {Backend::simt}};
#ifdef ASSAY_HAS_PTX
  request.backends.push_back(Backend::ptx);
#endif
#ifdef ASSAY_CUDA
  if (unavailable(Backend::cuda).empty()) request.backends.push_back(Backend::cuda);
#endif
  std::erase_if(request.backends, [&](Backend backend) {
    return !backends.empty() &&
           std::find(backends.begin(), backends.end(), to_string(backend)) == backends.end();
  });
  return request;
}

std::vector<std::filesystem::path> KernelFiles::behind(
    std::vector<std::string> words, const std::vector<std::string>& backends) const {
  return files_behind(request(files_among(words), backends));
}

bool KernelFiles::refuse_missing(std::vector<std::string>& words) const {
  auto files = files_among(words);
  files.insert(files.end(), libraries.begin(), libraries.end());
  for (const std::string& file : files) {
    if (!std::filesystem::is_regular_file(file))
      throw BadInput(fmt::format("there is no file {}", file));
  }
  return !files.empty();
}

Opened KernelFiles::machine_code(std::vector<std::string>& words) const {
  const auto files = files_among(words);
  return files.empty() ? Opened() : machine_code_of(request(files, {}));
}

Opened KernelFiles::open(std::vector<std::string>& words,
                         const std::vector<std::string>& backends) const {
  const auto files = files_among(words);
  if (!model.empty()) {
    stand_in_for(model);
    if (files.empty()) throw BadInput(built_for_another_model);
    refuse_without_ptx(backends);
  }
  if (files.empty() && libraries.empty()) return {};
  DoorRequest request = this->request(files, backends);
  if (!files.empty() && request.backends.empty())
    throw BadInput(fmt::format("a file is not compiled for {} here: assay doctor says why",
                               joined(backends, " and ")));
#ifdef ASSAY_HAS_PTX
  if (is_watched && request.backends == std::vector{Backend::cuda})
    request.backends.push_back(Backend::ptx);
#endif
  Opened opened = open_files(request);
  if (!opened.warning.empty())
    Screen(stderr).print(fmt::format("assay: warning: {}\n", opened.warning));
  return opened;
}

Opened KernelFiles::open_for_gpu(std::vector<std::string>& words) const {
  const auto cublas = yardstick_here();
  Opened opened = open(words, {"cuda"});
  if (!opened.libraries.empty() && cublas) register_variant(*cublas, Backend::cuda, 0);
  return opened;
}

std::string KernelFiles::baselines(std::vector<std::string> words) const {
  const auto files = files_among(words);
  if (files.empty()) return project().baselines;
  return (std::filesystem::path(files.front()).parent_path() / "baselines").string();
}

std::string KernelFiles::compiler() const { return compiler_for(Backend::cuda); }

std::string KernelFiles::flags() const {
  std::vector<std::string> words;
  for (const std::string& folder : includes) words.push_back("-I" + folder);
  for (const std::string& macro : definitions) words.push_back("-D" + macro);
  words.insert(words.end(), nvcc_flags.begin(), nvcc_flags.end());
  return joined(words, " ");
}

}  // namespace assay
