// A second problem like one that is placed, in memory of its own, to be launched at the same time.
// Its A, and so the product, is twice as large. Its B may be that of the first, as callers share
// what they only read; or its A, and then B is twice as large.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "oracle/case.h"
#include "oracle/diagnosis/whereabouts.h"
#include "oracle/machine.h"
#include "oracle/plan.h"

namespace assay {

// From its first element to the end of its last; 0 where it has none to read.
std::size_t bytes_of(const Placed&);

class Twin {
 public:
  // Where the gaps between rows are stored.
  Twin(const Given&, const ByOperand<Placed>&, Shared = Shared::nothing);
  const Given& given() const { return given_; }
  const ByOperand<Placed>& placed() const { return placed_; }
  // What C holds, gaps and all; then it holds what it did at first.
  std::vector<std::byte> take_c();

 private:
  void copy(Operand);
  std::byte* first(Operand o) { return first_[static_cast<std::size_t>(o)]; }

  ByOperand<Placed> placed_;
  ByOperand<std::vector<std::byte>> memory_;
  ByOperand<std::byte*> first_{};
  std::vector<std::byte> c_at_first_;
  Given given_;
};

// What it shares with the first.
Shared shared_by(const Plan&, const Case&);

// How often it is launched beside the first, if the plan does not say: where that costs little, a
// few times, for memory that launches use in turns.
int launches_of_twin(const Gemm&, const Plan&);

// Launches the twins in turn, `times` times in all; with `may_be_fewer` it stops early once the
// process has used up its time for launches. `launch` gets the index of the twin.
using Twins = std::vector<std::unique_ptr<Twin>>;
LaunchFailure launch_in_turns(const Twins&, int times, bool may_be_fewer,
                              const std::function<LaunchFailure(int, const Given&)>& launch);

}  // namespace assay
