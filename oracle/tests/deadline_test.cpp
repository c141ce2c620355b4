// The end of a process whose call does not come back.
#include "oracle/deadline.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

namespace {

using namespace assay;

void wait(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

TEST(DeadlineDeathTest, ends_the_process_that_is_late) {
  const auto late = [] {
    Deadline deadline;
    deadline.set(0.05);
    wait(60'000);
  };
  EXPECT_EXIT(late(), testing::ExitedWithCode(never_came_back), "a launch never came back");
}

TEST(DeadlineDeathTest, is_silent_where_somebody_else_reports_the_end) {
  const auto late = [] {
    Deadline deadline(true);
    deadline.set(0.05);
    wait(60'000);
  };
  EXPECT_EXIT(late(), testing::ExitedWithCode(never_came_back), "^$");
}

TEST(Deadline, leaves_alone_what_is_in_time) {
  Deadline deadline;
  wait(250);  // none is set
  deadline.set(60);
  wait(250);
  deadline.set(0.15);
  deadline.lift();
  wait(400);
}

}  // namespace
