#include "door/door.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <future>
#include <optional>
#include <thread>

#include "base/text.h"
#include "door/compilers.h"
#include "door/home.h"
#include "door/library.h"
#include "door/source_text.h"
#include "kernels/registry.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

bool contains(const std::vector<Backend>& all, Backend one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// As a shell takes it for one word.
std::string quoted(const std::string& word) {
  if (word.find_first_of(" \t\n\"'\\$`&|;<>()*?[]#~!{}") == word.npos && !word.empty()) return word;
  std::string text = "'";
  for (char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

Source source_of(const DoorRequest& request, const std::string& file) {
  Source source{.name = file,
                .flags = {},
                .nvcc_flags = request.nvcc_flags,
                .architecture = request.architecture,
                .model_capability = request.model_capability};
  for (const std::string& folder : request.includes) source.flags.push_back("-I" + folder);
  for (const std::string& word : request.definitions) source.flags.push_back("-D" + word);
  return source;
}

// How the same file is named once more.
std::string words_for(const DoorRequest& request, const std::string& file) {
  std::string words = quoted(file);
  for (const std::string& folder : request.includes) words += " -I " + quoted(folder);
  for (const std::string& word : request.definitions) words += " -D " + quoted(word);
  for (const std::string& flag : request.nvcc_flags) words += " --nvcc-flag=" + quoted(flag);
  if (!request.model.empty()) words += " --model " + request.model;
  return words;
}

void refuse_no_file(const std::string& file) {
  if (!fs::is_regular_file(file)) throw BadInput(fmt::format("there is no file {}", file));
  const fs::path extension = fs::path(file).extension();
  if (extension != ".cu" && extension != ".cuh" && extension != ".cpp")
    throw BadInput(fmt::format("{}: kernels are in files that end in .cu, .cuh or .cpp", file));
}

// Compiles one file for all that is wanted, at the same time.
class Opening {
 public:
  Opening(const DoorRequest& request, std::string file, Opened& opened)
      : cache_(request.cache), file_(std::move(file)), opened_(opened) {
    const Source source = source_of(request, file_);
    const bool is_cuda = fs::path(file_).extension() != ".cpp";
    for (const Backend backend : {Backend::ptx, Backend::cuda}) {
      if (!is_cuda || !contains(request.backends, backend)) continue;
      try {
        compilations_.push_back(
            Compilation(source, {.backend = backend, .unlinked = request.unlinked}));
      } catch (const BadInput& error) {
        if (request.backends.size() == 1) throw;
        opened_.left_out.push_back(fmt::format("{}: {}", to_string(backend), error.what()));
        why_not_nvcc_ = error.what();
      }
    }
    const bool by_nvcc = !compilations_.empty();
    if (request.unlinked) return;
    for (const bool watched : {false, true}) {
      if (!watched && !contains(request.backends, Backend::simt)) continue;
      compilations_.push_back(Compilation(
          source, {.backend = Backend::simt, .watched = watched, .optional = by_nvcc || watched}));
    }
  }

  std::vector<std::string> libraries() {
    struct Run {
      const Compilation* compilation;
      fs::path folder;
      std::future<Compiled> result;
    };
    std::vector<std::string> libraries;
    std::vector<Run> runs;
    const auto start = fs::file_time_type::clock::now();
    for (const Compilation& compilation : compilations_) {
      if (const auto kept = compilation.find(cache_)) {
        take(compilation, *kept, libraries);
      } else {
        const fs::path folder = new_folder();
        runs.push_back({&compilation, folder,
                        std::async(std::launch::async,
                                   [&compilation, folder] { return compilation.run(folder); })});
      }
    }
    for (Run& run : runs) run.result.wait();
    for (Run& run : runs)
      take(*run.compilation, kept(*run.compilation, made(run.result), run.folder, start),
           libraries);
    return libraries;
  }

 private:
  fs::path new_folder() {
    if (opened_.scratch == nullptr) opened_.scratch = std::make_unique<Scratch>();
    const fs::path folder = opened_.scratch->folder() / std::to_string(opened_.folders++);
    fs::create_directory(folder);
    return folder;
  }

  // What g++ refuses, nvcc may take.
  Compiled made(std::future<Compiled>& result) const {
    try {
      return result.get();
    } catch (const BadFile& error) {
      if (why_not_nvcc_.empty()) throw;
      throw BadFile(fmt::format("{}; {}", error.what(), why_not_nvcc_), error.details);
    }
  }

  Compiled kept(const Compilation& compilation, Compiled compiled, const fs::path& folder,
                fs::file_time_type start) {
    try {
      return compilation.keep(cache_, compiled, folder, start);
    } catch (const BadInput& error) {
      opened_.warning = fmt::format("nothing is kept for the next run: {}", error.what());
      return compiled;
    }
  }

  void take(const Compilation& compilation, const Compiled& compiled,
            std::vector<std::string>& libraries) {
    if (!compiled.library.empty()) {
      libraries.push_back(compiled.library);
    } else if (!compilation.kind().watched) {
      opened_.left_out.push_back(
          fmt::format("{}: {}", to_string(compilation.kind().backend), compiled.why_not));
    }
  }

  const Cache cache_;
  const std::string file_;
  Opened& opened_;
  std::string why_not_nvcc_;
  std::vector<Compilation> compilations_;
};

void* loaded(const std::string& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return handle;
  std::string why = dlerror();
  if (why.starts_with(library + ": ")) why.erase(0, library.size() + 2);
  throw BadInput(fmt::format("{} cannot be loaded: {}", library, why));
}

// Waits for a process that was forked; kills it, and returns nothing, if it takes longer.
std::optional<int> status_of(pid_t child, std::chrono::seconds longest) {
  const auto end = std::chrono::steady_clock::now() + longest;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) != child) {
    if (std::chrono::steady_clock::now() > end) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return std::nullopt;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return status;
}

// Loads them in another process first: what runs when a library is loaded may end it, or never end.
void refuse_what_is_not_loaded(const std::string& file, const std::vector<std::string>& libraries,
                               int seconds) {
  constexpr int came_through = 111;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    try {
      load_libraries(libraries);
      registered();
    } catch (const std::exception&) {
    }
    _exit(came_through);
  }
  const auto ended = status_of(child, std::chrono::seconds(seconds));
  if (!ended)
    throw BadInput(fmt::format("{} is still being loaded after {} s: see what it does when loaded",
                               file, seconds));
  const int status = *ended;
  if (WIFEXITED(status) && WEXITSTATUS(status) == came_through) return;
  throw BadInput(
      fmt::format("{} ends the process that loads it ({}): see what it does when loaded", file,
                  WIFSIGNALED(status) ? strsignal(WTERMSIG(status))
                                      : fmt::format("exit code {}", WEXITSTATUS(status)).c_str()));
}

std::string load_library(const std::string& file, int seconds) {
  if (!fs::is_regular_file(file)) throw BadInput(fmt::format("there is no file {}", file));
  const std::string library = fs::canonical(file);
  refuse_what_is_not_loaded(file, {library}, seconds);
  coming_from("--library " + quoted(file));
  void* const handle = loaded(library);
  if (!has_table(handle)) {
    throw BadInput(fmt::format(
        "{} exports no table of variants: assay_library.h, beside assay.h, says how", file));
  }
  register_table(handle, file);
  registered();
  return library;
}

}  // namespace

