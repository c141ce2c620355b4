// Compares what a launch left in C with what is right, element by element. Written so that NaN
// fails.
#pragma once

#include <cstdint>
#include <vector>

#include "oracle/reference.h"

namespace assay {

// `bound`: within so many gulps of the reference. `exact`: equal to it. `replay`: the bits of one
// fma chain.
// `untouched`: C is what it was, because nothing could be launched.
enum class Rule { bound, exact, replay, untouched };

struct Element {
  std::int64_t row = 0, column = 0;
  float got = 0;
  double wanted = 0;
  double error_gulps = 0;
};

struct Judgement {
  std::int64_t judged = 0, wrong = 0;
  Element worst;  // the one with the largest error; a wrong one if any is wrong
  std::vector<std::uint8_t> wrong_mask;  // m x n; empty where nothing is wrong
};

Judgement judge_bound(const Image& c, const Reference&, double allowed_gulps);
Judgement judge_exact(const Image& c, const Reference&);
Judgement judge_bits(const Image& c, const Reference&, const std::vector<float>& wanted);

}  // namespace assay
