#include "ptx/machine/system/specials.h"

#include <algorithm>

#include "base/scramble.h"
#include "ptx/machine/block.h"

namespace ptx {
namespace {

using std::uint64_t;

unsigned thread(const Warp& w, unsigned lane) {
  return static_cast<unsigned>(w.index * warp_size) + lane;
}
const Run& run(const Warp& w) { return *w.block->run; }
const Dim& size(const Warp& w) { return run(w).launch.block; }
const Dim& cluster(const Warp& w) { return run(w).launch.cluster; }
// Of the warps that a multiprocessor has room for, its blocks one behind the other.
uint64_t place_of(const Warp& w) {
  constexpr uint64_t places = 64;
  const uint64_t before = uint64_t{w.block->number} * w.block->warps.size();
  return (before + static_cast<uint64_t>(w.index)) % places;
}

// Blocks may share a multiprocessor though others are free: nothing that is kept for each of them
// is a block's own. Their numbers have gaps, and the first block may be on any of them.
constexpr uint64_t multiprocessors = 132, one_missing_in = 12;
constexpr uint64_t end_of_numbers = multiprocessors * one_missing_in / (one_missing_in - 1);
uint64_t multiprocessor_of(const Warp& w) {
  const uint64_t block = w.block->number - run(w).numbering.others;
  const uint64_t seed = run(w).settings.seed;
  const uint64_t first = seed % 2 == 1 ? assay::scramble(seed) % multiprocessors : 0;
  const uint64_t together = run(w).launch.fit_together > 1 ? 2 : 1;
  const uint64_t place = (first + block / together) % multiprocessors;
  return place + place / (one_missing_in - 1);
}

#define ASSAY_SPECIAL(name, is_of_block, expression)                                               \
  {                                                                                                \
    name, is_of_block,                                                                             \
        []([[maybe_unused]] const Warp& w, [[maybe_unused]] unsigned lane, uint64_t) -> uint64_t { \
          return expression;                                                                       \
        }                                                                                          \
  }
constexpr Special specials[] = {
    ASSAY_SPECIAL("%tid.x", false, thread(w, lane) % size(w).x),
    ASSAY_SPECIAL("%tid.y", false, thread(w, lane) / size(w).x % size(w).y),
    ASSAY_SPECIAL("%tid.z", false, thread(w, lane) / size(w).x / size(w).y),
    ASSAY_SPECIAL("%ntid.x", false, size(w).x),
    ASSAY_SPECIAL("%ntid.y", false, size(w).y),
    ASSAY_SPECIAL("%ntid.z", false, size(w).z),
    ASSAY_SPECIAL("%ctaid.x", true, w.block->at.x),
    ASSAY_SPECIAL("%ctaid.y", true, w.block->at.y),
    ASSAY_SPECIAL("%ctaid.z", true, w.block->at.z),
    ASSAY_SPECIAL("%nctaid.x", false, run(w).launch.grid.x),
    ASSAY_SPECIAL("%nctaid.y", false, run(w).launch.grid.y),
    ASSAY_SPECIAL("%nctaid.z", false, run(w).launch.grid.z),
    ASSAY_SPECIAL("%clusterid.x", true, w.block->at.x / cluster(w).x),
    ASSAY_SPECIAL("%clusterid.y", true, w.block->at.y / cluster(w).y),
    ASSAY_SPECIAL("%clusterid.z", true, w.block->at.z / cluster(w).z),
    ASSAY_SPECIAL("%nclusterid.x", false, run(w).launch.grid.x / cluster(w).x),
    ASSAY_SPECIAL("%nclusterid.y", false, run(w).launch.grid.y / cluster(w).y),
    ASSAY_SPECIAL("%nclusterid.z", false, run(w).launch.grid.z / cluster(w).z),
    ASSAY_SPECIAL("%cluster_ctaid.x", true, w.block->at.x % cluster(w).x),
    ASSAY_SPECIAL("%cluster_ctaid.y", true, w.block->at.y % cluster(w).y),
    ASSAY_SPECIAL("%cluster_ctaid.z", true, w.block->at.z % cluster(w).z),
    ASSAY_SPECIAL("%cluster_nctaid.x", false, cluster(w).x),
    ASSAY_SPECIAL("%cluster_nctaid.y", false, cluster(w).y),
    ASSAY_SPECIAL("%cluster_nctaid.z", false, cluster(w).z),
    ASSAY_SPECIAL("%cluster_ctarank", true, w.block->in_cluster.rank),
    ASSAY_SPECIAL("%cluster_nctarank", false, cluster(w).count()),
    ASSAY_SPECIAL("%is_explicit_cluster", false, cluster(w).count() > 1),
    ASSAY_SPECIAL("%laneid", false, lane),
    // A place on the multiprocessor, where other blocks have theirs: no number within the block.
    ASSAY_SPECIAL("%warpid", true, place_of(w)),
    ASSAY_SPECIAL("%nwarpid", false, w.block->warps.size()),
    ASSAY_SPECIAL("%lanemask_eq", false, 1u << lane),
    ASSAY_SPECIAL("%lanemask_lt", false, (1u << lane) - 1),
    ASSAY_SPECIAL("%lanemask_le", false, (1u << lane) | ((1u << lane) - 1)),
    ASSAY_SPECIAL("%lanemask_gt", false, ~((1u << lane) | ((1u << lane) - 1))),
    ASSAY_SPECIAL("%lanemask_ge", false, ~((1u << lane) - 1)),
    ASSAY_SPECIAL("%nsmid", false, end_of_numbers),
    ASSAY_SPECIAL("%smid", true, multiprocessor_of(w)),
    ASSAY_SPECIAL("%total_smem_size", false, run(w).shared_bytes),
    ASSAY_SPECIAL("%dynamic_smem_size", false, run(w).launch.dynamic_shared),
    // The high and the low half of where the barrier of a cooperative grid lies.
    ASSAY_SPECIAL("%envreg1", false, run(w).launch.grid_barrier >> 32),
    ASSAY_SPECIAL("%envreg2", false, run(w).launch.grid_barrier & 0xffffffff),
    ASSAY_SPECIAL("", false, 0),
};
#undef ASSAY_SPECIAL

}  // namespace

const Special& special_named(std::string_view name) {
  return *std::find_if(std::begin(specials), std::end(specials) - 1,
                       [&](const Special& s) { return s.name == name; });
}

const Special address_of_param = {"", false, [](const Warp& w, unsigned, uint64_t at) -> uint64_t {
                                    return reinterpret_cast<uint64_t>(run(w).launch.params.data()) +
                                           at;
                                  }};

}  // namespace ptx
