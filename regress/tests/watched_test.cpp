// What the gate watches, what it does not, and what a change may accept itself.
#include "regress/watched.h"

#include "base/errors.h"
#include "regress/store/changes.h"
#include "regress/tests/laboratory.h"

namespace {

using namespace assay;

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
  ASSERT_EQ(found.without_record.size(), std::size_t(all_problems() + 2)) << "also of its launch";
  EXPECT_EQ(found.without_record[0], name("lab_a", 3));
  EXPECT_EQ(found.without_record[1], name("lab_c", 0)) << "a record without cells";
  ASSERT_EQ(found.without_anchor.size(), std::size_t(all_problems()));
  EXPECT_TRUE(found.without_anchor[0].starts_with("lab_d "));
  EXPECT_EQ(gate(lab, {.variants = {"lab_picky"}}).unwatched, Unwatched());
  EXPECT_EQ(gate(lab, {.cell = cell("lab_a")}).unwatched, Unwatched()) << "it was asked about one";

  // A problem that was not watched before gets its anchor; a lost one does not come back unasked.
  const AcceptReport report = accept(lab);
  EXPECT_EQ(report.refused, std::vector<std::string>{"lab_d"});
  const Baseline after = read_baseline(folder_, lab.key);
  EXPECT_EQ(after.anchor.at("lab_c").cells.size(), std::size_t(all_problems()));
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
  ASSERT_EQ(after.anchor.at("lab_a").cells.size(), std::size_t(all_problems()));
  EXPECT_EQ(after.anchor.at("lab_a").provenance.commit, "first");
  EXPECT_EQ(after.anchor.at("lab_a").cells.rbegin()[1].commit, "");
  EXPECT_EQ(after.anchor.at("lab_a").cells.rbegin()[0].commit, "0123")
      << "so that it can be rebuilt";
}

// A problem that was added to the list, beside records of before that knew no host's time.
TEST_F(GateFlow, accepts_only_what_is_new) {
  Laboratory lab;
  lab.cells[cell("lab_b", 2)].first_us = 20000;
  accept(lab);
  EXPECT_EQ(gate(lab).unwatched.for_a_reason,
            std::vector<std::string>{name("lab_b", 2) + ": one launch takes 20.0 ms, and more than "
                                                        "6 ms are not gated"});
  const Baseline seen = read_baseline(folder_, lab.key);
  Baseline fewer = seen;
  for (auto* variants : {&fewer.accepted, &fewer.anchor}) {
    auto& cells = variants->at("lab_a").cells;
    std::erase_if(cells, [](const CellRecord& r) { return r.problem == gate_problems().back(); });
    for (CellRecord& record : cells) record.launch_to_empty = {};
  }
  write_baseline(folder_, fewer, seen);
  EXPECT_EQ(gate(lab).unwatched.without_record,
            (std::vector<std::string>{name("lab_a", gate_problems().size() - 1),
                                      to_string(Cell{"lab_a", gate_problems()[0], true})}));
  const std::string other = text_of("lab_b.json");
  lab.asked.clear();
  lab.cells[cell("lab_a", 1)] = {.slower = 0.5, .now = 1};
  const AcceptReport report = accept_time({.baselines = folder_.string(),
                                           .reason = "a new problem",
                                           .only_new = true,
                                           .processes = 4,
                                           .provenance = {.commit = "4567"},
                                           .time = lab.time()});
  EXPECT_EQ(report.cells(), 2);
  EXPECT_EQ(report.accepted, std::vector<std::string>{"lab_a"});
  EXPECT_EQ(lab.batches(), std::vector<int>{4}) << "there is nothing to time it beside";
  EXPECT_EQ(text_of("lab_b.json"), other);
  const Baseline after = read_baseline(folder_, lab.key);
  const VariantBaseline &accepted = after.accepted.at("lab_a"),
                        &before = fewer.accepted.at("lab_a");
  EXPECT_EQ(accepted.provenance, before.provenance);
  EXPECT_EQ(accepted.cells.at(1), before.cells.at(1)) << "slower or not, it stays as it was";
  EXPECT_EQ(accepted.cells.back().commit, "4567");
  EXPECT_EQ(accepted.cells.back().reason, "a new problem");
  EXPECT_EQ(after.anchor.at("lab_a").cells.back().commit, "4567");
  EXPECT_GT(record_of(after.accepted, cell("lab_a"))->launch_to_empty.processes, 0);
  const auto told = changes(fewer, after);
  ASSERT_EQ(told.size(), 2u) << "an anchor that gained a problem has not moved";
  EXPECT_NE(told[0].find("lab_a host m="), std::string::npos) << told[0];
  EXPECT_TRUE(told[1].ends_with("because: a new problem")) << told[1];
}

