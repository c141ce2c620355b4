// The references of a backend, and of each GPU, must agree with each other before anything is
// judged there.
#pragma once

#include <functional>
#include <mutex>

#include "base/errors.h"
#include "oracle/trial.h"

namespace assay {

// The references disagree, so nothing can be judged here.
struct OracleDisagrees : UnfitEnvironment {
  using UnfitEnvironment::UnfitEnvironment;
};

class Calibration {
 public:
  // The only one of a backend and a GPU in this program.
  static Calibration& of(Backend, int gpu);

  // Judges the references until they have agreed once. Throws OracleDisagrees if they do not.
  void require(const std::function<Verdict(const Case&)>& judge);

 private:
  std::mutex mutex_;
  bool done_ = false;
};

}  // namespace assay
