// A block of threads, and the launch that it belongs to.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/counts/counter.h"
#include "ptx/decode/code.h"
#include "ptx/machine/async/mbarrier.h"
#include "ptx/machine/between/knowledge.h"
#include "ptx/machine/between/late_stores.h"
#include "ptx/machine/cluster/cluster.h"
#include "ptx/machine/memory.h"
#include "ptx/machine/report/report.h"
#include "ptx/machine/shared_shadow.h"
#include "ptx/machine/warp.h"
#include "ptx/machine/warpgroup/warpgroup.h"
#include "ptx/watch/watch.h"

namespace ptx {

struct Run {
  Run(const Launch&, Memory&, const Settings&);
  Run(const Run&) = delete;
  ~Run();

  const Op* code() const { return code_; }

  const Launch& launch;
  const Program::Kernel& kernel;
  Memory::Contents& memory;
  const Settings& settings;
  const Numbering numbering;
  std::vector<const Unordered*> unordered;  // that the launch is not ordered with, by numbers
  void meet(const Unordered*);              // one more, which has begun since
  const Met& met(const Op* op) const { return met_[static_cast<std::size_t>(op - code())]; }
  Met& meets(const Op* op) {
    const auto number = static_cast<std::size_t>(op - code());
    Met& its = met_[number];
    if (!its.is_any) its.is_any = true, who_met_.push_back(static_cast<std::uint32_t>(number));
    return its;
  }
  void forget_regions();  // one of them is no more
  // The bytes of shared memory that each operation may touch.
  struct Part {
    std::uint32_t first = 0, end = 0;
  };
  Part shared_part(std::size_t op) const {
    if (kernel.array_of[op] < 0) return {0, shared_bytes};
    const SharedVariable& v =
        kernel.shared_variables[static_cast<std::size_t>(kernel.array_of[op])];
    const auto first = static_cast<std::uint32_t>(v.at);
    return {first, v.bytes == 0 ? shared_bytes : first + static_cast<std::uint32_t>(v.bytes)};
  }
  std::unique_ptr<Counter> counter;  // if the launch is counted
  std::unique_ptr<Watch> watch;      // if it is watched
  ToldInLaunch told;                 // by atomic operations, at global addresses
  LateStores late_stores;            // of global memory
  HeapOfBlocks of_heap;
  // When blocks last fenced global memory for bulk copies, each in its own time.
  std::unordered_map<std::uint32_t, std::uint32_t> fenced_for_copies;
  std::optional<Finding> finding;
  // A use of memory that nobody wrote until then. Somebody may still write it, in no order with the
  // read: then a race is what is found, whoever came first.
  std::optional<Finding> unset;
  // What some operations take beyond the time of usual ones, which are a unit of it.
  std::uint64_t extra_time = 0;
  std::uint64_t stored = 0, most_stored = 0;  // words of results, by blocks that ended and by one
  std::uint64_t changes = 0;    // of memory, by stores and by atomics that left another value
  bool meets_others = false;    // a block may have told others something, or heard of them
  bool met_in_cluster = false;  // blocks of a cluster have, since somebody last looked
  std::string printed;
  std::uint64_t clock = 0;
  std::uint64_t random = 0;
  std::uint32_t shared_bytes = 0;

  bool failed() const { return finding.has_value(); }
  std::uint64_t draw();  // the next random number

 private:
  const Op* code_ = nullptr;
  std::vector<Met> met_;  // of each operation, and of some that other kernels have
  std::vector<std::uint32_t> who_met_;
};

// A word that holds bits that nobody wrote: which, as far as its bytes count as unwritten, and
// where they come from.
struct Kept {
  std::uint32_t bits = ~0u;
  Origin from;
};

struct Block {
  Run* run = nullptr;
  std::uint32_t number = 0;   // within the grid, after those of other launches in between
  std::uint64_t told_as = 0;  // its number among the blocks of all launches, in Knowledge
  Dim at;                     // blockIdx
  int thread_count = 0;
  int exited = 0;
  int next = 0;              // of its warps, counted as its order has them: who goes on first
  std::uint64_t stored = 0;  // words of results
  // When warps of it first waited for the grids ahead, as stamps: the others may hear it from them.
  std::vector<std::uint32_t> waits_for_grids;
  std::vector<Warp> warps;
  std::vector<std::uint32_t> slots, predicates;  // of all warps
  std::vector<std::byte> shared, local;
  std::size_t local_bytes = 0;                 // of a thread
  std::vector<std::uint8_t> local_is_written;  // of each word, the bytes that are
  // Where an address of a thread's own arrays lies in `local`, generic or not; past its end if it
  // is none.
  std::size_t place_in_local(std::size_t thread, std::uint64_t address) const {
    const std::uint64_t own = thread * local_bytes;
    const std::uint64_t generic = address - reinterpret_cast<std::uint64_t>(local.data()) - own;
    return address < local_bytes   ? own + address
           : generic < local_bytes ? own + generic
                                   : local.size();
  }
  SharedShadow shadow;
  InCluster in_cluster;

