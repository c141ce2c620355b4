#include "base/child_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <thread>

extern char** environ;

namespace assay {
namespace {

constexpr auto for_ever = std::chrono::milliseconds(-1);

// A message goes in packets of so many bytes, each behind a bool that tells whether more follow:
// the system takes no packet of any length, and cuts off what the receiver has no room for.
constexpr std::size_t longest_piece = 1 << 16;

// Calls again what a signal interrupts.
template <class Call>
auto uninterrupted(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

std::vector<std::string> with_changes(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    if (!changes.contains(text.substr(0, text.find('=')))) environment.push_back(text);
  }
  for (const auto& [name, value] : changes) environment.push_back(name + "=" + value);
  return environment;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Which of its descriptors the child finds where.
class Descriptors {
 public:
  Descriptors(Channel channel, int socket) {
    posix_spawn_file_actions_init(&actions_);
    if (channel == Channel::messages) {
      place(socket, message_descriptor);
      place(STDERR_FILENO, STDOUT_FILENO);
    } else {
      place(socket, STDIN_FILENO);
      place(socket, STDOUT_FILENO);
      if (channel == Channel::all) place(socket, STDERR_FILENO);
    }
  }
  ~Descriptors() { posix_spawn_file_actions_destroy(&actions_); }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  void place(int from, int to) { posix_spawn_file_actions_adddup2(&actions_, from, to); }
  posix_spawn_file_actions_t actions_;
};

}  // namespace

std::string ProcessEnd::text() const {
  return signal != 0 ? fmt::format("was killed by signal {} ({})", signal, strsignal(signal))
                     : fmt::format("ended with exit code {}", exit_code);
}

ChildProcess::ChildProcess(const std::string& program, const std::vector<std::string>& arguments,
                           Channel channel, const std::map<std::string, std::string>& environment) {
  int ends[2];
  const int type = channel == Channel::messages ? SOCK_SEQPACKET : SOCK_STREAM;
  int error = socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) == 0 ? 0 : errno;
  if (error == 0) {
    socket_ = ends[0];
    std::vector<std::string> words = {program == this_program ? "assay" : program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<std::string> variables = with_changes(environment);
    error = posix_spawnp(&id_, program.c_str(), Descriptors(channel, ends[1]).get(), nullptr,
                         pointers_to(words).data(), pointers_to(variables).data());
    close(ends[1]);
  }
  if (error == 0) return;
  if (socket_ >= 0) close(socket_);
  throw std::runtime_error(fmt::format("{} cannot be started: {}", program, std::strerror(error)));
}

ChildProcess::~ChildProcess() {
  close(socket_);
  if (id_ <= 0) return;
  kill(id_, SIGKILL);
  end();
}

bool ChildProcess::wait_for_input(std::chrono::milliseconds patience) {
  pollfd waiting{socket_, POLLIN, 0};
  const int ready =
      uninterrupted([&] { return poll(&waiting, 1, static_cast<int>(patience.count())); });
  timed_out_ = ready == 0;
  return ready > 0;
}

std::optional<std::string> ChildProcess::ask(const std::string& message,
                                             std::chrono::milliseconds patience) {
  if (!send_message(socket_, message) || !wait_for_input(patience)) return std::nullopt;
  return receive_message(socket_);
}

std::string ChildProcess::converse(const std::string& input, std::chrono::milliseconds patience) {
  for (std::size_t sent = 0; sent < input.size();) {
    const ssize_t count = uninterrupted(
        [&] { return send(socket_, input.data() + sent, input.size() - sent, MSG_NOSIGNAL); });
    if (count <= 0) break;  // it is gone: how it ended says more
    sent += static_cast<std::size_t>(count);
  }
  shutdown(socket_, SHUT_WR);
  std::string output, chunk(longest_piece, '\0');
  while (true) {
    if (!wait_for_input(patience) && timed_out_)
      throw std::runtime_error(fmt::format("it was silent for {} s", patience.count() / 1000));
    const ssize_t count =
        uninterrupted([&] { return recv(socket_, chunk.data(), chunk.size(), 0); });
    if (count <= 0) return output;
    output.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

ProcessEnd ChildProcess::end() {
  if (timed_out_) kill(id_, SIGKILL);
  int status = 0;
  uninterrupted([&] { return waitpid(id_, &status, 0); });
  id_ = -1;
  if (WIFSIGNALED(status)) return {.signal = WTERMSIG(status)};
  return {.exit_code = WEXITSTATUS(status)};
}

std::optional<std::string> receive_message(int descriptor) {
  std::string message, piece(longest_piece, '\0');
  for (bool more = true; more;) {
    iovec parts[] = {{&more, sizeof more}, {piece.data(), piece.size()}};
    msghdr packet{.msg_iov = parts, .msg_iovlen = 2};
    const ssize_t size = uninterrupted([&] { return recvmsg(descriptor, &packet, 0); });
    if (size <= 0) return std::nullopt;
    message.append(piece.data(), static_cast<std::size_t>(size) - sizeof more);
  }
  return message;
}

bool send_message(int descriptor, const std::string& message) {
  std::size_t sent = 0;
  bool more = true;
  while (more) {
    const std::size_t size = std::min(message.size() - sent, longest_piece);
    more = sent + size < message.size();
    iovec parts[] = {{&more, sizeof more}, {const_cast<char*>(message.data()) + sent, size}};
    const msghdr packet{.msg_iov = parts, .msg_iovlen = 2};
    if (uninterrupted([&] { return sendmsg(descriptor, &packet, MSG_NOSIGNAL); }) < 0) return false;
    sent += size;
  }
  return true;
}

void end_with_other_side(int descriptor) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);  // what is sent to the process is not for the thread
  std::thread([descriptor] {
    pollfd other_side{descriptor, POLLRDHUP, 0};
    uninterrupted([&] { return poll(&other_side, 1, -1); });
    _exit(0);
  }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ProgramOutput output_of(const std::string& program, const std::vector<std::string>& arguments) {
  ProgramOutput output;
  std::optional<ChildProcess> child;
  try {
    child.emplace(program, arguments, Channel::stdio);
  } catch (const std::runtime_error&) {
    return {.code = 127, .text = ""};
  }
  output.text = child->converse("", for_ever);
  const ProcessEnd end = child->end();
  output.code = end.signal != 0 ? 128 + end.signal : end.exit_code;
  if (output.text.ends_with('\n')) output.text.pop_back();
  return output;
}

}  // namespace assay
