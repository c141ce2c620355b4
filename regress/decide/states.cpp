#include "regress/decide/states.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "regress/decide/statistics.h"

namespace assay {

std::optional<TwoStates> two_states(std::vector<double> log_ratios) {
  constexpr std::size_t fewest = 8;
  constexpr double least_gap = 0.005, times_as_wide = 2;
  if (log_ratios.size() < fewest) return std::nullopt;
  std::ranges::sort(log_ratios);
  const auto gap_before = [&](std::size_t i) { return log_ratios[i] - log_ratios[i - 1]; };
  std::size_t split = 1;
  for (std::size_t i = 2; i < log_ratios.size(); ++i) {
    if (gap_before(i) > gap_before(split)) split = i;
  }
  const double widest =
      std::max(log_ratios[split - 1] - log_ratios.front(), log_ratios.back() - log_ratios[split]);
  const double gap = gap_before(split);
  if (!(gap > least_gap && gap > times_as_wide * widest)) return std::nullopt;
  const auto middle = log_ratios.begin() + static_cast<std::ptrdiff_t>(split);
  const std::vector<double> fast(log_ratios.begin(), middle), slow(middle, log_ratios.end());
  return TwoStates{.slow = static_cast<int>(slow.size()),
                   .fast = static_cast<int>(fast.size()),
                   .slow_ratio = std::exp(median(slow)),
                   .fast_ratio = std::exp(median(fast))};
}

}  // namespace assay
