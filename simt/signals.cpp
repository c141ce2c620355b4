#include "simt/signals.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <mutex>
#include <system_error>

#include "simt/runner.h"
#include "simt/watch.h"

namespace simt {
namespace {

constexpr std::array fault_signals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
std::array<struct sigaction, fault_signals.size()> previous_actions;

int timer_signal() { return SIGRTMIN + 3; }

bool was_write([[maybe_unused]] const void* machine_state) {
#if defined(__x86_64__)
  return (static_cast<const ucontext_t*>(machine_state)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
  return false;
#endif
}

// The signal is not blocked while this runs (SA_NODEFER), and it runs on a stack of its own, so
// leaving by a switch to another context leaves nothing behind.
void on_fault(int signal, siginfo_t* info, void* machine_state) {
  Runner* runner = active_runner;
  const bool is_access = signal == SIGSEGV || signal == SIGBUS;
  if (is_access && note_host_access(info->si_addr, was_write(machine_state))) return;
  if (runner == nullptr || !runner->in_kernel()) {
    if (watching != nullptr) watching->end_host_code();
    // Not a kernel's: as if we had never been here.
    for (std::size_t i = 0; i < fault_signals.size(); ++i) {
      if (fault_signals[i] == signal) sigaction(signal, &previous_actions[i], nullptr);
    }
    return;
  }
  if (is_access) {
    runner->abandon({.kind = runner->classify_address(info->si_addr),
                     .address = info->si_addr,
                     .is_write = was_write(machine_state)});
  }
  runner->abandon({.kind = FaultKind::bad_instruction});
}

void on_timer(int, siginfo_t*, void*) {
  if (active_runner != nullptr) active_runner->expire();
}

void install(int signal, void (*handler)(int, siginfo_t*, void*), struct sigaction* previous) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
  sigaction(signal, &action, previous);
}

// The stack that handlers of one thread run on.
struct HandlerStack {
  static constexpr std::size_t bytes = 64 * 1024;
  std::unique_ptr<char[]> memory = std::make_unique<char[]>(bytes);
  stack_t previous = {};

  HandlerStack() {
    stack_t stack = {};
    stack.ss_sp = memory.get();
    stack.ss_size = bytes;
    sigaltstack(&stack, &previous);
  }
  ~HandlerStack() { sigaltstack(&previous, nullptr); }
};

}  // namespace

void catch_signals_on_this_thread() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (std::size_t i = 0; i < fault_signals.size(); ++i)
      install(fault_signals[i], on_fault, &previous_actions[i]);
    install(timer_signal(), on_timer, nullptr);
  });
  thread_local HandlerStack stack;
}

void* make_cpu_timer() {
  struct sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = timer_signal();
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  timer_t timer = nullptr;
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) {
    throw std::system_error(errno, std::generic_category(),
                            "no timer for the time limit of kernels");
  }
  return timer;
}

void arm_cpu_timer(void* timer, double seconds) {
  struct itimerspec when = {};
  when.it_value.tv_sec = static_cast<time_t>(seconds);
  when.it_value.tv_nsec =
      static_cast<long>((seconds - static_cast<double>(when.it_value.tv_sec)) * 1e9);
  timer_settime(timer, 0, &when, nullptr);
}

void drop_cpu_timer(void* timer) { timer_delete(timer); }

}  // namespace simt
