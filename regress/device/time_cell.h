// Times one cell in this process: all its arms side by side, judged before and after.
#pragma once

#include <random>

#include "regress/device/capture.h"
#include "regress/device/product_judge.h"
#include "regress/device/stopwatch.h"
#include "regress/store/baseline.h"
#include "regress/timing_parts.h"

namespace assay {

// What all cells of a process share.
struct Workbench {
  const TimingJob& job;
  const ProgramCode& code;
  const Baseline* baseline;  // none
  OperandSets& sets;
  Stopwatch& stopwatch;
  ProductJudge& judge;
  std::mt19937_64& random;
};

CellTiming time_cell(const CellJob&, Workbench&);

}  // namespace assay
