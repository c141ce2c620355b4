// The commands that baselines/README.md gives for other cards, compilers and merges, on a
// laboratory.
#include "regress/tests/laboratory.h"

namespace {

using namespace assay;

TEST_F(GateFlow, accepts_on_a_second_card_beside_the_first) {
  Laboratory lab;
  accept(lab);
  const std::string first = text_of("lab_a.json");
  lab.key = "other-2gib";
  lab.canaries["memory_gb_s"] = 300;
  const AcceptReport report = accept(lab);
  EXPECT_EQ(report.unfit, "") << "the canaries of another card say nothing of this one";
  EXPECT_TRUE(report.folder.ends_with("/other-2gib"));
  EXPECT_EQ(text_of("lab_a.json"), first);
  EXPECT_EQ(gate(lab).lines.size(), std::size_t(all_cells()));
  EXPECT_EQ(stored_gpus(folder_), (std::vector<std::string>{"lab-1gib", "other-2gib"}));
}

TEST_F(GateFlow, tells_a_new_compiler_when_everything_changed) {
  Laboratory lab;
  accept(lab);
  EXPECT_EQ(gate(lab, {.compiler = "nvcc 14"}).other_compiler, "") << "nothing changed";
  change_everything(lab);
  const GateReport report = gate(lab, {.compiler = "nvcc 14"});
  EXPECT_EQ(not_same(report), std::vector<std::string>{});
  EXPECT_EQ(report.other_compiler,
            "every cell changed with the compiler, nvcc 13 -> nvcc 14: where that is all, accept "
            "what is not slower with `assay accept time --upgrade --reason \"nvcc 14\"`");
  EXPECT_EQ(gate(lab, {.compiler = "nvcc 13"}).other_compiler, "") << "somebody changed the code";

  // The driver came with it.
  lab.canaries["memory_gb_s"] = 900;
  EXPECT_NE(accept(lab).unfit, "");
  const AcceptReport accepted = accept(lab, "", true);
  EXPECT_EQ(accepted.unfit, "");
  EXPECT_EQ(accepted.cells(), all_cells());
  for (auto& [cell, truth] : lab.cells) truth.unchanged_as = 1;
  EXPECT_EQ(gate(lab).proven_unchanged, kernel_cells());
}

TEST_F(GateFlow, gives_verdicts_on_a_card_at_its_power_limit) {
  Laboratory lab;
  accept(lab);
  lab.cells[cell("lab_a")] = {.slower = 0.05, .now = 1};
  EXPECT_FALSE(gate(lab).at_power_limit);
  lab.spoil = [](ProcessTiming& timing, const TimingJob&, int) {
    for (CellTiming& cell : timing.cells) {
      for (Round& round : cell.rounds) {
        for (Sample& sample : round) sample.throttled = sample.time_us > 0 ? 4 : 0;
      }
    }
  };
  const GateReport report = gate(lab);
  EXPECT_EQ(not_same(report), std::vector<std::string>{name("lab_a") + ": slower"});
  EXPECT_TRUE(report.at_power_limit);
}

}  // namespace
