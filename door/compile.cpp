#include "door/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <sstream>

#include "base/child_process.h"
#include "base/sha256.h"
#include "door/compilers.h"
#include "door/home.h"
#include "door/refusals.h"
#include "kernels/registry.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

void add(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

const char* name_of(const LibraryKind& kind) {
  if (kind.watched) return "watched";
  return kind.backend == Backend::ptx ? "ptx" : kind.backend == Backend::cuda ? "cuda" : "simt";
}

bool is_for_nvcc(const LibraryKind& kind) { return kind.backend != Backend::simt; }

// With all that the GPU has, also what no later one does, as for the GPU itself: a kernel may go
// another way where it is compiled for less.
std::string architecture_of(int capability) {
  constexpr int first_with_features_of_its_own = 90;
  return std::to_string(capability) + (capability < first_with_features_of_its_own ? "" : "a");
}
// For the PTX machine: PTX, and what ptxas makes of it, which tells how many registers it takes.
// Where ptxas does not take it, it may use more shared memory than there is: then PTX alone is
// compiled, and the machine says what is wrong.
std::string with_machine_code(int capability) {
  return fmt::format("-gencode=arch=compute_{0},code=[compute_{0},sm_{0}]",
                     architecture_of(capability));
}
std::string ptx_alone(int capability) {
  return fmt::format("-gencode=arch=compute_{0},code=compute_{0}", architecture_of(capability));
}

bool names_architecture(const Words& flags) {
  return std::any_of(flags.begin(), flags.end(), [](const std::string& flag) {
    return flag.find("arch") != flag.npos || flag.find("-code") != flag.npos;
  });
}

// What nvcc, or the shells that it starts, would take apart: in the name of a file, and in a flag.
bool is_awkward(const fs::path& file) {
  return file.string().find_first_of("\"$`\\\n") != std::string::npos;
}
bool is_awkward_flag(const std::string& flag) {
  return flag.starts_with("-I") && (is_awkward(flag) || flag.find_first_of("',") != flag.npos);
}

// By its own name where that is possible: faults are reported with it.
fs::path name_of_link(const fs::path& file) {
  return is_awkward(file.filename()) ? "kernels.cu" : file.filename();
}

// The dependencies in a rule of make.
std::vector<fs::path> files_in_rule(const std::string& rule) {
  std::vector<fs::path> files;
  std::string file;
  const auto end_of_file = [&] {
    if (!file.empty()) files.emplace_back(file);
    file.clear();
  };
  for (std::size_t i = rule.find(": ") + 1; i < rule.size(); ++i) {
    const char next = i + 1 < rule.size() ? rule[i + 1] : '\n';
    if (rule[i] == '\\' && next != '\n') {
      file += next, ++i;
    } else if (rule[i] == '$' && next == '$') {
      file += '$', ++i;
    } else if (rule[i] == ' ' || rule[i] == '\n' || rule[i] == '\\') {
      end_of_file();
    } else {
      file += rule[i];
    }
  }
  end_of_file();
  return files;
}

struct Said {
  bool done = false;
  std::string text;
};
Said run_compiler(const Words& command, const fs::path& folder) {
  // Other languages have other words for an error.
  ChildProcess compiler(command.front(), {command.begin() + 1, command.end()}, Channel::all,
                        {{"LC_ALL", "C"}, {"TMPDIR", folder.string()}});
  std::string text = compiler.converse("", std::chrono::minutes(10));
  return {compiler.end().is_success(), std::move(text)};
}

// So that an index which is none of its std::vector ends the process.
constexpr const char* index_checks = "-D_GLIBCXX_ASSERTIONS";

bool is_of_ptxas(const std::string& text) { return text.find("ptxas") != text.npos; }

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
}

void name_what_is_behind_links(std::string& text, const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_symlink())
      replace_all(text, entry.path().string(), fs::read_symlink(entry).string());
  }
}

}  // namespace

void refuse_without_recipe(Backend backend) {
  if (!fs::exists(home().recipes / (name_of({.backend = backend}) + std::string(".compile"))))
    throw BadInput("this assay was built without nvcc: build it with the preset ptx");
}

