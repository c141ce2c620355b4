// A process that this one starts, talks to over a socket, and never leaves behind.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay {

// Where the child finds its end of the socket.
enum class Channel {
  messages,  // descriptor 3, whole messages each way; its stdout goes to stderr, so that what a
             // kernel prints never lands in a result
  stdio,     // its stdin and stdout, a stream each way
  all,       // the same, with its stderr in the same stream as its stdout
};
inline constexpr int message_descriptor = 3;

// The program that is running, as a program to start.
inline constexpr const char* this_program = "/proc/self/exe";

// How a process ended. `signal` is 0 unless one ended it.
struct ProcessEnd {
  int exit_code = 0, signal = 0;

  bool is_success() const { return exit_code == 0 && signal == 0; }
  std::string text() const;  // "ended with exit code 3", "was killed by signal 11 (...)"
};

class ChildProcess {
 public:
  // Finds `program` by PATH unless it is a path. `environment` is set on top of what this process
  // has. Throws std::runtime_error, with the reason, if the program cannot be started.
  ChildProcess(const std::string& program, const std::vector<std::string>& arguments, Channel,
               const std::map<std::string, std::string>& environment = {});
  ~ChildProcess();  // kills it if it still runs
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Over `messages`: sends one and waits for one. Nothing if the child is gone, or stays silent for
  // so long; then it has `timed_out`.
  std::optional<std::string> ask(const std::string& message, std::chrono::milliseconds patience);
  bool timed_out() const { return timed_out_; }

  // Over `stdio` and `all`: sends all of `input` and reads until the child closes its end. Throws
  // std::runtime_error if it stays silent for so long.
  std::string converse(const std::string& input, std::chrono::milliseconds patience);

  // Waits until it has ended; kills it first if it has timed out.
  ProcessEnd end();

 private:
  bool wait_for_input(std::chrono::milliseconds patience);

  int socket_ = -1;
  pid_t id_ = -1;
  bool timed_out_ = false;
};

// The two ends of `messages`: nothing where the other side is gone.
std::optional<std::string> receive_message(int descriptor);
bool send_message(int descriptor, const std::string& message);

// For a child: it ends when the other side is gone, whatever it is at.
void end_with_other_side(int descriptor);

// Runs another program to its end.
struct ProgramOutput {
  int code = 0;      // its exit code; 128 and more if a signal ended it, 127 if there is none
  std::string text;  // of its stdout, without the last line break; it shares our stderr
};
ProgramOutput output_of(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace assay
