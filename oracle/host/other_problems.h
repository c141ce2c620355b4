// Other problems than one that is placed, for what a variant keeps between calls: a larger one, in
// memory of its own, for which it takes more; and a smaller one.
#pragma once

#include <optional>
#include <vector>

#include "oracle/diagnosis/whereabouts.h"

namespace assay {

struct Variant;

class LargerProblem {
 public:
  // All sizes and distances times one number, 2 or more. Nothing where the variant refuses that, or
  // where the placed problem is large already.
  static std::optional<LargerProblem> than(const Variant&, const Given&, const ByOperand<Placed>&);
  const Given& given() const { return given_; }
  const ByOperand<Placed>& placed() const { return placed_; }

 private:
  LargerProblem(const Given&, const ByOperand<Placed>&);
  void place(Operand, std::int64_t rows, std::int64_t columns, std::int64_t ld);

  Given given_;
  ByOperand<Placed> placed_;  // of the other problem, until each operand has its own
  ByOperand<std::vector<float>> memory_;
};

// Half as large in each size, in the same memory. Nothing where the variant refuses that.
std::optional<Given> half_of(const Variant&, const Given&);

}  // namespace assay
