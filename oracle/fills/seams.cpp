#include "oracle/fills/seams.h"

#include <algorithm>

namespace assay {

Seams::Seams(std::int64_t k) : k_(k) {
  constexpr std::int64_t most_pieces = 16;
  std::int64_t piece = 64;
  while (k / piece > most_pieces) piece *= 2;
  // The first product of each, and of those ahead of it the last one, and the first one of the last
  // step.
  for (std::int64_t first = 0; first < k; first += piece)
    for (const std::int64_t ahead : {0, 1, 4, 8, 16, 32}) add(first - ahead);
  for (const std::int64_t parts : {3, 5, 6, 7})
    for (std::int64_t i = 1; i < parts; ++i)
      for (const std::int64_t beside : {-1, 0, 1}) add(k * i / parts + beside);
  add(k - 1);
  std::sort(places_.begin(), places_.end());
}

void Seams::add(std::int64_t p) {
  if (p >= 0 && p < k_) places_.push_back(p);
}

bool Seams::are_beside(std::int64_t p) const {
  return std::binary_search(places_.begin(), places_.end(), p);
}

}  // namespace assay
