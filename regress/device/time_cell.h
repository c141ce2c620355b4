// Times one cell in this process: all its arms side by side, with results checked before and after.
#pragma once

#include <array>
#include <functional>
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

// What is timed side by side, by Arm; null for one that is not.
using Enqueuers = std::array<std::unique_ptr<Enqueuer>, arms.size()>;

// Rounds of all arms in random order, each mirrored in the next. `sample` times one arm.
using TakeSample = std::function<Sample(Arm, Enqueuer&)>;
std::vector<Round> time_rounds(const Enqueuers&, int count, const TakeSample& sample,
                               std::mt19937_64&);

CellTiming time_cell(const CellJob&, ProcessTools&);

}  // namespace assay
