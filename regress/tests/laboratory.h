// A laboratory that gives timings as processes do, with whatever a test says is true of a cell.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>

#include "kernels/registry.h"
#include "regress/accept.h"
#include "regress/gate.h"
#include "regress/problems.h"

namespace assay {

inline cudaError_t launch_nothing(const Gemm&, cudaStream_t) { return cudaSuccess; }

// Variants that claim to be for a GPU; the laboratory never calls them. The picky one does not
// accept problems whose rows have gaps.
inline constexpr std::array names = {"lab_a", "lab_b",       "lab_c",
                                     "lab_d", "lab_library", "lab_picky"};
inline const bool registered_once = [] {
  int position = 1000;
  for (const std::string_view name : names) {
    register_variant({.name = name.data(),
                      .idea = "of the laboratory",
                      .launch = launch_nothing,
                      .needs = {.packed = name == "lab_picky"}},
                     Backend::cuda, position++);
  }
  return true;
}();

inline Recipe recipe_with(unsigned value) {
  return {{MemsetNode{.operand = Operand::c, .value = value, .element_bytes = 4, .width = 16}}};
}

// What is true of one cell.
struct Truth {
  double slower = 0;          // than the baseline: 0.02 for 2 %
  double twin = 0;            // how far its control is off
  unsigned now = 0;           // what its recipe sets memory to: another number is a change
  unsigned unchanged_as = 0;  // from what its baseline has
  bool wrong = false, wrong_at_last = false;  // in every process, or in the last of a batch
  double cold = 2.2;
  double time_us = 48;
  double first_us = 0;
  std::string no_recipe = {};
};

// What the four other variants with a baseline are gated on, and the picky one.
inline int all_problems() { return static_cast<int>(gate_problems().size()); }
inline int packed_problems() {
  return static_cast<int>(std::ranges::count_if(gate_problems(), [](const Case& c) {
    return c.lda.floats == 0 && c.ldb.floats == 0 && c.ldc.floats == 0;
  }));
}
inline constexpr int host_cells = 5;
inline int kernel_cells() { return 4 * all_problems() + packed_problems(); }
inline int all_cells() { return kernel_cells() + host_cells; }

struct Laboratory {
  std::map<Cell, Truth> cells;  // others are unchanged
  std::string key = "lab-1gib";
  std::map<std::string, double> canaries = {{"arithmetic_flops_per_cycle", 200.0},
                                            {"memory_gb_s", 1000.0}};
  std::string unfit;
  bool anchor_moved = false;  // it is no longer the baseline, and timed beside it
  int dying = 0;              // so many processes of a batch give no answer,
  int shared = 0;             // and so many find others on the GPU when they are done
  std::vector<std::pair<TimingJob, int>> asked = {};
  std::mt19937_64 random{1};
  // Changes the answer of a process that timed something.
  std::function<void(ProcessTiming&, const TimingJob&, int process)> spoil = {};

  std::vector<ProcessTiming> operator()(const TimingJob& job, int processes) {
    asked.emplace_back(job, processes);
    std::vector<ProcessTiming> timings;
    for (int i = 0; i < processes; ++i) {
      ProcessTiming timing = {.device = {{"key", key},
                                         {"name", "LAB"},
                                         {"architecture", "sm_90"},
                                         {"driver", "1"},
                                         {"runtime", "13.0"}},
                              .canaries = canaries,
                              .unfit = unfit};
      if (job.rounds > 0 && i > 0 && i <= dying) timing.unfit = "it was ended by signal 9";
      if (timing.unfit.empty()) {
        for (const CellJob& cell : job.cells)
          timing.cells.push_back(time(cell, job, i == processes - 1));
      }
      if (job.rounds > 0 && i > 0 && i <= shared) timing.unfit = "1 other process uses this GPU";
      if (job.rounds > 0 && spoil) spoil(timing, job, i);
      timings.push_back(std::move(timing));
      if (!unfit.empty()) break;
    }
    return timings;
  }

