// Ends this process where a call does not come back in time: one that waits for a kernel that never
// ends cannot be ended otherwise.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <thread>

namespace assay {

// The exit code of a process that was ended so.
constexpr int never_came_back = 86;

class Deadline {
 public:
  Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  // From now on, so many seconds are left; until it is lifted.
  void set(double seconds);
  void lift() { at_ = none; }

 private:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  void watch(const std::stop_token&);

  std::atomic<std::int64_t> at_ = none;  // nanoseconds of the steady clock
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;
};

}  // namespace assay
