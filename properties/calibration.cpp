#include "properties/calibration.h"

#include <array>
#include <map>
#include <utility>

namespace assay {
namespace {

// With odd distances and offsets, where a reference that is called wrongly shows it.
constexpr std::array calibration_cases = {
    "m=1 n=1 k=1",
    "m=17 n=13 k=29 alpha=1.5 beta=-0.5 lda=+3 ldb=+1 ldc=+5 offset=1,2,3",
    "m=1 n=257 k=64 beta=3 ldb=+64 seed=1",
    "m=129 n=1 k=777 alpha=-1 lda=+1 ldc=+7 seed=2",
    "m=65 n=127 k=33 beta=1 lda=+4 ldb=+3 ldc=+1 fill=exact seed=3",
    "m=31 n=67 k=513 alpha=0.5 beta=0.25 lda=+7 offset=3,1,2 seed=4",
};

}  // namespace

Calibration& Calibration::of(Backend backend, int gpu) {
  static std::mutex mutex;
  static std::map<std::pair<Backend, int>, Calibration> all;
  const std::lock_guard lock(mutex);
  return all[{backend, gpu}];
}

void Calibration::require(const std::function<Verdict(const Case&)>& judge) {
  const std::lock_guard lock(mutex_);
  if (done_) return;
  for (const char* text : calibration_cases) {
    const Verdict verdict = judge(parse_case(text));
    if (verdict.status != TrialStatus::right) throw OracleDisagrees(verdict.reason);
  }
  done_ = true;
}

}  // namespace assay