  CellTiming time(const CellJob& asked_for, const TimingJob& job, bool last) {
    const Truth truth = cells[asked_for.cell];
    CellTiming timing = {.cell = asked_for.cell};
    if (asked_for.cell.variant == "lab_library") {
      timing.no_recipe = "its machine code is in a library";
      return timing;
    }
    const bool changed = truth.now != truth.unchanged_as || !truth.no_recipe.empty();
    timing.recipe = recipe_with(truth.now);
    timing.unchanged = !changed && !job.baselines.empty();
    timing.no_recipe = truth.no_recipe;
    if (changed) timing.cause = fmt::format("memset value {} -> {}", truth.unchanged_as, truth.now);
    timing.launches = asked_for.launches;
    timing.first_us = truth.first_us;
    timing.cold = truth.cold;
    timing.wrong = (truth.wrong || (truth.wrong_at_last && last)) && job.rounds > 0;
    if (timing.wrong) timing.fault = "head: 3 of 256 elements are wrong";
    std::normal_distribution<double> noise(0, 0.0005);
    const double process = noise(random);
    for (int r = 0; r < job.rounds; ++r) {
      const auto sample = [&](double factor) {
        return Sample{truth.time_us * factor * (1 + noise(random)), 1980, 0};
      };
      timing.rounds.push_back({sample((1 + truth.slower) * (1 + process)),
                               sample((1 + truth.slower) * (1 + process) * (1 + truth.twin)),
                               sample(1), anchor_moved ? sample(1) : Sample{}});
    }
    return timing;
  }

  TimeInProcesses time() {
    return [this](const TimingJob& job, int processes, const TimingProgress&) {
      return (*this)(job, processes);
    };
  }
  // Batches in which something was timed, by number of processes.
  std::vector<int> batches() const {
    std::vector<int> sizes;
    for (const auto& [job, processes] : asked) {
      if (job.rounds > 0) sizes.push_back(processes);
    }
    return sizes;
  }
};

class GateFlow : public testing::Test {
 protected:
  GateFlow() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~GateFlow() override { std::filesystem::remove_all(folder_); }

  AcceptReport accept(Laboratory& lab, const std::string& move_anchor = "", bool upgrade = false) {
    return accept_time({.baselines = folder_.string(),
                        .reason = "a test",
                        .move_anchor = move_anchor,
                        .upgrade = upgrade,
                        .processes = 4,
                        .provenance = {.commit = "0123",
                                       .harness = "assay",
                                       .compiler = "nvcc 13",
                                       .flags = "-O3"},
                        .time = lab.time()});
  }
  GateReport gate(Laboratory& lab, GateOptions options = {}) {
    options.baselines = folder_.string();
    options.time = lab.time();
    return gate_time(options);
  }
  static std::vector<std::string> not_same(const GateReport& report) {
    std::vector<std::string> names;
    for (const GateLine& line : report.lines) {
      if (line.verdict.outcome != CellOutcome::same)
        names.push_back(
            fmt::format("{}: {}", to_string(line.cell), to_string(line.verdict.outcome)));
    }
    return names;
  }
  // All problems of all variants.
  static void change_everything(Laboratory& lab) {
    for (const char* variant : {"lab_a", "lab_b", "lab_c", "lab_d", "lab_picky"}) {
      for (const Case& problem : gate_problems()) lab.cells[{variant, problem}].now = 1;
    }
  }
  static Cell cell(const char* variant, std::size_t problem = 0) {
    return {variant, gate_problems().at(problem)};
  }
  static std::string name(const char* variant, std::size_t problem = 0) {
    return to_string(cell(variant, problem));
  }
  std::string text_of(const char* file) {
    std::ifstream in(folder_ / "lab-1gib" / file);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / fmt::format("assay_gate_{}", getpid());
};

}  // namespace assay
