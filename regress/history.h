// How each cell's time came about, commit by commit, from the results of many gates on one card.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "regress/cell.h"

namespace assay {

// One gate.
struct HistoryRun {
  std::string file;
  std::string commit, parent, commit_date, date, compiler, driver;
};

// What a gate said of one cell.
struct HistoryPoint {
  std::string status;  // "same", "slower", ...
  double time_us = 0;  // as measured, or as accepted where it is proven unchanged; 0: unknown
  double to_anchor = 0;
  int processes = 0;  // 0 where it was not timed
  std::string anchor_commit, cause;
};

struct History {
  std::string gpu;
  std::vector<HistoryRun> runs;  // by the date of their commits, then by their own
  std::map<Cell, std::vector<std::optional<HistoryPoint>>> cells;  // a point for each run
  std::vector<std::string> left_out;                               // "FILE: why"
};

// Reads results of `assay gate time --json`, and all in a folder. Leaves out those that measured
// nothing. Throws BadInput for what is no such result, of another version, or cut off; without a
// commit; and for results of two cards.
History read_history(const std::vector<std::string>& files_and_folders);

// Where a cell's time over the anchor's changed by 1 % or more.
struct HistoryChange {
  Cell cell;
  std::size_t before = 0, run = 0;  // the runs beside it that know the cell
  double ratio = 1;                 // later over earlier
  std::string cause;
  bool is_of_one_commit = false;  // the later is the child of the earlier; else one in between
};
std::vector<HistoryChange> changes_in(const History&);

}  // namespace assay
