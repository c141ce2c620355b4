// What is accepted, and what is not, on a laboratory.
#include "regress/store/baseline.h"
#include "regress/tests/laboratory.h"

namespace {

using namespace assay;

std::string refusal_of(const AcceptReport& report, const Cell& cell) {
  const auto line = std::ranges::find(report.lines, cell, &AcceptLine::cell);
  return line == report.lines.end() ? "no such cell" : line->refusal;
}

TEST_F(GateFlow, writes_the_anchor_once_and_moves_it_when_told) {
  Laboratory lab;
  accept(lab);
  const std::string first = text_of("anchor/lab_a.json");
  ASSERT_FALSE(first.empty());
  for (const Case& problem : gate_problems()) lab.cells[{"lab_a", problem}].now = 7;
  accept(lab);
  EXPECT_EQ(text_of("anchor/lab_a.json"), first);
  EXPECT_NE(text_of("lab_a.json"), first);
  lab.anchor_moved = true;
  accept(lab, "longer sums are worth it");
  EXPECT_NE(text_of("anchor/lab_a.json"), first);
  EXPECT_NE(text_of("anchor/lab_a.json").find("longer sums are worth it"), std::string::npos);
  EXPECT_EQ(text_of("lab_a.json").find("longer sums"), std::string::npos) << "its own reason";
}

TEST_F(GateFlow, accepts_nothing_wrong_slow_or_unfit) {
  Laboratory lab;
  lab.cells[cell("lab_a", 1)].wrong = true;
  lab.cells[cell("lab_b", 2)].time_us = 9000;
  const AcceptReport report = accept(lab);
  EXPECT_EQ(report.cells(), all_cells() - all_problems() - 2);
  EXPECT_EQ(report.refused, std::vector<std::string>{"lab_a"});
  EXPECT_EQ(refusal_of(report, cell("lab_a", 1)), "head: 3 of 256 elements are wrong");
  EXPECT_TRUE(report.wrong);
  ASSERT_EQ(report.not_gated.size(), 2u);
  EXPECT_TRUE(report.not_gated[1].starts_with(name("lab_b", 2) + ": one launch takes 9.0 ms"));

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
  const std::string before = text_of("lab_a.json");
  const AcceptReport report = accept(lab);
  EXPECT_TRUE(report.wrong);
  EXPECT_EQ(report.refused, std::vector<std::string>{"lab_a"});
  EXPECT_EQ(refusal_of(report, cell("lab_a", 1)), "head: 3 of 256 elements are wrong");
  EXPECT_EQ(text_of("lab_a.json"), before);
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
  EXPECT_EQ(faulty_in(1).cells(), all_cells()) << "three of four are enough";
  EXPECT_EQ(stored("lab_a", 1)->to_baseline.processes, 3);
  const AcceptReport report = faulty_in(4);
  EXPECT_EQ(report.refused, std::vector<std::string>{"lab_a"});
  EXPECT_EQ(refusal_of(report, cell("lab_a", 1)),
            "beside what was accepted, only 0 of 4 processes gave usable data: baseline: it cannot "
            "be loaded");
  EXPECT_EQ(stored("lab_a", 1)->to_baseline.processes, 3) << "as it was";
  EXPECT_EQ(stored("lab_b", 1)->to_baseline.processes, 4);
}

TEST_F(Acceptance, takes_as_many_usable_processes_as_the_gate) {
  Laboratory lab;
  const auto faulty_in = [&](int processes) {
    lab.spoil = spoiler(cell("lab_a", 1), false, [processes](CellTiming& timing, int process) {
      if (process < processes) timing.fault = "throttled";
    });
    return accept(lab);
  };
  EXPECT_EQ(faulty_in(1).cells(), all_cells());
  const AcceptReport report = faulty_in(2);
  EXPECT_EQ(report.refused, std::vector<std::string>{"lab_a"});
  EXPECT_EQ(refusal_of(report, cell("lab_a", 1)),
            "only 2 of 4 processes gave usable data: throttled");
  EXPECT_FALSE(report.wrong);
}

TEST_F(Acceptance, never_drops_a_cell_that_is_watched) {
  Laboratory lab;
  lab.cells[cell("lab_b", 2)].time_us = 9000;
  EXPECT_EQ(accept(lab).refused, std::vector<std::string>{}) << "it never was watched";
  lab.cells[cell("lab_b", 3)].time_us = 9000;
  const std::string before = text_of("lab_b.json");
  const AcceptReport report = accept(lab);
  EXPECT_EQ(report.refused, std::vector<std::string>{"lab_b"});
  EXPECT_EQ(report.cells(), all_cells() - all_problems() - 1);
  EXPECT_EQ(text_of("lab_b.json"), before);

  // Of another problem that was gated on then, or that the variant no longer accepts.
  Baseline old = read_baseline(folder_, "lab-1gib");
  const Baseline seen = old;
  CellRecord dropped = old.accepted.at("lab_c").cells[0];
  dropped.problem = parse_case("m=30 n=50 k=70");
  old.accepted.at("lab_c").cells.push_back(dropped);
  write_baseline(folder_, old, seen);
  const AcceptReport again = accept(lab);
  EXPECT_EQ(again.refused, (std::vector<std::string>{"lab_b", "lab_c"}));
  EXPECT_EQ(
      refusal_of(again, parse_cell("lab_c m=30 n=50 k=70")),
      "it is no longer gated on, and was watched: say `assay accept time --remove \"lab_c m=30 "
      "n=50 k=70\" --reason \"WHY\"`");
}

// 16 % over the anchor was once taken without a word, and passed from then on.
TEST_F(Acceptance, keeps_to_the_budget_of_creep_unless_the_anchor_moves) {
  Laboratory lab;
  accept(lab);
  const std::string before = text_of("lab_a.json");
  lab.cells[cell("lab_a", 1)] = {.slower = 0.16, .now = 1};
  const AcceptReport report = accept(lab);
  EXPECT_EQ(report.refused, std::vector<std::string>{"lab_a"});
  EXPECT_TRUE(refusal_of(report, cell("lab_a", 1)).starts_with("it takes 1.1"));
  EXPECT_TRUE(
      refusal_of(report, cell("lab_a", 1))
          .ends_with(" times as long as the anchor, over the budget of 2 %: make it faster, "
                     "or say --move-anchor \"WHY\""));
  EXPECT_EQ(text_of("lab_a.json"), before);
  EXPECT_EQ(not_same(gate(lab)), std::vector<std::string>{name("lab_a", 1) + ": slower"});

  EXPECT_EQ(accept(lab, "it is right now").refused, std::vector<std::string>{});
  EXPECT_NEAR(stored("lab_a", 1)->to_anchor.value, 1.16, 0.01);
  lab.cells[cell("lab_a", 1)].slower = 0;
  lab.cells[cell("lab_a", 1)].unchanged_as = 1;
  const GateReport after = gate(lab);
  EXPECT_EQ(not_same(after), std::vector<std::string>{});
  ASSERT_EQ(after.moved_anchors.size(), 1u);
  EXPECT_TRUE(after.moved_anchors[0].starts_with(
      fmt::format("lab_a: 1 of {} cells, up to 1.1", all_problems())));
  EXPECT_TRUE(after.moved_anchors[0].ends_with("because: it is right now"));
  EXPECT_EQ(gate(lab, {.variants = {"lab_b"}}).moved_anchors.size(), 0u);
}

TEST_F(Acceptance, measures_nothing_beside_canaries_that_are_off) {
  Laboratory lab;
  accept(lab);
  const std::string before = text_of("lab_a.json"), card = text_of("device.json");
  lab.canaries["memory_gb_s"] = 900;
  EXPECT_EQ(accept(lab).unfit,
            "the canary memory_gb_s is -10.0 % off: 900, and 1000 at acceptance; if the driver or "
            "the card was changed on purpose, accept all variants with --upgrade");
  EXPECT_EQ(text_of("lab_a.json"), before);
  lab.canaries["memory_gb_s"] = 1010;
  EXPECT_EQ(accept(lab).unfit, "");
  EXPECT_EQ(text_of("device.json"), card) << "shared by all variants, so nobody rewrites it";
  lab.canaries["memory_gb_s"] = 900;
  EXPECT_EQ(accept(lab, "", true).unfit, "");
  EXPECT_EQ(read_baseline(folder_, "lab-1gib").canaries.at("memory_gb_s"), 900);
}

TEST_F(Acceptance, tells_every_ratio) {
  Laboratory lab;
  accept(lab);
  lab.cells[cell("lab_a", 1)] = {.slower = 0.01, .now = 1};
  lab.cells[cell("lab_b", 1)] = {.slower = 0.05, .now = 1};
  const AcceptReport report = accept(lab);
  EXPECT_EQ(report.lines.size(), std::size_t(all_cells()));
  for (const AcceptLine& line : report.lines) {
    const double expected = line.cell == cell("lab_a", 1)   ? 1.01
                            : line.cell == cell("lab_b", 1) ? 1.05
                                                            : 1;
    EXPECT_NEAR(line.to_baseline.value, expected, 0.002) << to_string(line.cell);
    if (line.cell.host) continue;
    EXPECT_NEAR(line.to_anchor.value, expected, 0.002) << to_string(line.cell);
  }
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
  lab.cells[cell("lab_a", 1)] = {.slower = 0.015, .now = 1};
  accept(lab);
  EXPECT_NEAR(stored("lab_a", 1)->to_baseline.value, 1.015, 0.002);
  EXPECT_NEAR(stored("lab_a", 1)->to_anchor.value, 1.015, 0.002) << "the anchor was the baseline";
  lab.spoil = spoiler(cell("lab_a", 1), true, [](CellTiming& timing, int) {
    for (Round& round : timing.rounds) {
      round[3] = round[2];
      round[3].time_us /= 1.10;
    }
  });
  accept(lab, "a test of ratios");
  EXPECT_NEAR(stored("lab_a", 1)->to_baseline.value, 1.015, 0.002);
  EXPECT_NEAR(stored("lab_a", 1)->to_anchor.value, 1.015 * 1.10, 0.002);
}

}  // namespace
