#include "cli/check/watch.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <optional>
#include <thread>

#include "base/child_process.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

pid_t start(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  const pid_t process = fork();
  if (process != 0) return process;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  execv(this_program, arguments.data());
  _exit(127);
}

std::optional<fs::path> saved_since(fs::file_time_type time, const std::vector<fs::path>& files) {
  for (const fs::path& file : files) {
    std::error_code error;
    const auto saved = fs::last_write_time(file, error);
    if (!error && saved > time) return file;
  }
  return std::nullopt;
}

}  // namespace

void run_at_each_save(const std::vector<std::string>& arguments,
                      const std::function<std::vector<fs::path>()>& files) {
  std::vector<fs::path> watched = files();
  while (true) {
    const auto started = fs::file_time_type::clock::now();
    const pid_t process = start(arguments);
    bool running = true;
    std::optional<fs::path> saved;
    while (!(saved = saved_since(started, watched))) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      if (!running || waitpid(process, nullptr, WNOHANG) == 0) continue;
      running = false;
      watched = files();
    }
    if (running) {
      kill(process, SIGTERM);
      waitpid(process, nullptr, 0);
    }
    fmt::print("\n{} was saved\n", saved->string());
    std::fflush(stdout);
  }
}

}  // namespace assay
