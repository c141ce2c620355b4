// Times one cell in this process: all its arms side by side, with results checked before and after.
#pragma once

#include <random>

#include "regress/device/capture.h"
#include "regress/device/result_check.h"
#include "regress/device/stopwatch.h"
#include "regress/store/baseline.h"
#include "regress/timing.h"

namespace assay {

// What all cells of a process share.
struct ProcessTools {
  const TimingJob& job;
  const ProgramCode& code;
  const Baseline* baseline;  // or null
  OperandSets& sets;
  Stopwatch& stopwatch;
  ResultCheck& check;
  std::mt19937_64& random;
};

CellTiming time_cell(const CellJob&, ProcessTools&);

}  // namespace assay
