// The commands that baselines/README.md gives for other cards, compilers and merges, on a
// laboratory; and docs/measured.md's table of holes.
#include <sstream>

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

std::string text_in(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Each line of the table, cut at its bars, and each test that its third field names.
TEST(Holes, each_have_tests_that_exist) {
  const std::filesystem::path root = std::filesystem::path(ASSAY_BASELINES).parent_path();
  std::string tests;
  for (const char* folder : {"regress/tests", "cli/tests"}) {
    for (const auto& entry : std::filesystem::directory_iterator(root / folder)) {
      if (entry.path().extension() == ".cpp") tests += text_in(entry.path());
    }
  }
  const std::string page = text_in(root / "docs/measured.md");
  std::istringstream table(page.substr(page.find("| hole | now | test |")));
  int holes = -2;  // the head and the line below it
  for (std::string line; std::getline(table, line) && !line.empty(); ++holes) {
    if (holes < 0) continue;
    std::vector<std::string> fields;
    std::istringstream words(line);
    for (std::string field; std::getline(words, field, '|');) fields.push_back(field);
    ASSERT_GE(fields.size(), 4u) << line;
    std::istringstream names(fields[3]);
    int named = 0;
    for (std::string between, name;
         std::getline(names, between, '`') && std::getline(names, name, '`'); ++named)
      EXPECT_NE(tests.find(", " + name + ")"), tests.npos) << name << " is no test";
    EXPECT_GT(named, 0) << line;
  }
  EXPECT_EQ(holes, 13);
}

}  // namespace
