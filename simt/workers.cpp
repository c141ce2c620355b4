#include "simt/workers.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace simt {
namespace {

class Pool {
 public:
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (auto& thread : threads_) thread.join();
  }

  // One caller at a time: a second one waits.
  void run(int helpers, const std::function<void()>& work) {
    const std::lock_guard one_at_a_time(callers_);
    {
      const std::lock_guard lock(mutex_);
      while (static_cast<int>(threads_.size()) < helpers)
        threads_.emplace_back([this] { serve(); });
      work_ = &work;
      wanted_ = running_ = helpers;
      failure_ = nullptr;
    }
    wake_.notify_all();
    std::exception_ptr own_failure;
    try {
      work();
    } catch (...) {
      own_failure = std::current_exception();
    }
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [this] { return running_ == 0; });
    if (own_failure) std::rethrow_exception(own_failure);
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return stopping_ || wanted_ > 0; });
      if (stopping_) return;
      --wanted_;
      const auto* work = work_;
      lock.unlock();
      std::exception_ptr failure;
      try {
        (*work)();
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      if (failure) failure_ = failure;
      if (--running_ == 0) finished_.notify_one();
    }
  }

  std::mutex callers_, mutex_;
  std::condition_variable wake_, finished_;
  std::vector<std::thread> threads_;
  const std::function<void()>* work_ = nullptr;
  int wanted_ = 0, running_ = 0;
  bool stopping_ = false;
  std::exception_ptr failure_;
};

}  // namespace

void run_on_workers(int count, const std::function<void()>& work) {
  if (count <= 1) return work();
  static Pool pool;
  pool.run(std::min(count, max_workers) - 1, work);
}

}  // namespace simt
