// Barriers in shared memory (mbarrier), and copies that signal them.
//
// A copy takes place when somebody asks for its barrier, and is known to those who then find the
// phase complete. Until then its target is in flight: whoever touches it has a race. A thread that
// waits for a phase comes after all that arrived in it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "ptx/machine/cluster/cluster.h"
#include "ptx/machine/shared_shadow.h"

namespace ptx {

struct Block;
struct Op;

struct Mbarrier {
  std::uint32_t expected = 0, pending = 0;              // arrivals
  std::int64_t bytes = 0;                               // of copies, expected and not yet there
  std::uint32_t phase = 0;                              // how many are complete
  std::uint32_t tried_phase = 0;                        // in vain
  std::array<std::uint8_t, 32> tried_by = {};           // how often, by each warp
  std::array<std::uint32_t, stamp::knowers> used = {};  // when, by each warp
  // What was known to those that arrived in this phase, and in those that are complete.
  std::array<std::uint32_t, stamp::knowers> arriving = {}, complete = {};
  PeerClocks peers_arriving, peers_complete;  // likewise, of blocks of the cluster
  int made_by = 0;                            // the warp
  bool is_fenced = false;                     // so bulk copies find it initialised
};

// A bulk copy on its way into shared memory.
struct BulkCopy {
  std::uint32_t to = 0, barrier = 0;  // bytes of shared memory
  std::vector<std::byte> data;
  std::uint32_t unwritten_words = 0;  // not zero: nobody wrote some of its source
  const Op* op = nullptr;
  Warp* by = nullptr;  // of another block, and the lane
  int lane = 0;
  // Where it reads shared memory of a block in a cluster, and from where.
  Block* source = nullptr;
  std::uint32_t from = 0;
};

// What lanes of a warp have started by cp.async before they said that a barrier waits for them.
struct CopyArrival {
  int warp = 0;
  std::uint32_t lanes = 0;
  std::size_t copies = 0;       // how many it had started
  std::uint32_t waited_at = 0;  // when it waited for some of them itself; 0: it did not
};

struct Asynchronous {
  std::map<std::uint32_t, Mbarrier> barriers;  // by their place in shared memory
  std::vector<BulkCopy> bulk;
  std::map<std::uint32_t, std::vector<CopyArrival>> arrivals;
  bool has_landed = false;                // some copy
  std::set<std::uint64_t> acquired_maps;  // of tensors: their addresses, by fences of the block
  int rounds_without_end = 0;             // of waits that gave up, since a phase was last completed
};

// Nothing goes on in a block. Waits for phases give up, as on a GPU after a while. False: there are
// none, or it was in vain too often.
bool give_up_waits(Block&);
// Reports that a phase never ends; false if nobody waits for one.
bool report_endless_phase(Block&);
// A copy from shared memory has come to a block, which thereby has read it.
void let_go_of_source(const Block&, const BulkCopy&);
// Of a block that has ended: nobody waited for them.
void finish_bulk_copies(Block&);

}  // namespace ptx
