// The heap of kernels: what their malloc gives. It stays from launch to launch until a kernel
// frees it, and what is left of a launch that did not come to its end is given back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace ptx {

struct Region;
struct Run;

struct Heap {
  std::size_t limit = 8 << 20, used = 0;  // bytes; as CUDA has it at first
  struct Piece {
    std::size_t bytes = 0;    // with what the heap needs to know of it
    const Run* by = nullptr;  // whose threads it was given to; they may have ended
  };
  std::map<std::uint64_t, Piece> pieces;  // by their first address
  // Regions that were freed in launches under way, or the last ones: what met them last may look at
  // them still, and nobody else gets their memory.
  std::vector<std::unique_ptr<Region>> freed;

  // That was freed in a launch under way; null if none was.
  const Region* freed_at(std::uint64_t address) const;
};

}  // namespace ptx
