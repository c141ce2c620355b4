// Trials in processes of their own: the same verdicts, and a verdict for the death of a process.
#include "properties/worker.h"
#include "properties/draws/changes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/errors.h"
#include "base/host_heap.h"
#include "properties/check.h"
#include "properties/tests/planted.h"

namespace {

using namespace assay;
using namespace assay_test;

const WorkerCommand this_program{{"--worker"}};
const Claim& bound = claim_named("within_bound");

Entry planted(const char* name) { return entry_named(name, Backend::host); }

void expect_same(const Verdict& a, const Verdict& b) {
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.reason, b.reason);
  EXPECT_EQ(a.diagnosis, b.diagnosis);
  EXPECT_EQ(a.picture, b.picture);
  EXPECT_EQ(a.judged, b.judged);
  EXPECT_EQ(a.allowed_gulps, b.allowed_gulps);
  ASSERT_EQ(a.worst.has_value(), b.worst.has_value());
  if (!a.worst) return;
  EXPECT_EQ(a.worst->row, b.worst->row);
  EXPECT_EQ(a.worst->column, b.worst->column);
  EXPECT_EQ(a.worst->wanted, b.worst->wanted);
  EXPECT_EQ(a.worst->error_gulps, b.worst->error_gulps);
}

TEST(Worker, answers_what_this_process_would) {
  Worker worker(this_program, 0);
  for (const char* name : {"planted_right", "planted_wrong"}) {
    for (const char* text : {"m=20 n=9 k=33 beta=2 offset=1,2,3", "m=0 n=1 k=1", "m=1 n=1 k=0"}) {
      const Case c = parse_case(text);
      for (const char* claim : {"within_bound", "refuses"}) {
        const Claim& one = claim_named(claim);
        expect_same(worker.judge(planted(name), one, c), one.judge(planted(name), c, {}));
      }
    }
  }
}

TEST(Worker, survives_the_death_of_its_process) {
  Worker worker(this_program, 0);
  const Case small{.m = 2, .n = 3, .k = 4}, larger{.m = 5, .n = 3, .k = 4};
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(worker.judge(planted("planted_killed"), bound, small).status, TrialStatus::right);
    const Verdict killed = worker.judge(planted("planted_killed"), bound, larger);
    EXPECT_EQ(killed.status, TrialStatus::crashed);
    EXPECT_NE(killed.reason.find("killed by signal 9"), std::string::npos) << killed.reason;
    const Verdict gone = worker.judge(planted("planted_exit"), bound, small);
    EXPECT_EQ(gone.status, TrialStatus::crashed);
    EXPECT_NE(gone.reason.find("exit code 42"), std::string::npos) << gone.reason;
    EXPECT_EQ(gone.judged, 0);
  }
}

TEST(Worker, says_why_the_c_library_ended_its_process) {
  Worker worker(this_program, 0);
  if (environment_that_checks_the_heap().empty()) GTEST_SKIP() << "the C library has no checks";
  EXPECT_EQ(worker.judge(planted("planted_overrun"), bound, {.m = 4, .n = 3, .k = 4}).status,
            TrialStatus::right);
  const Verdict overrun = worker.judge(planted("planted_overrun"), bound, {.m = 5, .n = 3, .k = 4});
  EXPECT_EQ(overrun.status, TrialStatus::crashed);
  EXPECT_EQ(overrun.reason,
            "the process of the trial was aborted by the C library: free(): invalid pointer");
  EXPECT_EQ(overrun.diagnosis.substr(0, 34), "the launch function writes outside");
  const Verdict failed =
      worker.judge(planted("planted_assertion"), bound, {.m = 4, .n = 3, .k = 4});
  EXPECT_EQ(failed.status, TrialStatus::crashed);
  EXPECT_NE(failed.reason.find("Assertion `g.m <= 3' failed."), std::string::npos) << failed.reason;
  EXPECT_EQ(failed.diagnosis, "");
}

TEST(Worker, gives_launch_functions_memory_without_zeros) {
  Worker worker(this_program, 0);
  const Verdict verdict = worker.judge(planted("planted_zeros"), bound, {.m = 2, .n = 3, .k = 4});
  EXPECT_EQ(verdict.status, TrialStatus::crashed) << verdict.reason;
}

// As many as there were at any one time.
TEST(Worker, leaves_no_process_more_for_each_fresh_start) {
  const auto children = [] {
    std::ifstream list(fmt::format("/proc/self/task/{0}/children", getpid()));
    return std::distance(std::istream_iterator<int>(list), {});
  };
  const auto judge_afresh = [] {
    Worker worker(this_program, 0);
    worker.start_afresh();
    EXPECT_EQ(worker.judge(planted("planted_right"), bound, {.m = 2, .n = 3, .k = 4}).status,
              TrialStatus::right);
  };
  judge_afresh();
  const auto before = children();
  EXPECT_GE(before, 1);
  for (int i = 0; i < 3; ++i) judge_afresh();
  EXPECT_EQ(children(), before);
}

TEST(Worker, hands_on_what_was_thrown) {
  Worker worker(this_program, 0);
  const Case small{.m = 2, .n = 3, .k = 4};
  const Case huge{.m = std::int64_t{1} << 30, .n = std::int64_t{1} << 30, .k = 1};
  EXPECT_THROW(worker.judge(planted("planted_right"), bound, huge), BadInput);
  EXPECT_EQ(worker.judge(planted("planted_right"), bound, small).status, TrialStatus::right);
}

