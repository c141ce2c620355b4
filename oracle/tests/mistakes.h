// Results of mistaken launches, for the tests of the diagnosis.
#pragma once

#include "oracle/diagnosis/diagnosis.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <random>

namespace mistake_test {

using namespace assay;

// What a mistaken launch leaves in element (i, j).
using Mistake = std::function<double(std::int64_t i, std::int64_t j)>;

class Bench {
 public:
  explicit Bench(const Case& of, const Tile& tile = {})
      : c(of),
        variant{.name = "mistaken", .idea = "", .launch = nullptr, .tile = tile},
        before(make_operands(of, Placement::guarded, {4, 4, 4})),
        reference(make_reference(of, before)) {}

  double a(std::int64_t i, std::int64_t p) const { return before[Operand::a].row(i)[p]; }
  double b(std::int64_t p, std::int64_t j) const { return before[Operand::b].row(p)[j]; }
  double old(std::int64_t i, std::int64_t j) const { return before[Operand::c].row(i)[j]; }
  double sum(std::int64_t i, std::int64_t j, std::int64_t from, std::int64_t to) const {
    double sum = 0;
    for (std::int64_t p = from; p < to; ++p) sum += a(i, p) * b(p, j);
    return sum;
  }
  double sum(std::int64_t i, std::int64_t j) const { return sum(i, j, 0, c.k); }
  double right(std::int64_t i, std::int64_t j) const {
    return reference.c[static_cast<std::size_t>(i * c.n + j)];
  }
  // A float of an operand, by its distance from element (0, 0).
  double at(Operand o, std::int64_t index) const {
    return before[o].floats.at(static_cast<std::size_t>(before[o].first + index));
  }

  Image result_of(const Mistake& mistake) const {
    Image result = before[Operand::c];
    for (std::int64_t i = 0; i < c.m; ++i) {
      for (std::int64_t j = 0; j < c.n; ++j) result.row(i)[j] = static_cast<float>(mistake(i, j));
    }
    return result;
  }
  std::string diagnose(const Image& result, const Judgement& judged) const {
    EXPECT_GT(judged.wrong, 0) << "the mistake is not seen";
    return judged.wrong == 0
               ? ""
               : assay::diagnose({c, variant, before, result, reference, judged}).words;
  }
  std::string diagnose(const Image& result) const {
    return diagnose(result, judge_bound(result, reference, allowed_gulps(Arithmetic::fp32, c.k)));
  }
  std::string diagnose(const Mistake& mistake) const { return diagnose(result_of(mistake)); }
  // The mistake alone, without the place.
  std::string cause(const Mistake& mistake) const {
    const std::string words = diagnose(mistake);
    const auto colon = words.find(": ");
    return colon == words.npos ? "" : words.substr(colon + 2);
  }

  Case c;
  Variant variant;
  Operands before;
  Reference reference;
};

inline const Case scaled{.m = 9, .n = 8, .k = 7, .alpha = 1.5, .beta = -0.5, .ldc = {1}, .seed = 3};
inline const Case plain{.m = 9, .n = 8, .k = 7};

inline Mistake without(const Bench& x, std::int64_t from, std::int64_t to, double times = -1) {
  return [&x, from, to, times](auto i, auto j) {
    return x.right(i, j) + times * x.c.alpha * x.sum(i, j, from, to);
  };
}

// Keeps `kept` bits after the leading one: rounds to the nearest, or towards 0.
inline double rounded(double value, int kept, bool truncated) {
  int exponent = 0;
  const double scaled = std::ldexp(std::frexp(value, &exponent), kept + 1);
  return std::ldexp(truncated ? std::trunc(scaled) : std::nearbyint(scaled), exponent - kept - 1);
}

}  // namespace mistake_test
