// Lanes: every item is taken once, by a thread that may, and an exception ends it all.
#include "properties/lanes.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

namespace {

using namespace assay;

struct Taken {
  std::vector<std::pair<std::size_t, std::size_t>> items;  // with the number of the thread
  std::set<std::thread::id> threads;
};

Taken take(const std::vector<Lane>& lanes) {
  Taken taken;
  std::mutex mutex;
  in_lanes(lanes, [&](std::size_t item, std::size_t t) {
    const std::lock_guard lock(mutex);
    taken.items.emplace_back(item, t);
    taken.threads.insert(std::this_thread::get_id());
  });
  return taken;
}

// In the middle of its first item, until all are there: so nobody does the others' work.
class Roll {
 public:
  explicit Roll(std::size_t expected) : expected_(expected) {}
  void answer(std::size_t t) {
    std::unique_lock lock(mutex_);
    present_.insert(t);
    changed_.notify_all();
    const auto all = [&] { return present_.size() >= expected_; };
    if (!changed_.wait_for(lock, std::chrono::seconds(20), all))
      expected_ = 0;  // nobody else comes
  }
  std::size_t present() const { return present_.size(); }

 private:
  std::size_t expected_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::size_t> present_;
};

TEST(Lanes, give_each_item_once_to_a_thread_that_may_take_it) {
  std::vector<Lane> lanes = {{.threads = 2}, {.threads = 5}};
  for (std::size_t i = 0; i < 1000; ++i) lanes[i % 3 == 0 ? 0 : 1].items.push_back(i);
  Roll roll(5);
  std::mutex mutex;
  std::set<std::size_t> items;
  in_lanes(lanes, [&](std::size_t item, std::size_t t) {
    roll.answer(t);
    const std::lock_guard lock(mutex);
    EXPECT_LT(t, item % 3 == 0 ? 2u : 5u) << item;
    EXPECT_TRUE(items.insert(item).second) << item;
  });
  EXPECT_EQ(items.size(), 1000u);
  EXPECT_EQ(roll.present(), 5u);
}

TEST(Lanes, are_served_in_their_order_by_one_thread) {
  const Taken taken = take({{.items = {5, 4}, .threads = 1}, {.items = {3, 9}, .threads = 1}});
  const std::vector<std::pair<std::size_t, std::size_t>> order = {{5, 0}, {4, 0}, {3, 0}, {9, 0}};
  EXPECT_EQ(taken.items, order);
  EXPECT_EQ(*taken.threads.begin(), std::this_thread::get_id());
}

TEST(Lanes, run_at_the_same_time) {
  Roll roll(4);
  in_lanes({{.items = {0, 1}, .threads = 2}, {.items = {2, 3}, .threads = 4}},
           [&](std::size_t, std::size_t t) { roll.answer(t); });
  EXPECT_EQ(roll.present(), 4u);
}

TEST(Lanes, of_nothing_are_fine) {
  EXPECT_TRUE(take({}).items.empty());
  EXPECT_TRUE(take({{.items = {}, .threads = 3}}).items.empty());
}

TEST(Lanes, end_with_the_first_exception) {
  std::vector<Lane> lanes = {{.items = {0}, .threads = 1}, {.threads = 3}};
  for (std::size_t i = 1; i < 100000; ++i) lanes[1].items.push_back(i);
  std::atomic<int> done = 0;
  EXPECT_THROW(in_lanes(lanes,
                        [&](std::size_t item, std::size_t) {
                          if (item == 0) throw std::runtime_error("the first");
                          std::this_thread::yield();
                          ++done;
                        }),
               std::runtime_error);
  EXPECT_LT(done, 99999);
}

}  // namespace
