#include "base/host_heap.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <malloc.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace assay {
namespace {

namespace fs = std::filesystem;

// As an index it is far outside, as a pointer it faults, as a float it is no zero.
constexpr int nonsense = 0xb5;

// Where glibc keeps what it says before it aborts.
struct AbortMessage {
  unsigned bytes;  // of all
  char text[1];
};

struct LastWords {
  int descriptor = -1;
  std::string before;
  const AbortMessage* const* message = nullptr;
  ExplainFault explain = nullptr;
};
LastWords last_words;

// In a process whose heap may be damaged: allocates nothing.
void send(const char* text) {
  bool more = false;  // one packet is the whole message, as receive_message takes it
  iovec parts[] = {{&more, sizeof more},
                   {last_words.before.data(), last_words.before.size()},
                   {const_cast<char*>(text), std::strlen(text)}};
  const msghdr packet{.msg_iov = parts, .msg_iovlen = std::size(parts)};
  sendmsg(last_words.descriptor, &packet, MSG_NOSIGNAL);
}

void send_why(int) {
  if (const AbortMessage* const message = *last_words.message) send(message->text);
}
// The access is tried again, and ends the process.
void send_where(int, siginfo_t* info, void*) {
  const char* const words =
      last_words.explain == nullptr ? nullptr : last_words.explain(info->si_addr);
  if (words != nullptr) send(words);
}

std::string with(const char* variable, const std::string& more) {
  const char* const before = std::getenv(variable);
  return before == nullptr || *before == '\0' ? more : std::string(before) + ":" + more;
}

}  // namespace

std::map<std::string, std::string> environment_that_checks_the_heap() {
#ifndef __SANITIZE_ADDRESS__  // which has a heap of its own
  Dl_info library;
  if (dladdr(reinterpret_cast<const void*>(&gnu_get_libc_version), &library) == 0) return {};
  const fs::path checks = fs::path(library.dli_fname).replace_filename("libc_malloc_debug.so.0");
  if (fs::exists(checks))
    return {{"LD_PRELOAD", with("LD_PRELOAD", checks)},
            {"GLIBC_TUNABLES", with("GLIBC_TUNABLES", "glibc.malloc.check=3")}};
#endif
  return {};
}

ScribbledHeap::ScribbledHeap() { mallopt(M_PERTURB, nonsense); }
ScribbledHeap::~ScribbledHeap() { mallopt(M_PERTURB, 0); }

void send_last_words(int descriptor, const std::string& before) {
  const void* const message = dlvsym(RTLD_DEFAULT, "__abort_msg", "GLIBC_PRIVATE");
  last_words.descriptor = descriptor, last_words.before = before;
  last_words.message = static_cast<const AbortMessage* const*>(message);
  if (message != nullptr) signal(SIGABRT, send_why);
  struct sigaction action = {};
  action.sa_sigaction = send_where;
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_RESETHAND);
  sigaction(SIGSEGV, &action, nullptr);
}

void explain_faults_by(ExplainFault explain) { last_words.explain = explain; }

}  // namespace assay
