// Compares C after a launch with what is right, element by element. NaN fails every comparison, but
// where the reference is NaN too.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "oracle/reference.h"

namespace assay {

struct Element {
  std::int64_t row = 0, column = 0;
  float got = 0;
  double wanted = 0;
  double error_gulps = 0;
};

struct Judgement {
  std::int64_t judged = 0, wrong = 0;
  Element worst;  // the one with the largest error, among the wrong ones if there are any
  std::vector<std::uint8_t> wrong_mask;  // m x n; empty where nothing is wrong
};

Judgement judge_bound(const Image& c, const Reference&, double allowed_gulps);
// That judgement, where every element is a finite number and right; nothing otherwise. Takes the
// reference of some rows as well, and judges those.
std::optional<Judgement> clearly_right(const Image& c, const Reference&, double allowed_gulps);
Judgement judge_exact(const Image& c, const Reference&);
// A zero may have either sign where the exact result is none.
Judgement judge_bits(const Image& c, const Reference&, const std::vector<float>& wanted);

}  // namespace assay
