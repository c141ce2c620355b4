// What was accepted on one GPU: for each variant the machine code, and for each cell the launch
// recipe and what was measured when it was accepted. Either the whole folder is read, or BadInput
// names the file and the field at fault.
//
//   GPU/device.json           the card, and figures of kernels that are never edited
//   GPU/VARIANT.json          what was accepted last
//   GPU/anchor/VARIANT.json   what was accepted first, which never moves
//   GPU/removed/VARIANT.json  why a variant is no longer watched
//   GPU/cubins/HASH.cubin     machine code, by the first 16 digits of its SHA-256
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "regress/cell.h"
#include "regress/decide/statistics.h"
#include "regress/store/recipe.h"

namespace assay {

// What was accepted of one variant on one problem.
struct CellRecord {
  Case problem;
  Recipe recipe;
  std::string cubin;  // SHA-256 of the machine code that the recipe runs; empty if it runs none
  std::string commit, reason;  // where they are not the variant's
  double time_us = 0;          // 0 where it was not measured
  double tflops = 0;
  Ratio to_baseline, to_anchor;  // of the time: over what was accepted before, over the anchor
  Ratio to_cublas;               // of the time
  Ratio launch_to_empty;      // host's time of a few empty launches and this one, over that of the
                              // empty ones; of one problem of each variant
  double process_spread = 0;  // standard deviation of the log-ratio of the same code
  double detectable = 0;      // the smallest slowdown that this noise lets twelve processes see
  double clock_mhz = 0;
  std::uint64_t throttled = 0;  // the reasons for which the card held its clocks down, as bits
  bool operator==(const CellRecord&) const = default;
};

// Where, with what and why something was accepted.
struct Provenance {
  std::string kernels;  // git's tree of them, which a squash merge keeps; empty in old records
  std::string commit, date, harness, compiler, flags, gpu, driver, runtime, reason;
  bool operator==(const Provenance&) const = default;
};

struct VariantBaseline {
  Provenance provenance;
  std::vector<CellRecord> cells;
  std::map<std::string, std::string> not_watched;  // why it has no record of a problem
  bool operator==(const VariantBaseline&) const = default;
};

struct Baseline {
  std::string gpu;       // the key: model, memory and power class; the name of its folder
  int architecture = 0;  // 90 stands for compute capability 9.0

  // Facts of the card, such as its multiprocessors, ECC and power limit; recorded, and no part of
  // the key.
  std::map<std::string, std::string> device;
  std::map<std::string, double> canaries;                   // figures of kernels never edited
  std::map<std::string, VariantBaseline> accepted, anchor;  // by variant
  std::map<std::string, VariantBaseline> removed;  // given up, with the reason and without cells
  std::map<std::string, std::string> cubins;       // bytes by SHA-256
  bool operator==(const Baseline&) const = default;
};

// `folder` is baselines/. Throws NoBaseline where it holds nothing for `gpu`, with what it does
// hold, and BadInput for anything damaged, truncated or foreign.
Baseline read_baseline(const std::filesystem::path& folder, const std::string& gpu);
std::vector<std::string> stored_gpus(const std::filesystem::path& folder);

// Stores what `next` changed of `seen`, which the caller has read: the files of those variants, and
// no other, so that branches and writers which accept different variants never meet. Waits for a
// writer that is at it. Throws BadInput, and changes nothing, where the disk or the baseline itself
// does not allow it, and where somebody else has changed the same variant since. `folder` is
// baselines/.
void write_baseline(const std::filesystem::path& folder, const Baseline& next,
                    const Baseline& seen = {});

// The record of a cell; null where there is none.
const CellRecord* record_of(const std::map<std::string, VariantBaseline>&, const Cell&);

// Whether a cell has an anchor that launches just what was accepted last. Then timing the one times
// the other.
bool anchor_is_baseline(const Baseline&, const Cell&);

}  // namespace assay