bool names_a_file(const std::string& word) {
  const fs::path extension = fs::path(word).extension();
  return word.find('/') != word.npos || extension == ".cu" || extension == ".cuh" ||
         extension == ".cpp";
}

Opened open_files(const DoorRequest& request) {
  for (const std::string& file : request.files) refuse_no_file(file);
  Opened opened;
  opened.cache = Cache(request.cache).folder();
  forget_variants();
  for (const std::string& file : request.files) {
    const auto libraries = Opening(request, file, opened).libraries();
    refuse_what_is_not_loaded(file, libraries, request.load_seconds);
    coming_from(words_for(request, file));
    const std::size_t before = registered().size();
    load_libraries(libraries);
    if (registered().size() == before) {
      throw BadFile(
          fmt::format("{} registers no variant: add these lines, or what they should say", file),
          lines_to_add(file, bytes_of(file).value_or("")));
    }
    opened.libraries.insert(opened.libraries.end(), libraries.begin(), libraries.end());
  }
  for (const std::string& file : request.libraries)
    opened.libraries.push_back(load_library(file, request.load_seconds));
  return opened;
}

Opened machine_code_of(DoorRequest request) {
  request.backends = {Backend::cuda};
  request.unlinked = true;
  Opened opened;
  for (const std::string& file : request.files) {
    refuse_no_file(file);
    for (const std::string& object : Opening(request, file, opened).libraries())
      opened.libraries.push_back(object);
  }
  return opened;
}

std::string compiler_for(Backend backend) {
  if (backend == Backend::simt) return find_gxx();
  refuse_without_recipe(backend);
  return "nvcc " + version_of_nvcc(find_nvcc(home().recipes));
}

std::vector<fs::path> files_behind(const DoorRequest& request) {
  std::vector<fs::path> files(request.libraries.begin(), request.libraries.end());
  for (const std::string& file : request.files) {
    files.emplace_back(file);
    for (const Backend backend : request.backends) {
      try {
        for (const fs::path& path : Compilation(source_of(request, file), {.backend = backend})
                                        .files(Cache(request.cache)))
          add_once(files, path);
      } catch (const std::exception&) {
        // It is not there for now, or its compiler is not.
      }
    }
  }
  return files;
}

void load_libraries(const std::vector<std::string>& libraries) {
  for (const std::string& library : libraries) {
    if (void* const handle = loaded(library); has_table(handle)) register_table(handle, library);
  }
}

}  // namespace assay
