// How much work a failure may still take, in nanoseconds of the cost model (draws/cost.h): it is
// counted and not measured, so that a failure is shrunk to the same case on every machine.
#pragma once

#include "kernels/registry.h"

namespace assay {

class Allowance {
 public:
  explicit Allowance(double nanoseconds) : left_(nanoseconds) {}

  void spend(double nanoseconds) { left_ -= nanoseconds; }
  bool is_spent() const { return left_ <= 0; }

 private:
  double left_;
};

// Of shrinking in the process that failed, and of all that fresh processes judge after that.
inline constexpr double work_of_shrinking = 4e9, work_of_confirming = 4e9;
// What a trial takes beside its cost, and how many times its cost, if it never ends.
inline constexpr double work_of_hung = 1e9, slowness_of_hung = 50;

// What a process takes that starts. On a GPU the driver starts one after the other.
inline double work_of_process(Backend backend) { return backend == Backend::cuda ? 250e6 : 15e6; }

}  // namespace assay
