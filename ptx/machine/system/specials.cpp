#include "ptx/machine/system/specials.h"

#include "ptx/machine/block.h"

namespace ptx {

std::uint64_t special(const Warp& w, int lane, const std::string& name) {
  const Run& run = *w.block->run;
  const Dim &size = run.launch.block, &grid = run.launch.grid, &at = w.block->at;
  const auto thread = static_cast<unsigned>(w.index * warp_size + lane);
  const std::uint32_t bit = 1u << lane;
  if (name == "%tid.x") return thread % size.x;
  if (name == "%tid.y") return thread / size.x % size.y;
  if (name == "%tid.z") return thread / size.x / size.y;
  if (name == "%ntid.x") return size.x;
  if (name == "%ntid.y") return size.y;
  if (name == "%ntid.z") return size.z;
  if (name == "%ctaid.x") return at.x;
  if (name == "%ctaid.y") return at.y;
  if (name == "%ctaid.z") return at.z;
  if (name == "%nctaid.x") return grid.x;
  if (name == "%nctaid.y") return grid.y;
  if (name == "%nctaid.z") return grid.z;
  if (name == "%laneid") return static_cast<unsigned>(lane);
  if (name == "%warpid") return static_cast<unsigned>(w.index);
  if (name == "%nwarpid") return w.block->warps.size();
  if (name == "%lanemask_eq") return bit;
  if (name == "%lanemask_lt") return bit - 1;
  if (name == "%lanemask_le") return bit | (bit - 1);
  if (name == "%lanemask_gt") return ~(bit | (bit - 1));
  if (name == "%lanemask_ge") return ~(bit - 1);
  if (name == "%nsmid") return 132;
  if (name == "%smid") return w.block->number % 132;
  if (name == "%total_smem_size") return run.shared_bytes;
  if (name == "%dynamic_smem_size") return run.launch.dynamic_shared;
  // The high and the low half of where the barrier of a cooperative grid lies.
  if (name == "%envreg1") return run.launch.grid_barrier >> 32;
  if (name == "%envreg2") return run.launch.grid_barrier & 0xffffffff;
  if (name.compare(0, 6, "param:") == 0)
    return reinterpret_cast<std::uint64_t>(run.launch.params.data()) + std::stoull(name.substr(6));
  return 0;
}

}  // namespace ptx
