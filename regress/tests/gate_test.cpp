// The course of the gate on a laboratory: what is measured when, and what becomes of it. What the
// numbers mean is for decide_test.
#include <set>

#include "base/errors.h"
#include "regress/tests/laboratory.h"

namespace {

using namespace assay;

TEST_F(GateFlow, accepts_and_finds_nothing_changed) {
  Laboratory lab;
  const AcceptReport accepted = accept(lab);
  EXPECT_EQ(accepted.unfit, "");
  EXPECT_EQ(accepted.accepted,
            (std::vector<std::string>{"lab_a", "lab_b", "lab_c", "lab_d", "lab_picky"}));
  EXPECT_EQ(accepted.cells(), all_cells());
  EXPECT_EQ(accepted.not_gated,
            std::vector<std::string>{"lab_library: its machine code is in a library"});

  lab.asked.clear();
  const GateReport report = gate(lab);
  EXPECT_EQ(report.unfit, "");
  EXPECT_EQ(report.lines.size(), std::size_t(all_cells()));
  EXPECT_EQ(not_same(report), std::vector<std::string>{});
  EXPECT_EQ(report.proven_unchanged, kernel_cells());
  EXPECT_EQ(report.controls, static_cast<int>(std::ceil(0.05 * kernel_cells()))) << "5 % are live";
  EXPECT_EQ(lab.batches(), std::vector<int>{3});
  EXPECT_EQ(read_baseline(folder_, "lab-1gib").canaries, lab.canaries);
  EXPECT_EQ(report.not_gated,
            std::vector<std::string>{"lab_library: its machine code is in a library"});
}

TEST_F(GateFlow, times_what_changed_in_twelve_processes_at_once) {
  Laboratory lab;
  accept(lab);
  for (const char* variant : {"lab_a", "lab_b"}) {
    for (const Case& problem : gate_problems()) lab.cells[{variant, problem}].now = 1;
  }
  lab.cells[cell("lab_b", 3)].slower = 0.02;
  lab.asked.clear();
  const GateReport report = gate(lab);
  EXPECT_EQ(not_same(report), std::vector<std::string>{name("lab_b", 3) + ": slower"});
  EXPECT_EQ(report.proven_unchanged, kernel_cells() - 2 * all_problems());
  EXPECT_EQ(lab.batches(), (std::vector<int>{3, 12}));
  EXPECT_EQ(report.controls, static_cast<int>(std::ceil(0.05 * report.proven_unchanged)));
  EXPECT_EQ(report.confirmed, 2 * all_problems());
  EXPECT_EQ(report.processes, 12);
  EXPECT_LT(report.detectable, 0.01);
  for (const GateLine& line : report.lines) {
    if (line.verdict.outcome != CellOutcome::slower) continue;
    EXPECT_NEAR(line.verdict.ratio, 1.02, 0.002);
    EXPECT_NEAR(line.verdict.anchor_ratio, 1.02, 0.002) << "the anchor is the baseline still";
    EXPECT_EQ(line.cause, "memset value 0 -> 1");
    EXPECT_NEAR(line.head_us, 48.96, 0.2);
    EXPECT_NEAR(line.baseline_us, 48, 0.2);
    EXPECT_EQ(line.clock_mhz, 1980);
    EXPECT_EQ(line.rounds.size(), 12u);
  }
  for (const auto& [job, processes] : lab.asked) {
    if (job.rounds == 0) continue;
    for (const CellJob& asked : job.cells) {
      const int launches = asked.cell.host ? 0 : 6;
      EXPECT_EQ(asked.launches, launches) << "250 us of 48 us each, in every process";
    }
  }
}

// A cudaGetDeviceProperties in every launch, 28 ns with CUDA 13, or a wait for the stream: the
// recipe is the same. Beside it are 180 ns of empty launches.
TEST_F(GateFlow, sees_what_a_launch_takes_on_the_host) {
  Laboratory lab;
  const Cell host = {"lab_a", gate_problems()[0], true};
  const auto takes = [&](double ns) { lab.cells[host] = {.slower = ns / 180, .time_us = 0.18}; };
  takes(5);
  accept(lab);
  EXPECT_EQ(not_same(gate(lab)), std::vector<std::string>{});
  EXPECT_EQ(lab.batches().back(), 3) << "few processes settle it";
  takes(15);
  EXPECT_EQ(not_same(gate(lab)), std::vector<std::string>{}) << "hosts and builds differ by that";

  lab.spoil = [](ProcessTiming& timing, const TimingJob&, int process) {
    for (CellTiming& cell : timing.cells) {  // 2 % from process to process
      for (Round& round : cell.rounds) round[2].time_us *= 1 + (process % 3 - 1) * 0.02;
    }
  };
  EXPECT_EQ(not_same(gate(lab, {.cell = host})), std::vector<std::string>{});
  takes(5 + 28);
  EXPECT_EQ(not_same(gate(lab, {.cell = host})),
            std::vector<std::string>{to_string(host) + ": slower"});
  lab.spoil = nullptr;

  const GateReport report = gate(lab);
  ASSERT_EQ(not_same(report), std::vector<std::string>{to_string(host) + ": slower"});
  EXPECT_EQ(report.proven_unchanged, kernel_cells());
  EXPECT_EQ(lab.batches().back(), 12);
  EXPECT_NEAR(noteworthy(report)[0]->verdict.ratio, 213.0 / 185, 0.01);
  EXPECT_EQ(gate(lab, {.cell = cell("lab_a")}).lines.size(), 1u) << "it was asked about another";

  takes(-40);
  EXPECT_EQ(not_same(gate(lab)), std::vector<std::string>{to_string(host) + ": faster"});
  lab.cells[host] = {.slower = 0.03, .twin = 0.9};
  EXPECT_EQ(not_same(gate(lab)), std::vector<std::string>{to_string(host) + ": invalid"});
}

TEST_F(GateFlow, draws_other_operands_for_every_batch) {
  Laboratory lab;
  accept(lab);
  lab.cells[cell("lab_a")].now = 1;
  lab.spoil = [](ProcessTiming& timing, const TimingJob&, int process) {
    for (CellTiming& cell : timing.cells) {  // too noisy for a verdict
      for (Round& round : cell.rounds) round[2].time_us *= process % 2 == 0 ? 1.05 : 0.95;
    }
  };
  lab.asked.clear();
  gate(lab, {.cell = cell("lab_a"), .seed = 7});
  EXPECT_EQ(lab.batches(), (std::vector<int>{12, 36})) << "as many as its noise asks for";
  std::set<std::uint64_t> seeds;
  for (const auto& [job, processes] : lab.asked) {
    if (job.rounds > 0) seeds.insert(job.seed);
  }
  EXPECT_EQ(seeds.size(), 2u) << "the same operands would repeat the luck of the first batch";

  lab.asked.clear();
  const GateReport report = gate(lab, {.cell = cell("lab_a"), .rule = {.confirm_processes = 40}});
  EXPECT_EQ(lab.batches().front(), 40) << "as `undecided` advised";
  EXPECT_EQ(report.processes, 40);
}

TEST_F(GateFlow, calls_a_difference_in_unchanged_code_a_fault_of_the_measurement) {
  Laboratory lab;
  accept(lab);
  for (const char* variant : {"lab_a", "lab_b", "lab_c", "lab_d", "lab_picky"}) {
    for (const Case& problem : gate_problems()) lab.cells[{variant, problem}].slower = 0.03;
  }
  const GateReport report = gate(lab);
  EXPECT_EQ(not_same(report).size(), std::size_t(report.controls));
  for (const std::string& line : not_same(report)) EXPECT_NE(line.find("invalid"), line.npos);
}

TEST_F(GateFlow, says_invalid_where_the_control_is_off) {
  Laboratory lab;
  accept(lab);
  lab.cells[cell("lab_a")] = {.twin = 0.03, .now = 1};
  EXPECT_EQ(not_same(gate(lab)), std::vector<std::string>{name("lab_a") + ": invalid"});
}

TEST_F(GateFlow, goes_on_without_a_process_that_died) {
  Laboratory lab;
  accept(lab);
  lab.cells[cell("lab_a")] = {.slower = 0.05, .now = 1};
  lab.dying = 1;
  EXPECT_EQ(not_same(gate(lab, {.cell = cell("lab_a")})),
            std::vector<std::string>{name("lab_a") + ": slower"});
  lab.dying = 11;
  EXPECT_EQ(not_same(gate(lab, {.cell = cell("lab_a")})),
            std::vector<std::string>{name("lab_a") + ": invalid"});
}

TEST_F(GateFlow, believes_nothing_that_was_measured_beside_others) {
  Laboratory lab;
  accept(lab);
  lab.cells[cell("lab_a")] = {.slower = 0.05, .now = 1};
  lab.shared = 11;
  EXPECT_EQ(not_same(gate(lab, {.cell = cell("lab_a")})),
            std::vector<std::string>{name("lab_a") + ": invalid"});

  const std::string before = text_of("lab_a.json");
  lab.shared = 1;
  EXPECT_EQ(accept(lab).unfit, "1 other process uses this GPU");
  EXPECT_EQ(text_of("lab_a.json"), before);
}

// A __constant__ that the first launch sets up is not in a copy of the machine code.
TEST_F(GateFlow, calls_nothing_wrong_that_its_launch_sets_up) {
  const std::string why =
      "its launch sets up the variable table, and without that its machine "
      "code gives wrong results";
  Laboratory lab;
  accept(lab);
  for (const Case& problem : gate_problems()) lab.cells[{"lab_a", problem}].no_recipe = why;
  const GateReport report = gate(lab, {.variants = {"lab_a"}});
  EXPECT_EQ(not_same(report), std::vector<std::string>{}) << "its launch itself is timed";
  EXPECT_EQ(report.confirmed, all_problems());
  const std::string before = text_of("lab_a.json");
  const AcceptReport again = accept(lab);
  EXPECT_FALSE(again.wrong);
  EXPECT_TRUE(std::ranges::count(again.not_gated, "lab_a: " + why));
  EXPECT_EQ(text_of("lab_a.json"), before);
  std::filesystem::remove(folder_ / "lab-1gib" / "lab_a.json");
  std::filesystem::remove(folder_ / "lab-1gib" / "anchor" / "lab_a.json");
  EXPECT_TRUE(std::ranges::count(gate(lab).not_gated, "lab_a: " + why));
}

TEST_F(GateFlow, tells_a_wrong_result) {
  Laboratory lab;
  accept(lab);
  lab.cells[cell("lab_a")] = {.now = 1, .wrong = true};
  const GateReport report = gate(lab);
  EXPECT_EQ(not_same(report), std::vector<std::string>{name("lab_a") + ": wrong"});
}

TEST_F(GateFlow, tells_a_result_that_was_wrong_once) {
  Laboratory lab;
  accept(lab);
  lab.cells[cell("lab_a")] = {.slower = 0.05, .now = 1, .wrong_at_last = true};
  EXPECT_EQ(not_same(gate(lab)), std::vector<std::string>{name("lab_a") + ": wrong"});
  const AcceptReport report = accept(lab);
  EXPECT_TRUE(report.wrong);
  EXPECT_EQ(report.refused, std::vector<std::string>{"lab_a"});
}

// flashinfer-ai/flashinfer#4468: a cache that stayed warm, and nobody saw
TEST_F(GateFlow, believes_no_warm_cache) {
  Laboratory lab;
  accept(lab);
  for (const double cold : {1.0, 1.2, 0.0, std::nan("")}) {
    lab.cells[cell("lab_a")] = {.slower = 0.05, .now = 1, .cold = cold};
    EXPECT_EQ(not_same(gate(lab, {.cell = cell("lab_a")})),
              std::vector<std::string>{name("lab_a") + ": invalid"});
  }
}

TEST_F(GateFlow, is_void_on_an_unfit_machine) {
  Laboratory lab;
  accept(lab);
  lab.cells[cell("lab_a")] = {.slower = 0.05, .now = 1};
  lab.canaries["memory_gb_s"] = 1040;
  const auto faults = not_same(gate(lab, {.cell = cell("lab_a")}));
  EXPECT_EQ(faults, std::vector<std::string>{name("lab_a") + ": invalid"});
  lab.canaries["memory_gb_s"] = 1020;
  EXPECT_EQ(not_same(gate(lab, {.cell = cell("lab_a")})),
            std::vector<std::string>{name("lab_a") + ": slower"});
  lab.canaries["memory_gb_s"] = std::nan("");
  EXPECT_EQ(not_same(gate(lab, {.cell = cell("lab_a")})),
            std::vector<std::string>{name("lab_a") + ": invalid"});
  lab.unfit = "2 other processes use this GPU";
  const GateReport report = gate(lab);
  EXPECT_EQ(report.unfit, "2 other processes use this GPU");
  EXPECT_TRUE(report.lines.empty());
}

TEST_F(GateFlow, knows_new_and_gone_variants) {
  Laboratory lab;
  accept(lab);
  const auto home = folder_ / "lab-1gib";
  std::filesystem::remove(home / "lab_c.json");
  std::filesystem::remove(home / "anchor" / "lab_c.json");
  std::filesystem::copy(home / "lab_a.json", home / "lab_gone.json");
  std::filesystem::copy(home / "anchor" / "lab_a.json", home / "anchor" / "lab_gone.json");
  for (const char* file : {"lab_gone.json", "anchor/lab_gone.json"}) {
    std::string text = text_of(file);
    if (const auto at = text.find("\"lab_a\""); at != text.npos)
      text.replace(at, 7, "\"lab_gone\"");
    std::ofstream(home / file) << text;
  }
  const GateReport report = gate(lab);
  EXPECT_EQ(report.new_variants, std::vector<std::string>{"lab_c"});
  EXPECT_EQ(report.gone_variants, std::vector<std::string>{"lab_gone"});
  EXPECT_EQ(report.lines.size(), std::size_t(all_cells() - all_problems() - 1));
}

TEST_F(GateFlow, launches_nothing_that_is_no_longer_accepted) {
  Laboratory lab;
  accept(lab);
  std::string text = text_of("lab_a.json");
  text.replace(text.find("\"lab_a\""), 7, "\"lab_picky\"");
  std::ofstream(folder_ / "lab-1gib" / "lab_picky.json") << text;
  lab.asked.clear();
  const GateReport report = gate(lab);
  ASSERT_EQ(not_same(report).size(), std::size_t(all_problems() - packed_problems()));
  EXPECT_EQ(not_same(report)[0], name("lab_picky", 6) + ": invalid");
  EXPECT_NE(report.lines[0].verdict.reason.find("no longer accepts"), std::string::npos);
  for (const auto& [job, processes] : lab.asked) {
    for (const CellJob& asked : job.cells) EXPECT_NE(to_string(asked.cell), name("lab_picky", 6));
  }
}

TEST_F(GateFlow, compares_with_what_was_accepted_without_measuring) {
  Laboratory lab;
  const AcceptReport accepted = accept_time({.baselines = folder_.string(),
                                             .reason = "against another commit",
                                             .measured = false,
                                             .provenance = {.commit = "0123"},
                                             .time = lab.time()});
  EXPECT_EQ(accepted.cells(), kernel_cells());
  EXPECT_EQ(lab.batches(), std::vector<int>{});
  lab.cells[cell("lab_a")] = {.slower = 0.05, .now = 1};
  EXPECT_EQ(not_same(gate(lab)), std::vector<std::string>{name("lab_a") + ": slower"});
}

TEST_F(GateFlow, has_no_baseline_for_another_card) {
  Laboratory lab;
  EXPECT_THROW(gate(lab), NoBaseline);
  accept(lab);
  lab.key = "other-2gib";
  EXPECT_THROW(gate(lab), NoBaseline);
}

TEST_F(GateFlow, refuses_a_cell_that_was_never_accepted) {
  Laboratory lab;
  accept(lab);
  const Cell unknown = parse_cell("lab_a m=128 n=128 k=129");
  lab.asked.clear();
  EXPECT_THROW(gate(lab, {.cell = unknown}), BadInput);
  EXPECT_EQ(lab.batches(), std::vector<int>{});
}

TEST(CellCheck, suggests_the_near_ones) {
  Baseline baseline;
  for (const char* problem : {"m=64 n=32 k=16", "m=9 n=9 k=9"})
    baseline.accepted["naive"].cells.push_back({.problem = parse_case(problem)});
  EXPECT_NO_THROW(check_cell(parse_cell("naive m=9 n=9 k=9"), baseline));
  EXPECT_NO_THROW(check_cell(parse_cell("mine m=1 n=1 k=1"), baseline));
  try {
    check_cell(parse_cell("naive m=64 n=32 k=15"), baseline);
    FAIL() << "a cell that is not there";
  } catch (const BadInput& error) {
    EXPECT_STREQ(error.what(),
                 "there is no cell 'naive m=64 n=32 k=15' (did you mean naive m=64 n=32 k=16?); "
                 "there are naive m=64 n=32 k=16; naive m=9 n=9 k=9");
  }
}

TEST(Noteworthy, is_what_is_not_the_same_with_the_worst_first) {
  GateReport report;
  for (const auto& [name, outcome] : {std::pair{"f", CellOutcome::faster},
                                      {"s", CellOutcome::same},
                                      {"n", CellOutcome::no_baseline},
                                      {"i", CellOutcome::invalid},
                                      {"u", CellOutcome::undecided},
                                      {"w", CellOutcome::slower},
                                      {"x", CellOutcome::wrong}})
    report.lines.push_back({.cell = {name, {}}, .verdict = {.outcome = outcome}});
  std::string order;
  for (const GateLine* line : noteworthy(report)) order += line->cell.variant;
  EXPECT_EQ(order, "xwuinf");
}

}  // namespace
