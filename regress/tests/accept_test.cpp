// What is accepted, and what is not, on a laboratory.
#include "regress/store/baseline.h"
#include "regress/tests/laboratory.h"

namespace {

using namespace assay;

TEST_F(GateFlow, writes_the_anchor_once_and_moves_it_when_told) {
  Laboratory lab;
  accept(lab);
  const std::string first = text_of("anchor/lab_a.json");
  ASSERT_FALSE(first.empty());
  for (std::size_t i = 0; i < 10; ++i) lab.cells[cell("lab_a", i)].now = 7;
  accept(lab);
  EXPECT_EQ(text_of("anchor/lab_a.json"), first);
  EXPECT_NE(text_of("lab_a.json"), first);
  lab.anchor_moved = true;
  accept(lab, true);
  EXPECT_NE(text_of("anchor/lab_a.json"), first);
}

TEST_F(GateFlow, accepts_nothing_wrong_slow_or_unfit) {
  Laboratory lab;
  lab.cells[cell("lab_a", 1)].wrong = true;
  lab.cells[cell("lab_b", 2)].time_us = 9000;
  const AcceptReport report = accept(lab);
  EXPECT_EQ(report.cells, 47);
  ASSERT_EQ(report.left_out.size(), 3u);
  const auto told = [&](const std::string& text) {
    return std::any_of(report.left_out.begin(), report.left_out.end(),
                       [&](const std::string& line) { return line.find(text) != line.npos; });
  };
  EXPECT_TRUE(told(name("lab_a", 1) + ": head: 3 of 256 elements are wrong"));
  EXPECT_TRUE(report.wrong);
  EXPECT_TRUE(told(name("lab_b", 2) + ": one launch takes 9.0 ms"));

  const std::string before = text_of("lab_a.json");
  lab.unfit = "throttled";
  EXPECT_EQ(accept(lab).unfit, "throttled");
  EXPECT_EQ(text_of("lab_a.json"), before);
}

// Spoils one cell of the measurement against what was accepted, or of the one beside cuBLAS.
auto spoiler(const Cell& spoilt, bool against_old,
             const std::function<void(CellTiming&, int)>& spoil) {
  return [=](ProcessTiming& timing, const TimingJob& job, int process) {
    if (job.baselines.empty() == against_old) return;
    for (CellTiming& cell : timing.cells) {
      if (cell.cell == spoilt) spoil(cell, process);
    }
  };
}

bool told(const AcceptReport& report, const std::string& text) {
  return std::any_of(report.left_out.begin(), report.left_out.end(),
                     [&](const std::string& line) { return line.find(text) != line.npos; });
}

class Acceptance : public GateFlow {
 protected:
  const CellRecord* stored(const char* variant, std::size_t problem) {
    kept_ = read_baseline(folder_, "lab-1gib");
    return record_of(kept_.accepted, cell(variant, problem));
  }
  Baseline kept_;
};

TEST_F(Acceptance, takes_nothing_that_was_wrong_beside_what_was_accepted) {
  Laboratory lab;
  accept(lab);
  lab.cells[cell("lab_a", 1)].now = 1;
  lab.spoil = spoiler(cell("lab_a", 1), true, [](CellTiming& timing, int process) {
    if (process != 2) return;
    timing.wrong = true;
    timing.fault = "head: 3 of 256 elements are wrong";
  });
  const AcceptReport report = accept(lab);
  EXPECT_TRUE(report.wrong);
  EXPECT_EQ(report.cells, 48);
  EXPECT_TRUE(told(report, name("lab_a", 1) + ": head: 3 of 256 elements are wrong"));
  EXPECT_EQ(stored("lab_a", 1), nullptr);
}

TEST_F(Acceptance, never_stores_that_there_was_nothing_before_where_there_was) {
  Laboratory lab;
  accept(lab);
  const auto faulty_in = [&](int processes) {
    lab.spoil = spoiler(cell("lab_a", 1), true, [processes](CellTiming& timing, int process) {
      if (process < processes) timing.fault = "baseline: it cannot be loaded";
    });
    return accept(lab);
  };
  EXPECT_EQ(faulty_in(1).cells, 49) << "three of four are enough";
  EXPECT_EQ(stored("lab_a", 1)->to_baseline.processes, 3);
  const AcceptReport report = faulty_in(4);
  EXPECT_EQ(report.cells, 48);
  EXPECT_EQ(report.lost, std::vector<Cell>{cell("lab_a", 1)});
  EXPECT_TRUE(told(report, name("lab_a", 1) + ": beside what was accepted, only 0 of 4 processes "
                                              "gave usable data: baseline: it cannot be loaded"));
  EXPECT_EQ(stored("lab_a", 1), nullptr);
  EXPECT_EQ(stored("lab_a", 2)->to_baseline.processes, 4);
  EXPECT_EQ(faulty_in(4).cells, 49) << "now there is nothing before";
}

TEST_F(Acceptance, takes_as_many_usable_processes_as_the_gate) {
  Laboratory lab;
  const auto faulty_in = [&](int processes) {
    lab.spoil = spoiler(cell("lab_a", 1), false, [processes](CellTiming& timing, int process) {
      if (process < processes) timing.fault = "throttled";
    });
    return accept(lab);
  };
  EXPECT_EQ(faulty_in(1).cells, 49);
  const AcceptReport report = faulty_in(2);
  EXPECT_EQ(report.cells, 48);
  EXPECT_EQ(report.lost, std::vector<Cell>{cell("lab_a", 1)});
  EXPECT_TRUE(
      told(report, name("lab_a", 1) + ": only 2 of 4 processes gave usable data: throttled"));
  EXPECT_FALSE(report.wrong);
}

TEST_F(Acceptance, tells_of_every_cell_that_is_no_longer_watched) {
  Laboratory lab;
  lab.cells[cell("lab_b", 2)].time_us = 9000;
  EXPECT_EQ(accept(lab).lost, std::vector<Cell>{}) << "it never was";
  lab.cells[cell("lab_b", 3)].time_us = 9000;
  const AcceptReport report = accept(lab);
  EXPECT_EQ(report.lost, std::vector<Cell>{cell("lab_b", 3)});
  EXPECT_EQ(report.cells, 47);

  // Of another problem that was gated on then, or that the variant no longer accepts.
  Baseline old = read_baseline(folder_, "lab-1gib");
  CellRecord before = old.accepted.at("lab_c").cells[0];
  before.problem = parse_case("m=30 n=50 k=70");
  old.accepted.at("lab_c").cells.push_back(before);
  write_baseline(folder_, old);
  const AcceptReport again = accept(lab);
  EXPECT_EQ(again.lost, std::vector<Cell>{parse_cell("lab_c m=30 n=50 k=70")});
  EXPECT_TRUE(
      told(again, "lab_c m=30 n=50 k=70: it was accepted before, and is no longer gated on"));
}

TEST_F(Acceptance, stores_the_median_canary) {
  Laboratory lab;
  lab.spoil = [](ProcessTiming& timing, const TimingJob&, int process) {
    timing.canaries["memory_gb_s"] = std::array{900.0, 1000.0, 1010.0, 1700.0}.at(process);
  };
  accept(lab);
  EXPECT_EQ(read_baseline(folder_, "lab-1gib").canaries.at("memory_gb_s"), 1005);
}

TEST_F(Acceptance, stores_the_ratio_to_each_of_baseline_and_anchor) {
  Laboratory lab;
  accept(lab);
  EXPECT_EQ(stored("lab_a", 1)->to_anchor.processes, 0) << "there was nothing before";
  lab.cells[cell("lab_a", 1)] = {.slower = 0.02, .now = 1};
  accept(lab);
  EXPECT_NEAR(stored("lab_a", 1)->to_baseline.value, 1.02, 0.002);
  EXPECT_NEAR(stored("lab_a", 1)->to_anchor.value, 1.02, 0.002) << "the anchor was the baseline";
  lab.spoil = spoiler(cell("lab_a", 1), true, [](CellTiming& timing, int) {
    for (Round& round : timing.rounds) {
      round[3] = round[2];
      round[3].time_us /= 1.10;
    }
  });
  accept(lab);
  EXPECT_NEAR(stored("lab_a", 1)->to_baseline.value, 1.02, 0.002);
  EXPECT_NEAR(stored("lab_a", 1)->to_anchor.value, 1.02 * 1.10, 0.002);
}

}  // namespace
