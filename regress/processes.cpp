// Fresh processes of this program. Each is given its job on stdin, and its stdout is read to the
// end.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>

#include "oracle/gpu_info.h"
#include "regress/timing_json.h"

extern char** environ;

namespace assay {
namespace {

// Longer than any single batch takes: a process that is silent for so long is stuck.
constexpr int patience_ms = 300'000;

std::vector<std::string> environment_for(int gpu) {
  std::vector<std::string> environment;
  std::string visible = std::to_string(gpu);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    if (!text.starts_with("CUDA_VISIBLE_DEVICES=")) {
      environment.push_back(text);
      continue;
    }
    std::string rest = text.substr(text.find('=') + 1);
    for (int i = 0; i < gpu && rest.find(',') != std::string::npos; ++i)
      rest.erase(0, rest.find(',') + 1);
    visible = rest.substr(0, rest.find(','));
  }
  environment.push_back("CUDA_VISIBLE_DEVICES=" + visible);
  return environment;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// A copy of this program, its stdin and stdout being `channel`.
class Process {
 public:
  Process(const std::string& argument, int gpu) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail();
    channel_ = ends[0];
    std::vector<std::string> words = {"assay", argument}, environment = environment_for(gpu);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    const int error = posix_spawn(&id_, "/proc/self/exe", &actions, nullptr,
                                  pointers_to(words).data(), pointers_to(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error != 0) {
      errno = error;
      fail();
    }
  }
  ~Process() {
    close(channel_);
    if (id_ > 0) {
      kill(id_, SIGKILL);
      wait_for_end();
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // What it writes until it ends.
  std::string answer_to(const std::string& request) {
    for (std::size_t sent = 0; sent < request.size();) {
      const ssize_t count =
          send(channel_, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;  // it is gone: how it ended tells more
      sent += static_cast<std::size_t>(count);
    }
    shutdown(channel_, SHUT_WR);
    std::string answer, chunk(1 << 16, '\0');
    while (true) {
      pollfd waiting{channel_, POLLIN, 0};
      const int ready = poll(&waiting, 1, patience_ms);
      if (ready < 0 && errno == EINTR) continue;
      if (ready == 0)
        throw std::runtime_error(fmt::format("it was silent for {} s", patience_ms / 1000));
      const ssize_t count = recv(channel_, chunk.data(), chunk.size(), 0);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      answer.append(chunk.data(), static_cast<std::size_t>(count));
    }
    if (const std::string end = wait_for_end(); !end.empty()) throw std::runtime_error(end);
    return answer;
  }

 private:
  [[noreturn]] static void fail() {
    throw std::runtime_error(
        fmt::format("a timing process cannot be started: {}", std::strerror(errno)));
  }
  std::string wait_for_end() {
    int status = 0;
    while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    id_ = -1;
    if (WIFSIGNALED(status)) return fmt::format("it was ended by signal {}", WTERMSIG(status));
    return WEXITSTATUS(status) == 0 ? "" : fmt::format("it ended with {}", WEXITSTATUS(status));
  }

  int channel_ = -1;
  pid_t id_ = -1;
};

ProcessTiming time_in_process(const TimingJob& job, const std::string& argument, int gpu) {
  ProcessTiming timing;
  try {
    timing = timing_of(Process(argument, gpu).answer_to(to_text(job)));
  } catch (const std::exception& error) {
    timing = {};
    timing.unfit = fmt::format("a timing process gave no answer: {}", error.what());
  }
  return timing;
}

// All processes time the same number of launches: the first has chosen it.
void settle_launches(TimingJob& job, const ProcessTiming& first) {
  for (std::size_t i = 0; i < std::min(job.cells.size(), first.cells.size()); ++i)
    job.cells[i].launches = first.cells[i].launches;
}

// Whether a GPU is fit to time beside the first one: of the same model, with its baselines.
bool is_like(const ProcessTiming& timing, const ProcessTiming& first) {
  return timing.unfit.empty() && timing.device.at("key") == first.device.at("key");
}

}  // namespace

std::vector<ProcessTiming> time_in_processes(const TimingJob& given, int processes,
                                             const std::string& argument,
                                             const TimingProgress& progress, int gpus) {
  TimingJob job = given;
  std::vector<ProcessTiming> timings(static_cast<std::size_t>(processes));
  std::set<int> waiting;
  for (int i = 0; i < processes; ++i) waiting.insert(i);
  int done = 0;
  std::mutex mutex;
  const auto take = [&] {
    const std::lock_guard lock(mutex);
    return waiting.empty() ? processes : waiting.extract(waiting.begin()).value();
  };
  const auto run = [&](int gpu) {
    for (int i; (i = take()) < processes;) {
      TimingJob mine = job;
      mine.seed = given.seed + static_cast<std::uint64_t>(i) + 1;
      ProcessTiming timing = time_in_process(mine, argument, gpu);
      const std::lock_guard lock(mutex);
      if (gpu > 0 && !is_like(timing, timings[0])) {  // the first one times it
        waiting.insert(i);
        return;
      }
      timings[static_cast<std::size_t>(i)] = std::move(timing);
      ++done;
      if (progress) {
        progress(fmt::format("{} of {} processes", done, processes),
                 static_cast<double>(done) / processes);
      }
      if (i == 0) return;
    }
  };
  run(0);
  settle_launches(job, timings[0]);
  const bool hopeless = !timings[0].unfit.empty();
  if (hopeless) return {timings[0]};
  std::vector<std::jthread> threads;
  for (int gpu = 1; gpu < gpus; ++gpu) threads.emplace_back(run, gpu);
  run(0);
  threads.clear();
  run(0);  // what others have given back
  return timings;
}

TimeInProcesses processes_started_with(const std::string& argument) {
  return [argument](const TimingJob& job, int processes, const TimingProgress& progress) {
    return time_in_processes(job, processes, argument, progress, gpu_count());
  };
}

}  // namespace assay
