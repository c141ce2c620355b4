// Fresh processes: what they are asked and answer, and what becomes of one that does not answer.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "regress/processes.h"

namespace {

using namespace assay;

TimingJob two_cells() {
  return {.cells = {{.cell = parse_cell("a m=1 n=1 k=1")},
                    {.cell = parse_cell("b m=2 n=1 k=1"), .launches = 3}},
          .seed = 40};
}

TEST(Processes, each_draw_their_own_operands) {
  const auto timings = time_in_processes(two_cells(), 5, {"--answer"});
  ASSERT_EQ(timings.size(), 5u);
  std::set<double> seeds;
  for (const ProcessTiming& timing : timings) {
    EXPECT_EQ(timing.unfit, "");
    ASSERT_EQ(timing.cells.size(), 2u);
    EXPECT_EQ(timing.cells[1].cell, parse_cell("b m=2 n=1 k=1"));
    seeds.insert(timing.canaries.at("seed"));
  }
  EXPECT_EQ(seeds.size(), 5u);
}

TEST(Processes, all_time_as_many_launches_as_the_first_has_chosen) {
  const auto timings = time_in_processes(two_cells(), 3, {"--answer"});
  EXPECT_EQ(timings[0].cells[0].launches, 7);
  for (std::size_t i = 1; i < 3; ++i) EXPECT_EQ(timings[i].cells[0].launches, 107) << "asked for 7";
  EXPECT_EQ(timings[0].cells[1].launches, 103) << "asked for 3";
}

TEST(Processes, tell_how_far_they_are) {
  std::vector<double> shares;
  time_in_processes(two_cells(), 4, {"--answer"},
                    [&](const std::string&, double done) { shares.push_back(done); });
  EXPECT_EQ(shares, (std::vector<double>{0.25, 0.5, 0.75, 1}));
}

TEST(Processes, are_timed_on_gpus_that_are_fit_and_of_one_model) {
  const char* given = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::string before = given == nullptr ? "" : given;
  unsetenv("CUDA_VISIBLE_DEVICES");
  const auto timings = time_in_processes(two_cells(), 12, {"--answer"}, {}, 4);
  if (given != nullptr) setenv("CUDA_VISIBLE_DEVICES", before.c_str(), 1);
  ASSERT_EQ(timings.size(), 12u);
  std::set<double> seeds;
  for (const ProcessTiming& timing : timings) {
    EXPECT_EQ(timing.unfit, "");
    EXPECT_EQ(timing.device.at("key"), "lab");
    seeds.insert(timing.canaries.at("seed"));
  }
  EXPECT_EQ(seeds.size(), 12u);
}

TEST(Processes, that_give_no_answer_say_so) {
  const auto unfit = [](const char* argument) {
    const auto timings = time_in_processes(two_cells(), 3, {argument});
    EXPECT_EQ(timings.size(), 1u) << "where the first fails, the others would too";
    return timings.front().unfit;
  };
  EXPECT_NE(unfit("--die").find("it was killed by signal 9"), std::string::npos);
  EXPECT_NE(unfit("--fail").find("it ended with exit code 3"), std::string::npos);
  EXPECT_NE(unfit("--babble").find("gave no answer"), std::string::npos);
}

TEST(TimingJson, brings_back_all_of_it) {
  TimingJob job = two_cells();
  job.cells[0].rival = "c", job.cells[0].planted_launches = 2;
  job.baselines = "/some where", job.rounds = 6, job.warm = true, job.control = false;
  EXPECT_EQ(to_text(job_of(to_text(job))), to_text(job));
  const TimingJob back = job_of(to_text(job));
  EXPECT_EQ(back.cells[0].cell, job.cells[0].cell);
  EXPECT_EQ(back.cells[0].rival, "c");
  EXPECT_EQ(back.cells[0].planted_launches, 2);
  EXPECT_EQ(back.rounds, 6);
  EXPECT_TRUE(back.warm && !back.control);

  CellTiming cell = {.cell = parse_cell("a m=1 n=1 k=1 alpha=0.1 offset=1,0,2"),
                     .fault = "a \"fault\"",
                     .wrong = true,
                     .recipe = {{MemsetNode{.value = 5, .width = 8}}},
                     .cubin = "12ab",
                     .no_recipe = "why",
                     .unchanged = true,
                     .cause = "cause",
                     .launches = 4,
                     .cold = 2.5};
  cell.rounds.push_back({Sample{1.25, 1980, 0}, Sample{2.5, 1975, 1ull << 40}, {}, {}});
  const ProcessTiming timing = {.device = {{"key", "lab"}},
                                .canaries = {{"x", 1.5}},
                                .unfit = "unfit",
                                .cells = {cell},
                                .seconds = 3};
  const ProcessTiming copy = timing_of(to_text(timing));
  EXPECT_EQ(to_text(copy), to_text(timing));
  EXPECT_EQ(copy.cells[0].cell, cell.cell);
  EXPECT_EQ(copy.cells[0].recipe, cell.recipe);
  EXPECT_EQ(copy.cells[0].rounds[0][1].throttled, 1ull << 40);
  EXPECT_EQ(copy.cells[0].cold, 2.5);
  EXPECT_TRUE(copy.cells[0].wrong && copy.cells[0].unchanged);
  EXPECT_EQ(copy.cells[0].fault, "a \"fault\"");
}

}  // namespace
