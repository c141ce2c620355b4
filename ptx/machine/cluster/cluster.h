// Clusters: blocks that run at the same time, reach each other's shared memory, and wait for each
// other at a barrier.
//
// A warp knows of the other blocks of its cluster by clocks: of each warp of each block, before
// which time of that block all that it did comes before what this warp does now. Cluster barriers
// pass them on, and so does whatever orders warps of one block. Nothing else counts, whatever the
// schedule was: a block that nothing was heard of may not have started, and one that waited for
// nothing may have ended.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "ptx/machine/shared_shadow.h"
#include "ptx/machine/warp.h"

namespace ptx {

struct Access;
struct Run;

inline constexpr unsigned most_ranks = 16;  // blocks of a cluster

class PeerClocks {
 public:
  std::uint32_t met = 0;  // blocks that have started, by rank

  std::span<std::uint32_t, stamp::knowers> of(unsigned rank) {
    return std::span<std::uint32_t, stamp::knowers>(times_.data() + rank * stamp::knowers,
                                                    stamp::knowers);
  }
  // Of one warp, or of several (warp_size): the latest.
  std::uint32_t until(unsigned rank, std::uint32_t warp) const;
  void start(unsigned ranks);  // knows nothing
  bool is_empty() const { return times_.empty(); }
  void learn(const PeerClocks&);

 private:
  std::vector<std::uint32_t> times_;
};

struct Cluster {
  std::vector<Block*> blocks;  // by rank
  // Of all threads: that have not returned, and of those who have arrived at the barrier.
  int alive = 0, arrived = 0;
  std::uint32_t phase = 0;    // how often it was complete
  PeerClocks told, complete;  // by those who arrived; by those of phases that are complete

  unsigned size() const { return static_cast<unsigned>(blocks.size()); }
};

// What a block has of its cluster.
struct InCluster {
  Cluster* all = nullptr;  // null: it is in none
  unsigned rank = 0;
  std::vector<PeerClocks> known;      // of each warp
  std::vector<std::uint32_t> fences;  // when each warp last fenced, for more than its own block
  struct Arrival {
    std::uint32_t lanes = 0, complete = 0;  // that have not waited since; whose phase is complete
    bool waits_at_once = false, tells = false;
  };
  std::vector<Arrival> arrivals;  // of each warp
  std::uint32_t settled = 0;      // the phase up to which touches are settled
  std::uint32_t settled_at = 0;   // in the block's time
  // What each warp of other blocks last did to the shared memory of this one.
  struct Last {
    std::uint32_t stamp = 0, op = 0;  // 0: nothing
    std::uint64_t at = 0;
    bool wrote = false;
  };
  std::vector<Last> last_by;  // rank times warps

  Last& last(unsigned by, const Warp& w);
};

// The blocks, which have just been started, are one.
void make_cluster(Cluster&, const std::vector<Block*>&);

// What a warp knows of its own block, and of others; with all that it did itself, before a time.
void tell_clocks(const Warp&, std::uint32_t until, PeerClocks& told);
// No more than it has fenced, as by a relaxed arrival.
void tell_fenced(const Warp&, PeerClocks& told);
// What it learns; of its own block, too.
void learn_clocks(Warp&, const PeerClocks&);
// Whether a warp knows of what another block of its cluster did at a stamp.
bool knows_of_peer(const Warp&, unsigned rank, std::uint32_t stamp);
// The rank of a block of the grid in the warp's cluster; -1: it is in another one.
int rank_of_block(const Warp&, std::uint32_t number);
// Of the cluster's blocks: who knows of others, by which warps of one block to which.
void share_clocks(Block&, std::uint32_t from, std::uint32_t to);

// Lanes of a warp have returned. A block may not end while others can still reach its memory.
void leave_cluster(Warp&, std::uint32_t lanes);
// Whether any block of its cluster can go on.
bool cluster_can_run(const Block&);

// Shared memory of the cluster's blocks by 32-bit addresses: those of the own block as they are, of
// others with the rank + 1 in the highest bits.
inline constexpr unsigned rank_shift = 24;
// Which block, and where in it, a generic address is of; null: of none.
struct InPeer {
  Block* block = nullptr;
  std::uint64_t at = 0;
};
InPeer peer_of(const Block&, std::uint64_t address);
// Of an address of a rank that the cluster does not have.
bool is_of_no_rank(const Block&, std::uint64_t address);

// As the others of access.h: by addresses of shared::cluster.
std::byte* reach_cluster(Warp&, const Access&, std::uint32_t& unwritten);
// At an offset of another block's.
std::byte* reach_peer(Warp&, const Access&, Block& owner, std::uint32_t& unwritten);
std::byte* report_no_rank(Warp&, const Access&);

}  // namespace ptx
