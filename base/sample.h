// A few of many numbers that are to stand for all of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <vector>

#include "base/scramble.h"

namespace assay {

// Numbers below `count`, in ascending order: the first and the last ones, others at random, and
// pairs that look the same to a counter of 16, 24, 31 or 32 bits, which goes up by one of `steps`
// for each number. `most` in all, or a few more where the pairs alone are as many.
inline std::vector<std::uint64_t> sample_of(std::uint64_t count, std::uint64_t most,
                                            std::initializer_list<std::uint64_t> steps,
                                            std::uint64_t seed) {
  std::set<std::uint64_t> chosen;
  const std::uint64_t last = count - 1;
  for (std::uint64_t i = 0; i < std::min(std::max<std::uint64_t>(1, most / 4), count); ++i)
    chosen.insert({i, last - i});
  for (const int bits : {16, 24, 31, 32})
    for (const std::uint64_t step : steps)
      if (const std::uint64_t period = (std::uint64_t{1} << bits) / step;
          period != 0 && period < count)
        chosen.insert({last - period, last % period});
  for (std::uint64_t random = seed; chosen.size() < std::min(most, count);)
    chosen.insert((random = scramble(random + 1)) % count);
  return {chosen.begin(), chosen.end()};
}

}  // namespace assay
