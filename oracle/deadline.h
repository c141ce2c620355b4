// Kills this process when a call blocks past its deadline: nothing else can interrupt one that
// waits for a kernel that never ends.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <thread>

namespace assay {

// The exit code of a process that a deadline killed.
constexpr int never_came_back = 86;

class Deadline {
 public:
  // `silent` where the process that started this one reports how it ends.
  explicit Deadline(bool silent = false);
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  // `seconds` are left from now on, until `lift`.
  void set(double seconds);
  void lift() { at_ = none; }

 private:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  void watch(const std::stop_token&);

  const bool silent_;
  std::atomic<std::int64_t> at_ = none;  // nanoseconds of the steady clock
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;
};

}  // namespace assay
