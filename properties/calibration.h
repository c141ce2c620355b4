// Before anything is judged on a backend, and on each GPU, the references there must agree with
// each other.
#pragma once

#include <functional>
#include <mutex>

#include "base/errors.h"
#include "oracle/trial.h"

namespace assay {

// The references do not agree with each other: nothing can be judged here.
struct OracleDisagrees : UnfitEnvironment {
  using UnfitEnvironment::UnfitEnvironment;
};

class Calibration {
 public:
  // The one of a backend and a GPU, in the life of this program.
  static Calibration& of(Backend, int gpu);

  // Once they have agreed, nothing is asked again. Throws OracleDisagrees where they do not.
  void require(const std::function<Verdict(const Case&)>& judge);

 private:
  std::mutex mutex_;
  bool done_ = false;
};

}  // namespace assay
