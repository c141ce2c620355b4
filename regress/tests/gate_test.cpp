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
  EXPECT_EQ(accepted.cells(), 49);
  EXPECT_EQ(accepted.not_gated,
            std::vector<std::string>{"lab_library: its machine code is in a library"});

  lab.asked.clear();
  const GateReport report = gate(lab);
  EXPECT_EQ(report.unfit, "");
  EXPECT_EQ(report.lines.size(), 49u);
  EXPECT_EQ(not_same(report), std::vector<std::string>{});
  EXPECT_EQ(report.proven_unchanged, 49);
  EXPECT_EQ(report.controls, 3) << "5 % of 49 are live controls";
  EXPECT_EQ(report.screened, 3);
  EXPECT_EQ(lab.batches(), std::vector<int>{3});
  EXPECT_EQ(read_baseline(folder_, "lab-1gib").canaries, lab.canaries);
  EXPECT_EQ(report.not_gated,
            std::vector<std::string>{"lab_library: its machine code is in a library"});
}

TEST_F(GateFlow, screens_what_changed_and_confirms_what_is_slow) {
  Laboratory lab;
  accept(lab);
  for (const char* variant : {"lab_a", "lab_b"}) {
    for (std::size_t i = 0; i < 10; ++i) lab.cells[cell(variant, i)].now = 1;
  }
  lab.cells[cell("lab_b", 3)].slower = 0.02;
  lab.asked.clear();
  const GateReport report = gate(lab);
  EXPECT_EQ(not_same(report), std::vector<std::string>{name("lab_b", 3) + ": slower"});
  EXPECT_EQ(report.proven_unchanged, 29);
  EXPECT_EQ(report.screened, 22);
  EXPECT_EQ(lab.batches(), (std::vector<int>{3, 12}));
  EXPECT_LE(report.confirmed, 3);
  EXPECT_LT(report.detectable, 0.01);
  for (const GateLine& line : report.lines) {
    if (line.verdict.outcome != CellOutcome::slower) continue;
    EXPECT_NEAR(line.verdict.ratio, 1.02, 0.002);
    EXPECT_NEAR(line.verdict.anchor_ratio, 1.02, 0.002) << "the anchor is the baseline still";
    EXPECT_EQ(line.cause, "memset value 0 -> 1");
    EXPECT_NEAR(line.head_us, 48.96, 0.2);
    EXPECT_NEAR(line.baseline_us, 48, 0.2);
    EXPECT_EQ(line.clock_mhz, 1980);
    EXPECT_EQ(line.rounds.size(), 15u);
  }
  for (const auto& [job, processes] : lab.asked) {
    if (job.rounds == 0) continue;
    for (const CellJob& asked : job.cells)
      EXPECT_EQ(asked.launches, 6) << "250 us of 48 us each, in every process";
  }
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
  EXPECT_EQ(lab.batches(), (std::vector<int>{3, 12, 12}));
  std::set<std::uint64_t> seeds;
  for (const auto& [job, processes] : lab.asked) {
    if (job.rounds > 0) seeds.insert(job.seed);
  }
  EXPECT_EQ(seeds.size(), 3u) << "the same operands would repeat the luck of the screen";
}