Compilation::Compilation(const Source& source, const LibraryKind& kind)
    : file_(fs::canonical(source.name)), source_(source), kind_(kind) {
  const Home here = home();
  const std::string recipe = here.recipes / name_of(kind), gxx = find_gxx();
  link_ = {gxx, "-shared", "@" + recipe + ".link", "-L" + here.lib.string()};
  if (is_for_nvcc(kind)) {
    refuse_without_recipe(kind.backend);
    const std::string nvcc = find_nvcc(here.recipes);
    compile_ = {nvcc, "-x", "cu", "--options-file", recipe + ".compile"};
    add(compile_, {"-Xcompiler=-fPIC,-fvisibility=hidden"});
    if (kind.backend == Backend::ptx) {
      const bool is_named = names_architecture(source.nvcc_flags);
      const int capability = source.model_capability;
      add(compile_,
          {is_named ? fmt::format("-arch=compute_{}", capability) : with_machine_code(capability),
           "-DASSAY_PTX"});
      // So that what launch functions compare can be watched, as simt_watched_kernels are.
      add(compile_, {"-Xcompiler=-O0,-g1", "-Xcompiler=-fsanitize-coverage=trace-pc",
                     "-Xcompiler=-fsanitize-coverage=trace-cmp"});
      add(compile_, {std::string("-Xcompiler=") + index_checks});
    }
    if (kind.backend == Backend::cuda && !names_architecture(source.nvcc_flags))
      add(compile_, {fmt::format("-gencode=arch=compute_{0},code=sm_{0}", source.architecture)});
    if (kind.backend == Backend::cuda)
      link_ = {nvcc, "-shared", "-cudart=static", "-L" + here.lib.string()};
    add(compile_, source.nvcc_flags);
  } else {
    compile_ = {gxx, "-x", "c++", "-O3", "@" + recipe + ".compile", "-fPIC", "-fvisibility=hidden"};
    add(compile_, {"-fvisibility-inlines-hidden", "-I" + (here.include / "simt/include").string()});
    add(compile_, {index_checks});
    if (file_.extension() != ".cpp") add(compile_, {"-DSIMT_DEVICE_CODE"});
    if (kind.watched)
      add(compile_,
          {"-O0", "-DASSAY_WATCHED",
           fmt::format("-fdebug-prefix-map={0}=/assay:{0}", file_.parent_path().string())});
    add(compile_, {"-include", "cuda_runtime.h"});
  }
  add(compile_, {"-std=c++20", "-w", "-I" + here.include.string()});
  add(compile_, source.flags);

  std::string all =
      fmt::format("{}\n{}\n{}\n", file_.string(), identity_of(compile_.front()), identity_of(gxx));
  for (const char* step : {".compile", ".link"}) all += bytes_of(recipe + step).value_or("");
  for (const char* library : {"libassay_registry.so", "libptx_cudart.a"}) {
    if (fs::exists(here.lib / library)) all += identity_of((here.lib / library).string());
  }
  for (const char* name :
       {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "CPATH", "CPLUS_INCLUDE_PATH"}) {
    const char* value = std::getenv(name);
    all += fmt::format("{}={}\n", name, value == nullptr ? "" : value);
  }
  for (const std::string& word : compile_) all += word + '\n';
  if (kind.unlinked) all += "unlinked";
  key_ = sha256(all).substr(0, 32);
}

std::vector<Words> Compilation::commands(const fs::path& folder) const {
  const std::string object = folder / "kernels.o";
  Words compile = compile_, link = link_;
  fs::path file = file_;
  if (is_for_nvcc(kind_)) {  // by other ways to the file, to those beside it, and to headers
    if (is_awkward(file_)) {
      file = folder / name_of_link(file_);
      fs::create_symlink(file_, file);
      compile.push_back("-I" + file_.parent_path().string());
    }
    int count = 0;
    for (std::string& flag : compile) {
      if (!is_awkward_flag(flag)) continue;
      const fs::path link = folder / fmt::format("beside{}", count++);
      fs::create_directory_symlink(fs::absolute(flag.substr(2)), link);
      flag = "-I" + link.string();
    }
  }
  const std::string made = folder / "kernels.so";
  add(compile, {"-MMD", "-MF", folder / "rule", "-c", "-o", kind_.unlinked ? made : object, file});
  if (kind_.unlinked) return {compile};
  add(link, {"-o", made, object});
  if (kind_.backend == Backend::ptx)
    add(link, {home().lib / "libptx_cudart.a", "-lptx",
               "-Wl,--wrap=exit,--wrap=abort,--wrap=__assert_fail"});  // libsimt has them
  add(link, {"-lassay_registry"});
  if (kind_.backend == Backend::simt || kind_.backend == Backend::ptx) add(link, {"-lsimt"});
  return {compile, link};
}

bool Compilation::names_links() const {
  return is_for_nvcc(kind_) &&
         (is_awkward(file_) ||
          std::any_of(source_.flags.begin(), source_.flags.end(), is_awkward_flag));
}

std::optional<Compiled> Compilation::find(const Cache& cache) const {
  auto found = cache.find(key_);
  if (found && !found->why_not.empty() && !kind_.optional) return std::nullopt;
  return found;
}

Compiled Compilation::run(const fs::path& folder) const {
  for (Words& command : commands(folder)) {
    Said said = run_compiler(command, folder);
    const int capability = source_.model_capability;
    const auto target = std::find(command.begin(), command.end(), with_machine_code(capability));
    if (!said.done && target != command.end() && is_of_ptxas(said.text)) {
      *target = ptx_alone(capability);
      said = run_compiler(command, folder);
    }
    if (said.done) continue;
    name_what_is_behind_links(said.text, folder);
    if (kind_.optional) return {{}, why_not_taken(said.text)};
    throw BadFile(
        fmt::format("{} is not compiled for {} by {}{}", source_.name, to_string(kind_.backend),
                    fs::path(command.front()).filename().string(), cure_for(said.text)),
        said.text);
  }
  return {folder / "kernels.so", ""};
}

Compiled Compilation::keep(const Cache& cache, const Compiled& compiled, const fs::path& folder,
                           fs::file_time_type start) const {
  if (names_links()) return compiled;
  std::vector<fs::path> files = {file_};
  for (const fs::path& file : files_in_rule(bytes_of(folder / "rule").value_or(""))) {
    std::error_code error;
    const fs::path there = fs::canonical(file, error);
    if (!error && there != file_) files.push_back(there);
  }
  const auto is_new = [&](const fs::path& file) { return fs::last_write_time(file) > start; };
  if (std::any_of(files.begin(), files.end(), is_new)) return compiled;
  return cache.keep(key_, compiled, files);
}

std::vector<fs::path> Compilation::files(const Cache& cache) const {
  auto files = cache.made_from(key_);
  if (files.empty()) files.push_back(file_);
  return files;
}

}  // namespace assay
