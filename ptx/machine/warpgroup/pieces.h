// What a product reads of a matrix in shared memory, piece by piece.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ptx/machine/block.h"
#include "ptx/machine/warpgroup/shared_matrix.h"

namespace ptx {

// Some lines of a matrix, all k of them.
struct Lines {
  SharedMatrix matrix;
  bool across_k = false;  // how they lie
  int first = 0, count = 0, k = 0;
  Type type = Type::none;

  int elements_of_piece() const { return 16 / (type == Type::tf32 ? 4 : bytes_of(type)); }
  // The bytes at which their pieces begin, always in the same order.
  std::vector<std::uint32_t> pieces() const;
  // Calls use(piece, element of the piece, line, k) for each element.
  template <class Use>
  void for_each_element(const Use& use) const {
    const int each = elements_of_piece();
    int piece = 0;
    for (int line = 0; line < count; line += across_k ? each : 1)
      for (int p = 0; p < k; p += across_k ? 1 : each, ++piece)
        for (int e = 0; e < each; ++e)
          use(piece, e, across_k ? line + e : line, across_k ? p : p + e);
  }
};

// The bits of words that nobody wrote; empty: there are none.
using UnwrittenWords = std::vector<std::array<std::uint32_t, 4>>;

// Whether a warp may read pieces now, for a product. False after a finding.
bool may_read_pieces(const Op*, Warp&, const std::vector<std::uint32_t>& pieces, UnwrittenWords&);

}  // namespace ptx