  // Threads that wait at each barrier, and for how many it waits; 0: for all that have not
  // returned.
  struct Barrier {
    int arrived = 0, expected = 0;
    int yes = 0;                           // of those that arrived, who say so: bar.red
    int last_arrived = 0, last_yes = 0;    // when it was last complete
    std::uint32_t warps = 0, waiting = 0;  // that arrived; those of them that wait
    // What those that do not wait had done and knew when they arrived.
    std::vector<std::uint32_t> told;
  };
  Barrier barriers[16];
  // Of other blocks: what all threads know, and of each warp what it knows beyond that until its
  // next barrier, what it read at atomic addresses but did not fence yet, and what its last fence
  // lets others know. A fence for a block alone lets no other block know.
  Knowledge knows;
  struct Hearsay {
    // Whoever waits asks again and again: what was heard last, at which address, and what the last
    // fence was about, by their versions, is not gone through once more.
    struct Reach {
      Knowledge unfenced, fenced;
      std::uint64_t heard_at = 0, heard = 0, fenced_of_block = 0, fenced_of_warp = 0;
      const Told* told = nullptr;  // all that is `fenced`, by itself, in its version
      std::uint64_t told_version = 0;
    };
    Knowledge known;
    std::uint64_t known_here = 0;  // its version when it was last gone through for the own block
    Reach of_all, of_block;
  };
  std::map<int, Hearsay> hearsay;
  // What whoever fenced for bulk copies knew of other blocks then, and the version of `knows`.
  Knowledge fenced_of_others;
  std::uint64_t fenced_version = 0;
  std::unordered_map<std::uint64_t, Knowledge> released;  // as those of the run, to this block

  // What words of shared memory hold that nobody wrote, if they got it from elsewhere: by word. And
  // those of threads' own arrays, by their place in `local`.
  std::map<std::uint64_t, Kept> unwritten_from, own_unwritten;

  // Copies that lanes of a warp have started together (cp.async), by warp; each lane's happens when
  // the lane waits for it. Until then its target is in flight.
  struct Copy {
    const Op* op;
    std::uint32_t lanes;  // whose copies are still to happen
    std::size_t number;   // how many the warp had started before
    std::array<int, warp_size> group;
    int read[warp_size];  // bytes: the rest is zeros
    std::uint64_t to[warp_size], from[warp_size];
    // If all of them can happen at once: where they go, and where those come from that read.
    const Shape* target;
    const Shape* source;
  };
  struct Copies {
    std::vector<Copy> copies;
    std::vector<std::uint32_t> pending, idle;  // of these, the earliest first
    std::array<int, warp_size> groups = {};    // that each lane has committed
    std::size_t started = 0;
    void forget() {  // but for the memory that they have
      copies.clear(), pending.clear(), idle.clear();
      groups = {}, started = 0;
    }
  };
  std::vector<Copies> copies;
  Asynchronous asynchronous;
  std::vector<Warpgroup> warpgroups;  // if the kernel has products of these

  // Bytes of shared memory that bulk copies of a thread read, and of global memory that they write,
  // by groups: where, and how many.
  struct Held {
    struct Pieces {
      std::vector<std::pair<std::uint32_t, std::uint32_t>> read;
      std::vector<std::pair<std::uint64_t, std::uint64_t>> written;
    };
    Pieces open;
    std::vector<Pieces> groups;
  };
  std::map<int, Held> held;  // by thread

  bool has_ended() const { return exited == thread_count; }
};

// A text of the kernel's; "?" if there is none.
const char* text_at(Warp&, std::uint64_t address, std::uint64_t most = 4096);

// Whether those lanes of a mask that are alive are among the ones here.
bool is_complete(const Warp&, std::uint32_t mask, std::uint32_t here);
// Lanes wait for the others of their mask at an operation of the warp; `anywhere`: at any of its
// kind, and go on behind it.
void wait_for_lanes(Warp&, const Op*, std::uint32_t mask, std::uint32_t lanes, bool anywhere);
// Whether all lanes that are alive are here; else this group waits for them, and the warp goes on
// with the next one.
bool is_whole(Warp&, const Op*);
// What lanes of a mask did comes before what they do now.
void synchronise(Warp&, std::uint32_t mask);

// Barriers. Null if the warp has to wait. `is_apart`: its other lanes may come from elsewhere.
const Op* arrive(Warp&, const Op*, int barrier, int threads, bool waits, bool is_apart = false);
void leave_block(Warp&, std::uint32_t lanes);  // lanes return
// That no warp of its warpgroup has returned without a setmaxnreg that another one executes; a
// finding if one has.
bool have_asked_alike(Warp&);
// Lets groups go whose barrier is complete.
void complete_barriers(Block&);

}  // namespace ptx