TEST(Worker, takes_what_a_variant_throws_for_its_answer) {
  Worker worker(this_program, 0);
  const Verdict verdict = worker.judge(planted("planted_throw"), bound, {.m = 2, .n = 3, .k = 4});
  EXPECT_EQ(verdict.status, TrialStatus::crashed);
  EXPECT_EQ(verdict.reason, "launch threw: thrown by a variant");
}

TEST(Worker, cuts_short_what_a_variant_has_too_much_to_say) {
  Worker worker(this_program, 0);
  const Verdict verdict =
      worker.judge(planted("planted_talkative"), bound, {.m = 2, .n = 3, .k = 4});
  EXPECT_EQ(verdict.status, TrialStatus::crashed);
  EXPECT_TRUE(verdict.reason.starts_with("launch threw: xxx")) << verdict.reason;
  EXPECT_TRUE(verdict.reason.ends_with("x ...")) << verdict.reason;
  EXPECT_LT(verdict.reason.size(), 5000u);
}

TEST(Worker, is_ended_where_a_launch_never_comes_back) {
  Worker worker(this_program, 0);
  const Case small{.m = 2, .n = 3, .k = 4};
  const Verdict verdict = worker.judge(planted("planted_never_back"), bound, small);
  EXPECT_EQ(verdict.status, TrialStatus::hung);
  EXPECT_NE(verdict.reason.find("the launch never came back"), std::string::npos) << verdict.reason;
  EXPECT_EQ(worker.judge(planted("planted_right"), bound, small).status, TrialStatus::right);
}

// Somebody pressed Ctrl-C twice, or the system ran out of memory.
TEST(Worker, ends_with_a_check_that_is_killed) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t check = fork();
  if (check == 0) {
    constexpr int of_its_own = 1;  // no idle one that an earlier test left
    Worker(this_program, of_its_own)
        .judge(planted("planted_busy"), bound, {.m = 2, .n = 3, .k = 4});
    _exit(0);
  }
  const auto within_4_s = [](auto holds) {
    for (int tries = 0; tries < 200; ++tries) {
      if (holds()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  };
  pid_t worker = 0;
  EXPECT_TRUE(within_4_s([&] {
    std::ifstream(fmt::format("/proc/{0}/task/{0}/children", check)) >> worker;
    return worker != 0;
  })) << "it never started";
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // it is at work by then
  kill(check, SIGKILL);
  waitpid(check, nullptr, 0);
  ASSERT_NE(worker, 0);
  if (within_4_s([&] { return waitpid(worker, nullptr, WNOHANG) == worker; })) return;
  ADD_FAILURE() << "it is still there";
  kill(worker, SIGKILL);
  waitpid(worker, nullptr, 0);
}

TEST(Worker, that_is_no_worker_is_a_crash) {
  Worker worker({{"--gtest_list_tests"}}, 0);
  const Verdict verdict = worker.judge(planted("planted_right"), bound, {.m = 1, .n = 1, .k = 1});
  EXPECT_EQ(verdict.status, TrialStatus::crashed) << "it never asked for work";
}

TEST(Worker, lets_a_crash_be_shrunk_and_the_rest_go_on) {
  const auto results = check({planted("planted_killed"), planted("planted_right")}, {&bound},
                             {.cases = 20, .jobs = 1, .worker = this_program});
  const ClaimResult &result = results[0], &rest = results[1];
  EXPECT_FALSE(rest.failure) << rest.failure->verdict.reason;
  const auto beside = one_thing_changed(bound, planted("planted_right"), 20, 0).size();
  EXPECT_EQ(rest.cases, 20 + static_cast<int>(beside));
  ASSERT_TRUE(result.failure);
  Case smallest = result.failure->shrunk;
  EXPECT_LE(smallest.k, 1);
  smallest.fill = Fill::uniform, smallest.k = 1;  // whichever it was drawn with
  EXPECT_EQ(to_string(smallest), "m=4 n=1 k=1");
  EXPECT_EQ(result.failure->verdict.status, TrialStatus::crashed);
}

TEST(Worker, grants_a_trial_the_resources_it_was_given) {
  Worker worker(this_program, 0);
  const Claim& claim = planted_or_claim_named("planted_resources");
  const Case c{.m = 2, .n = 3, .k = 4};
  const Resources all{.watchdog_seconds = 7, .gpu = 5};
  EXPECT_EQ(worker.judge(planted("planted_right"), claim, c, all).status, TrialStatus::right);
  for (const auto& [seconds, gpu] : {std::pair{default_watchdog_seconds, 5}, {7.0, 0}}) {
    const Resources other{.watchdog_seconds = seconds, .gpu = gpu};
    EXPECT_EQ(worker.judge(planted("planted_right"), claim, c, other).status, TrialStatus::wrong);
  }
}

TEST(Worker, serves_one_check_after_the_other) {
  for (int round = 0; round < 3; ++round) {
    for (const ClaimResult& result :
         check({planted("planted_right")},
               {&bound, &claim_named("beta_zero"), &claim_named("no_product"),
                &claim_named("writes_only_c")},
               {.cases = 5, .jobs = 4, .worker = this_program}))
      EXPECT_FALSE(result.failure) << result.failure->verdict.reason;
  }
}

TEST(Worker, judges_beside_others) {
  const auto results =
      check({planted("planted_right"), planted("planted_wrong")},
            {&bound, &claim_named("beta_zero")}, {.cases = 20, .jobs = 3, .worker = this_program});
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(results[i].failure.has_value(), i >= 2);
}

}  // namespace
