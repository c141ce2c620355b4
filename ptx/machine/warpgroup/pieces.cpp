#include "ptx/machine/warpgroup/pieces.h"

#include <algorithm>

#include "ptx/machine/access.h"

namespace ptx {

using std::uint32_t;

std::vector<uint32_t> Lines::pieces() const {
  std::vector<uint32_t> all;
  const int each = elements_of_piece();
  for (int line = first; line < first + count; line += across_k ? each : 1)
    for (int p = 0; p < k; p += across_k ? 1 : each)
      all.push_back(
          across_k ? matrix.across_k(static_cast<uint32_t>(line / each), static_cast<uint32_t>(p))
                   : matrix.along_k(static_cast<uint32_t>(line), static_cast<uint32_t>(p / each)));
  return all;
}

bool may_read_pieces(const Op* op, Warp& w, const std::vector<uint32_t>& pieces,
                     UnwrittenWords& unwritten) {
  SharedShadow& shadow = w.block->shadow;
  if (shadow.are_readable_by_product(w, 0, pieces)) return true;
  for (std::size_t n = 0; n < pieces.size(); ++n) {
    uint32_t words = 0;
    const Access access{
        .op = op, .lane = 0, .address = pieces[n], .bytes = 16, .by = "for a wgmma"};
    if (reach_shared_by_copy(w, access, words) == nullptr) return false;
    for (uint32_t word = 0; word < 4; ++word)
      shadow.mark_product(pieces[n] / 4 + word, static_cast<uint32_t>(op - w.code));
    if (words == 0) continue;
    unwritten.resize(pieces.size());
    for (uint32_t word = 0; word < 4; ++word)
      if ((words >> word & 1) != 0) unwritten[n][word] = w.last_bits[word];
  }
  return true;
}

}  // namespace ptx
