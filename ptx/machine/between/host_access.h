// What copies, and the host, do to memory that kernels of other streams touch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ptx/machine/machine.h"

namespace ptx {

// Numbers one as an operation; the finding is the first place that an earlier one touched, in no
// order with it.
struct Entered {
  Numbers numbers;
  std::optional<Finding> finding;
};
Entered enter(Memory&, const HostAccess&, const Past&);

// The first place of the caller's memory that one of these operations touched.
std::optional<Finding> touched_of_caller(Memory&, const std::vector<Unordered>&);

// Whether the last write to some word of the region there was atomic, or volatile, and of these.
bool wrote_atomically(Memory&, std::uint64_t first, const Numbers&);
// The words of the region there, of the first MiB, that these read last, but for atomic and
// volatile reads.
struct Piece {
  std::uint64_t first = 0;
  std::size_t bytes = 0;
};
std::vector<Piece> read_plainly(Memory&, std::uint64_t first, const Numbers&);

}  // namespace ptx