TEST_F(GateFlow, gives_up_with_a_reason_that_stays) {
  Laboratory lab;
  accept(lab);
  const Provenance why = {.date = "2026-01-31", .reason = "too much alike"};
  EXPECT_THROW(give_up(folder_, {"lab_a", "lab_q"}, why), BadInput);
  EXPECT_EQ(gate(lab).lines.size(), std::size_t(all_cells())) << "nothing was changed";
  EXPECT_EQ(give_up(folder_, {"lab_a", name("lab_b", 3)}, why),
            (std::vector<std::string>{"lab-1gib: lab_a", "lab-1gib: " + name("lab_b", 3)}));
  const GateReport report = gate(lab);
  EXPECT_EQ(report.lines.size(), std::size_t(all_cells() - all_problems() - 2));
  EXPECT_EQ(report.new_variants, std::vector<std::string>{});
  EXPECT_EQ(report.not_gated[0], "lab_a: given up on 2026-01-31, because: too much alike");
  EXPECT_EQ(report.unwatched.for_a_reason,
            std::vector<std::string>{name("lab_b", 3) +
                                     ": given up on 2026-01-31, because: too much alike"});
  EXPECT_EQ(report.unwatched.without_record, std::vector<std::string>{});
  accept(lab);
  EXPECT_EQ(gate(lab).lines.size(), std::size_t(all_cells()))
      << "accepted again, it is watched again";
}

// A change that makes a kernel slower and accepts that itself.
TEST_F(GateFlow, measures_a_change_by_what_was_accepted_before_it) {
  Laboratory lab;
  accept(lab);
  const auto before = folder_ / ".before";
  std::filesystem::create_directories(before);
  std::filesystem::copy(folder_ / "lab-1gib", before / "lab-1gib",
                        std::filesystem::copy_options::recursive);
  lab.cells[cell("lab_a", 1)] = {.slower = 0.16, .now = 1};
  accept(lab, "right now");
  GateOptions options = {.before = before, .after = folder_};
  options.baselines = before;
  options.time = lab.time();
  const GateReport judged = gate_time(options);
  EXPECT_EQ(not_same(judged), std::vector<std::string>{name("lab_a", 1) + ": slower"});
  const auto& told = judged.accepted_here;
  ASSERT_EQ(told.size(), std::size_t(all_cells() + 5)) << "cells, and five anchors";
  const auto of_cell = std::ranges::find_if(
      told, [](const std::string& line) { return line.starts_with(name("lab_a", 1)); });
  ASSERT_NE(of_cell, told.end());
  EXPECT_NE(of_cell->find(": 1.1"), std::string::npos) << *of_cell;
  EXPECT_TRUE(of_cell->ends_with(" of the anchor's, because: a test"));
  EXPECT_TRUE(std::ranges::count(told, "lab_a: its anchor moved, because: right now"));

  lab.cells[cell("lab_a", 1)] = {.now = 1, .unchanged_as = 1};
  options.baselines = folder_;  // accepted by review
  EXPECT_EQ(not_same(gate_time(options)), std::vector<std::string>{});

  give_up(folder_, {"lab_b"}, {.date = "2026-01-31", .reason = "too much alike"});
  options.baselines = before;
  EXPECT_TRUE(std::ranges::count(gate_time(options).accepted_here,
                                 "lab_b: no longer watched: too much alike"));
  std::filesystem::remove(folder_ / "lab-1gib" / "lab_c.json");
  EXPECT_TRUE(std::ranges::count(gate_time(options).accepted_here,
                                 "lab_c: no longer watched: no reason is given"));
  options.variants = {"lab_c"};
  EXPECT_EQ(gate_time(options).accepted_here,
            (std::vector<std::string>{"lab_c: no longer watched: no reason is given",
                                      "lab_c: its anchor moved, because: right now"}))
      << "it was asked about this one";
  options.variants.clear();
  options.after = before;
  EXPECT_EQ(gate_time(options).accepted_here, std::vector<std::string>{});
}

}  // namespace
