#include "properties/worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include "oracle/deadline.h"

extern char** environ;

namespace assay {
namespace {

constexpr int channel = 3;  // the descriptor on which a worker is asked and answers
constexpr std::size_t longest_message = 1 << 16;
constexpr std::size_t longest_text = 1 << 12;

// A message is a sequence of plain values and texts, read in the order in which they were written.
// Both ends are the same program. It has a few texts at most, which are cut to fit: what a variant
// throws may be of any length.
class Message {
 public:
  Message() = default;
  explicit Message(std::string bytes) : bytes_(std::move(bytes)) {}

  template <class T>
  Message& put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
    return *this;
  }
  Message& put(const std::string& text) {
    const std::string fitting =
        text.size() > longest_text ? text.substr(0, longest_text) + " ..." : text;
    put(fitting.size());
    bytes_ += fitting;
    return *this;
  }
  template <class T>
  T take() {
    T value;
    std::memcpy(static_cast<void*>(&value), read(sizeof(T)), sizeof(T));
    return value;
  }
  std::string take_text() {
    const auto size = take<std::size_t>();
    return {read(size), size};
  }
  const std::string& bytes() const { return bytes_; }

 private:
  const char* read(std::size_t size) {
    if (size > bytes_.size() - at_)
      throw std::runtime_error("a message of the worker ends too early");
    at_ += size;
    return bytes_.data() + at_ - size;
  }
  std::string bytes_;
  std::size_t at_ = 0;
};

enum class Answer { verdict, unavailable, bad_input };

Message pack(const Verdict& v) {
  Message message;
  message.put(Answer::verdict)
      .put(v.status)
      .put(v.judged)
      .put(v.allowed_gulps)
      .put(v.worst.has_value());
  message.put(v.worst.value_or(Element{})).put(v.context_lost);
  return message.put(v.reason).put(v.diagnosis).put(v.picture);
}

Verdict unpack(Message& message) {
  Verdict v;
  v.status = message.take<Status>();
  v.judged = message.take<std::int64_t>();
  v.allowed_gulps = message.take<double>();
  const bool has_worst = message.take<bool>();
  const auto worst = message.take<Element>();
  if (has_worst) v.worst = worst;
  v.context_lost = message.take<bool>();
  v.reason = message.take_text();
  v.diagnosis = message.take_text();
  v.picture = message.take_text();
  return v;
}

std::optional<Message> receive(int descriptor) {
  std::string bytes(longest_message, '\0');
  ssize_t size = 0;
  do {
    size = recv(descriptor, bytes.data(), bytes.size(), 0);
  } while (size < 0 && errno == EINTR);
  if (size <= 0) return std::nullopt;
  bytes.resize(static_cast<std::size_t>(size));
  return Message(std::move(bytes));
}

bool send_message(int descriptor, const Message& message) {
  return send(descriptor, message.bytes().data(), message.bytes().size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(message.bytes().size());
}

// The last line of defence: the executor and the GPU backend end what never ends by themselves,
// much sooner.
int patience_ms(const Case& c, double watchdog_seconds) {
  return static_cast<int>(std::min(2e9, 60e3 + 1e3 * watchdog_seconds + c.multiply_adds() / 1e3));
}

std::string death_of(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    return fmt::format("the process of the trial was killed by signal {} ({})", signal,
                       strsignal(signal));
  }
  return fmt::format("the process of the trial ended with exit code {}", WEXITSTATUS(wait_status));
}

const Claim& claim_asked_for(const std::string& name) {
  return name == calibration().name ? calibration() : claim_named(name);
}

Verdict judge_as_asked(Message& request) {
  const std::string variant = request.take_text();
  const auto backend = request.take<Backend>();
  const std::string name_of_claim = request.take_text();
  const Claim& claim = claim_asked_for(name_of_claim);
  const Case c = parse_case(request.take_text());
  const int workers = request.take<int>();
  setenv("ASSAY_WORKER", std::to_string(request.take<std::size_t>()).c_str(), 1);
  set_watchdog(request.take<double>());
  return claim.judge(entry_named(variant, backend), c, workers);
}

}  // namespace

// What made a call of the harness fail, such as a fault on a GPU, may stay with the process: it
// serves no other trial.
Verdict verdict_of(const std::function<Verdict()>& judge) {
  try {
    return judge();
  } catch (const BadInput&) {
    throw;
  } catch (const std::exception& error) {
    return {.status = Status::harness_error, .reason = error.what(), .context_lost = true};
  }
}

