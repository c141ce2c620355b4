// Where a long sum may be put together from pieces: beside multiples of a power of two, and between
// parts of about one length.
#pragma once

#include <cstdint>
#include <vector>

namespace assay {

class Seams {
 public:
  explicit Seams(std::int64_t k);
  // Whether the product at this place of k is one of about a hundred beside them: so few that one
  // which is left out, or counts twice, is far beyond what roundings may add up to.
  bool are_beside(std::int64_t p) const;

 private:
  void add(std::int64_t p);

  std::int64_t k_;
  std::vector<std::int64_t> places_;  // sorted
};

}  // namespace assay
