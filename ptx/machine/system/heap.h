// The heap of kernels: what their malloc gives. It stays from launch to launch until a kernel
// frees it, and what is left of a launch that did not come to its end is given back. Malloc gives
// nothing where all blocks that a device runs at a time would use up the heap, whichever of them
// run here, unless they wait for each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ptx {

struct Region;
struct Run;

struct Heap {
  std::size_t limit = 8 << 20, used = 0;  // bytes; as CUDA has it at first
  struct Piece {
    std::size_t bytes = 0;    // with what the heap needs to know of it
    const Run* by = nullptr;  // whose threads it was given to; they may have ended
    std::uint32_t block = 0;  // of these, by its number
  };
  std::map<std::uint64_t, Piece> pieces;  // by their first address
  // Regions that were freed in launches under way, or the last ones: what met them last may look at
  // them still, and nobody else gets their memory.
  std::vector<std::unique_ptr<Region>> freed;

  // That was freed in a launch under way; null if none was.
  const Region* freed_at(std::uint64_t address) const;
};

// What blocks of a launch have of the heap, and once had: those that run one after the other here
// may do so at a time.
class HeapOfBlocks {
 public:
  void enter(std::uint32_t block, std::uint64_t at_a_time);  // before it is given anything
  void give(std::uint32_t block, std::size_t bytes);
  void take(std::uint32_t block, std::size_t bytes);
  // What the others may have beyond what they have now; of a block that has entered.
  std::size_t more_of_others(std::uint32_t block) const;
  std::size_t blocks() const { return of_.size(); }
  std::string used_up;  // who was given nothing, and why; empty: nobody

 private:
  struct Had {
    std::size_t now = 0, most = 0;
  };
  std::map<std::uint32_t, Had> of_;  // no more than run at a time
  std::size_t more_ = 0;             // of all
};

}  // namespace ptx
