#include "regress/timing.h"

#include <algorithm>
#include <cmath>

namespace assay {

void sort_by_problem(std::vector<CellJob>& jobs) {
  std::ranges::stable_sort(jobs, {},
                           [](const CellJob& job) { return to_string(job.cell.problem); });
}

int launches_for(double launch_us) {
  constexpr double least_sample_us = 250;  // below 200 it shows that the GPU's clock has steps
  return std::clamp(static_cast<int>(std::ceil(least_sample_us / launch_us)), 1, most_launches);
}

}  // namespace assay
