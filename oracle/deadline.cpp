#include "oracle/deadline.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace assay {
namespace {

std::int64_t now() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Deadline::Deadline(bool silent)
    : silent_(silent), thread_([this](const std::stop_token& stop) { watch(stop); }) {}

void Deadline::set(double seconds) { at_ = now() + static_cast<std::int64_t>(seconds * 1e9); }

void Deadline::watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    stopped_.wait_for(lock, stop, std::chrono::milliseconds(100), [] { return false; });
    if (now() <= at_) continue;
    if (!silent_) std::fputs("assay: a launch never came back, so this process ends\n", stderr);
    _exit(never_came_back);
  }
}

}  // namespace assay
