// The picture of a wrong result: which parts of C hold wrong elements.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/result.h"

namespace assay::report {

struct Mask {
  std::vector<std::string> rows;        // '#': the field holds wrong elements; '.': it does not
  std::int64_t m = 0, n = 0;            // of C
  std::int64_t tile_m = 0, tile_n = 0;  // 0 where they are not known

  std::size_t wrong() const;  // fields
  // Where borders of tiles lie, in fields from the edge; none where they would be too close to see.
  std::vector<double> borders_down() const;
  std::vector<double> borders_across() const;
};

// Pictures are of masks, or else lines of source: those are none.
bool is_mask(const Failure&);
Mask mask_of(const Failure&, const About&);

// As block characters, for a terminal: a border is drawn where it lies between two fields.
std::string blocks_of(const Mask&);

}  // namespace assay::report
