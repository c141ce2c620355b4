// How far right is from wrong: how the errors of variants, and of arithmetics that are not FP32,
// spread over k, in gulps. A bound is any good only if it lies between the two.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "oracle/emulation.h"
#include "oracle/trial.h"

namespace assay {

// The errors of all elements at one k, in gulps. Elements that may underflow are left out.
struct ErrorSpread {
  std::int64_t k = 0, elements = 0;
  double median = 0, p99 = 0, p999 = 0, worst = 0;
  double allowed = 0;  // by the bound that the source declares; FP32's for an emulation

  bool is_inside() const { return worst <= allowed; }
};

// One source of errors: an entry, or an emulated arithmetic.
struct SpreadOverK {
  Fill fill = Fill::uniform;
  std::string name, backend;  // no backend for an emulation
  std::optional<Emulation> emulation;
  std::vector<ErrorSpread> spreads;  // by ascending k
  std::string why_not;               // why it stopped short: a launch failed, or was refused
};

struct SpreadRequest {
  std::vector<Entry> entries;
  std::vector<Fill> fills;
  std::uint64_t seed = 0;
};

inline constexpr std::array<std::int64_t, 7> spread_sizes = {1, 4, 16, 64, 256, 1024, 4096};

// For each fill the emulations and then each entry, at every k of `spread_sizes`, on some thousand
// elements. Calls `progress` with the share that is done.
std::vector<SpreadOverK> error_spreads(const SpreadRequest&,
                                       const std::function<void(double share)>& progress);

// What the spreads amount to.
struct Separation {
  double nearest = 0;             // the largest share of its bound that a variant took
  double tf32_times = 0;          // how many times its bound TF32 exceeds at least
  std::int64_t bf16x3_up_to = 0;  // the largest k at which the bound sees BF16x3
  bool bf16x9_is_inside = true;
  std::vector<std::string> outside;  // variants that exceed their bound, or were not measured
};
Separation separation_of(const std::vector<SpreadOverK>&);

}  // namespace assay
