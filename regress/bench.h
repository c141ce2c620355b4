// How fast variants are here and now, beside cuBLAS in the same process and against the most that
// this card can do.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/gemm.h"
#include "regress/decide/statistics.h"
#include "regress/timing.h"

namespace assay {

struct BenchOptions {
  std::vector<std::string> variants;
  std::vector<Case> problems;
  int processes = 3;
  std::uint64_t seed = 0;
  bool warm = false;
  // Of a launch: what would take longer, going by smaller problems, is left out. 0: nothing is.
  double longest_us = 0;
  TimeInProcesses time;
};

struct BenchLine {
  Cell cell;
  Arithmetic arithmetic = Arithmetic::fp32;
  std::string why_not;  // it was not timed, or its timing may not be used; then the rest is unset
  bool wrong = false;   // its result was wrong
  Ratio time_us;        // the geometric mean over processes, and its 95 % interval
  double tflops = 0;
  Ratio percent_of_cublas;  // of its speed; more is faster. 0 where cuBLAS could not be timed
  // Of the FFMA peak measured here, and of what that and memory bandwidth allow for this problem. 0
  // for an arithmetic that is not of FFMA.
  double percent_of_peak = 0, percent_of_roofline = 0;
  double clock_mhz = 0;
  double cold = 0;  // as in CellTiming
};

struct BenchReport {
  std::map<std::string, std::string> device;
  double peak_tflops = 0, memory_gb_s = 0;  // measured here, beside the first problems
  std::vector<BenchLine> lines;             // by problem, then in the order of the ladder
  std::string unfit;                        // why nothing more could be measured
  int processes = 0;                        // fresh ones for each few problems
  int problems_left = 0;
  double seconds = 0;
};

// Times a few problems after the other. After each few, `done` is given all that is known so far.
BenchReport bench(const BenchOptions&, const TimingProgress& = {},
                  const std::function<void(const BenchReport&)>& done = {});

// The variant that others are timed beside; nothing where there is none.
std::optional<Variant> yardstick_here();
std::string name_of_yardstick();  // empty where there is none
// Forgets all variants but that one, which is none to judge from then on: of a program that judges
// files alone.
void keep_yardstick_apart();

}  // namespace assay