class Worker::Process {
 public:
  explicit Process(const WorkerCommand& command) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
      fail("no channel for a worker");
    mine_ = ends[0];
    std::vector<char*> arguments = {const_cast<char*>("assay")};
    for (const auto& argument : command.arguments)
      arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], channel);
    // What a variant prints must not get into a result that is written to standard output.
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    if (ends[1] == channel) fcntl(channel, F_SETFD, 0);
    const int error =
        posix_spawn(&id_, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error != 0) {
      close(mine_);
      errno = error;
      fail("a worker cannot be started");
    }
  }

  ~Process() {
    close(mine_);
    if (id_ > 0) {
      kill(id_, SIGKILL);
      reap();
    }
  }

  // The answer, or nothing if the worker is gone or does not answer in time.
  std::optional<Message> ask(const Message& request, int timeout_ms) {
    if (!send_message(mine_, request)) return std::nullopt;
    pollfd waiting{mine_, POLLIN, 0};
    int ready = 0;
    do {
      ready = poll(&waiting, 1, timeout_ms);
    } while (ready < 0 && errno == EINTR);
    timed_out_ = ready == 0;
    return ready > 0 ? receive(mine_) : std::nullopt;
  }
  bool timed_out() const { return timed_out_; }

  // Ends the process if it has not ended, and tells how it did.
  int end() {
    if (timed_out_) kill(id_, SIGKILL);
    return reap();
  }

 private:
  [[noreturn]] static void fail(const char* what) {
    throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
  }
  int reap() {
    int status = 0;
    while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    id_ = -1;
    return status;
  }

  int mine_ = -1;
  pid_t id_ = -1;
  bool timed_out_ = false;
};

// Processes that serve nobody for now, by command and number.
class Worker::Idle {
 public:
  std::unique_ptr<Process> take(const WorkerCommand& command, std::size_t number) {
    const std::lock_guard lock(mutex_);
    auto found = processes_.find({command.arguments, number});
    if (found == processes_.end()) return std::make_unique<Process>(command);
    return std::move(processes_.extract(found).mapped());
  }
  void keep(const WorkerCommand& command, std::size_t number, std::unique_ptr<Process> process) {
    const std::lock_guard lock(mutex_);
    processes_.emplace(std::pair(command.arguments, number), std::move(process));
  }

 private:
  std::mutex mutex_;
  std::multimap<std::pair<std::vector<std::string>, std::size_t>, std::unique_ptr<Process>>
      processes_;
};

Worker::Idle& Worker::idle() {
  static Idle all;
  return all;
}

Worker::Worker(WorkerCommand command, std::size_t number)
    : command_(std::move(command)), number_(number) {}

Worker::~Worker() {
  if (process_ != nullptr) idle().keep(command_, number_, std::move(process_));
}

Verdict Worker::judge(const Entry& entry, const Claim& claim, const Case& c, int workers,
                      double watchdog_seconds) {
  if (process_ == nullptr) process_ = idle().take(command_, number_);
  Message request;
  request.put(std::string(entry.variant.name)).put(entry.backend).put(std::string(claim.name));
  request.put(to_string(c)).put(workers).put(number_).put(watchdog_seconds);
  const int patience = patience_ms(c, watchdog_seconds);
  std::optional<Message> answer = process_->ask(request, patience);
  if (!answer) {
    const bool hung = process_->timed_out();
    const int status = process_->end();
    process_.reset();
    if (hung) {
      return {.status = Status::hung, .reason = fmt::format("no answer for {} s", patience / 1000)};
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == never_came_back) {
      return {.status = Status::hung,
              .reason =
                  "the launch never came back: it waits itself, or its work does not run in "
                  "the stream it was given",
              .context_lost = true};
    }
    return {.status = Status::crashed, .reason = death_of(status)};
  }
  switch (answer->take<Answer>()) {
    case Answer::verdict:
      break;
    case Answer::unavailable:
      throw Unavailable(answer->take_text());
    case Answer::bad_input:
      throw BadInput(answer->take_text());
  }
  Verdict verdict = unpack(*answer);
  if (verdict.context_lost) process_.reset();
  return verdict;
}

int serve_worker() {
  while (std::optional<Message> request = receive(channel)) {
    Message answer;
    bool last = false;
    try {
      const Verdict verdict = verdict_of([&] { return judge_as_asked(*request); });
      last = verdict.context_lost;
      answer = pack(verdict);
    } catch (const Unavailable& error) {
      answer.put(Answer::unavailable).put(std::string(error.what()));
    } catch (const BadInput& error) {
      answer.put(Answer::bad_input).put(std::string(error.what()));
    }
    if (!send_message(channel, answer)) return 1;
    if (last) _exit(0);  // what is lost must not be used again, not even to clean up
  }
  return 0;
}

}  // namespace assay
