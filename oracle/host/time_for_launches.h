// The processor's time that a process has for launches in a row, or under way at once: what calls
// functions of the host takes a hundred times as long as its cost says.
#pragma once

#include <ctime>

namespace assay {

class TimeForLaunches {
 public:
  TimeForLaunches() : since_(std::clock()) {}
  ~TimeForLaunches() { spent_ = now(); }
  TimeForLaunches(const TimeForLaunches&) = delete;

  bool is_over() const {
    constexpr double most_seconds = 20;
    return now() > most_seconds;
  }

 private:
  double now() const {
    return spent_ + static_cast<double>(std::clock() - since_) / CLOCKS_PER_SEC;
  }

  static inline thread_local double spent_ = 0;
  std::clock_t since_;
};

}  // namespace assay