TEST_F(GateFlow, calls_a_difference_in_unchanged_code_a_fault_of_the_measurement) {
  Laboratory lab;
  accept(lab);
  for (const char* variant : {"lab_a", "lab_b", "lab_c", "lab_d", "lab_picky"}) {
    for (std::size_t i = 0; i < 10; ++i) lab.cells[cell(variant, i)].slower = 0.03;
  }
  const GateReport report = gate(lab);
  EXPECT_EQ(not_same(report).size(), 3u);
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

// An acceptance over the budget, from before it was refused.
TEST_F(GateFlow, goes_on_reporting_what_was_accepted_over_the_budget) {
  Laboratory lab;
  accept(lab);
  Baseline stored = read_baseline(folder_, lab.key);
  const Baseline before = stored;
  CellRecord& record = stored.accepted.at("lab_a").cells.at(2);
  record.to_anchor = {.value = 1.163, .low = 1.16, .high = 1.17, .processes = 12};
  record.recipe = recipe_with(9);
  lab.cells[{"lab_a", record.problem}] = {.now = 9, .unchanged_as = 9};
  write_baseline(folder_, stored, before);
  for (const bool all : {false, true}) {
    const GateReport report = gate(lab, {.remeasure_unchanged = all});
    ASSERT_EQ(not_same(report),
              std::vector<std::string>{to_string(Cell{"lab_a", record.problem}) + ": slower"});
    const CellVerdict& verdict = noteworthy(report).at(0)->verdict;
    EXPECT_TRUE(verdict.crept);
    EXPECT_EQ(verdict.anchor_ratio, 1.163);
    EXPECT_NE(verdict.reason.find("accepted over the budget of creep, on 20"), std::string::npos);
    EXPECT_NE(verdict.reason.find("because: a test; make it faster, or"), std::string::npos);
  }
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
  EXPECT_EQ(report.lines.size(), 39u);
}

TEST_F(GateFlow, tells_every_cell_that_is_not_watched) {
  Laboratory lab;
  lab.cells[cell("lab_b", 2)].time_us = 9000;
  accept(lab);
  EXPECT_EQ(gate(lab).unwatched,
            (Unwatched{.for_a_reason = {name("lab_b", 2) + ": one launch takes 9.0 ms, and more "
                                                           "than 6 ms are not gated"}}));

  const Baseline seen = read_baseline(folder_, lab.key);
  Baseline next = seen;
  std::erase_if(next.accepted["lab_a"].cells,
                [](const CellRecord& record) { return record.problem == gate_problems()[3]; });
  next.accepted["lab_c"].cells.clear();
  next.anchor.erase("lab_d");
  write_baseline(folder_, next, seen);
  const Unwatched found = gate(lab).unwatched;
  EXPECT_EQ(found.for_a_reason.size(), 1u);
  ASSERT_EQ(found.without_record.size(), 11u);
  EXPECT_EQ(found.without_record[0], name("lab_a", 3));
  EXPECT_EQ(found.without_record[1], name("lab_c", 0)) << "a record without cells";
  ASSERT_EQ(found.without_anchor.size(), 10u);
  EXPECT_TRUE(found.without_anchor[0].starts_with("lab_d "));
  EXPECT_EQ(gate(lab, {.variants = {"lab_picky"}}).unwatched, Unwatched());
  EXPECT_EQ(gate(lab, {.cell = cell("lab_a")}).unwatched, Unwatched()) << "it was asked about one";

  // A problem that was not watched before gets its anchor; a lost one does not come back unasked.
  const AcceptReport report = accept(lab);
  EXPECT_EQ(report.refused, std::vector<std::string>{"lab_d"});
  const Baseline after = read_baseline(folder_, lab.key);
  EXPECT_EQ(after.anchor.at("lab_c").cells.size(), 10u);
  EXPECT_EQ(accept(lab, "nobody knows it any more").refused, std::vector<std::string>{});
  EXPECT_EQ(gate(lab).unwatched.without_anchor, std::vector<std::string>{});
}

TEST_F(GateFlow, watches_a_new_problem_from_its_own_commit_on) {
  Laboratory lab;
  accept(lab);
  const Baseline seen = read_baseline(folder_, lab.key);
  Baseline fewer = seen;
  for (auto* variants : {&fewer.accepted, &fewer.anchor}) variants->at("lab_a").cells.pop_back();
  fewer.anchor.at("lab_a").provenance.commit = "first";
  write_baseline(folder_, fewer, seen);
  accept(lab);
  const Baseline after = read_baseline(folder_, lab.key);
  ASSERT_EQ(after.anchor.at("lab_a").cells.size(), 10u);
  EXPECT_EQ(after.anchor.at("lab_a").provenance.commit, "first");
  EXPECT_EQ(after.anchor.at("lab_a").cells[8].commit, "");
  EXPECT_EQ(after.anchor.at("lab_a").cells[9].commit, "0123") << "so that it can be rebuilt";
}

TEST_F(GateFlow, gives_up_with_a_reason_that_stays) {
  Laboratory lab;
  accept(lab);
  const Provenance why = {.date = "2026-01-31", .reason = "too much alike"};
  EXPECT_THROW(give_up(folder_, {"lab_a", "lab_q"}, why), BadInput);
  EXPECT_EQ(gate(lab).lines.size(), 49u) << "nothing was changed";
  EXPECT_EQ(give_up(folder_, {"lab_a", name("lab_b", 3)}, why),
            (std::vector<std::string>{"lab-1gib: lab_a", "lab-1gib: " + name("lab_b", 3)}));
  const GateReport report = gate(lab);
  EXPECT_EQ(report.lines.size(), 38u);
  EXPECT_EQ(report.new_variants, std::vector<std::string>{});
  EXPECT_EQ(report.not_gated[0], "lab_a: given up on 2026-01-31, because: too much alike");
  EXPECT_EQ(report.unwatched.for_a_reason,
            std::vector<std::string>{name("lab_b", 3) +
                                     ": given up on 2026-01-31, because: too much alike"});
  EXPECT_EQ(report.unwatched.without_record, std::vector<std::string>{});
  accept(lab);
  EXPECT_EQ(gate(lab).lines.size(), 49u) << "accepted again, it is watched again";
}

TEST_F(GateFlow, launches_nothing_that_is_no_longer_accepted) {
  Laboratory lab;
  accept(lab);
  std::string text = text_of("lab_a.json");
  text.replace(text.find("\"lab_a\""), 7, "\"lab_picky\"");
  std::ofstream(folder_ / "lab-1gib" / "lab_picky.json") << text;
  lab.asked.clear();
  const GateReport report = gate(lab);
  ASSERT_EQ(not_same(report), std::vector<std::string>{name("lab_picky", 6) + ": invalid"});
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
  EXPECT_EQ(accepted.cells(), 49);
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
