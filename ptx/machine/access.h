// Accesses of single lanes to memory, each looked at: its address, its row, its alignment, whether
// somebody wrote there, and whether it is ordered with what others did.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ptx/machine/block.h"

namespace ptx {

struct Access {
  const Op* op = nullptr;
  int lane = 0;
  std::uint64_t address = 0;  // in shared memory, the offset
  int bytes = 0;
  bool writes = false;
  bool reads_too = false;  // what it overwrites
  bool is_strong = false;
  bool hands_out = false;             // numbers, each of which one thread gets
  bool counts_on = false;             // by a step: others may take some in between
  bool is_waited_for = false;         // by whom it reaches: it tells them when it is over
  int unit = 0;                       // the address has to be a multiple of this; 0: of `bytes`
  const char* by = "by a bulk copy";  // of what reads or writes through the async proxy
  const char* does = nullptr;         // instead of that it reads or writes
};

// The bytes of a word that an access of less than a word is about.
inline unsigned bytes_within_word(const Access& a) {
  return a.bytes >= 4 ? SharedShadow::whole : ((1u << a.bytes) - 1) << a.address % 4;
}

using Reach = std::byte* (*)(Warp&, const Access&, std::uint32_t& unwritten);

// Where the bytes of an access lie; null after a finding. `unwritten` becomes the mask of its words
// that nobody wrote, or not all bits of: which, Warp::last_bits says.
std::byte* reach_global(Warp&, const Access&, std::uint32_t& unwritten);
std::byte* reach_shared(Warp&, const Access&, std::uint32_t& unwritten);
// Whether what a lane does now comes after the last write of a word of global memory.
bool comes_after_last_write(Warp&, int lane, std::uint64_t address);
// Whether nothing orders what a warp does with what the caller of the host code did before.
bool lacks_caller(const Warp&);
// By a bulk copy, or a wgmma: what threads wrote there has to be fenced.
std::byte* reach_shared_by_copy(Warp&, const Access&, std::uint32_t& unwritten);
std::byte* reach_local(Warp&, const Access&, std::uint32_t& unwritten);
std::byte* reach_generic(Warp&, const Access&, std::uint32_t& unwritten);

// Bytes of global memory that this block has just written are in flight, until they land: then a
// stamp of its own says who wrote them. What others have written or added since is theirs.
void let_fly(Warp&, std::uint64_t address, std::uint64_t bytes);
void land(Warp&, std::uint64_t address, std::uint64_t bytes, std::uint32_t stamp);

// Of a thread's own arrays: that it reads or writes from `first` of Block::local on.
void note_own(Warp&, const Access&, std::size_t first, std::uint32_t& unwritten);
// Where all lanes of the warp find whole words of arrays of their own, at local or generic
// addresses, with nothing to be told about any of them. False if it is not so simple.
bool find_in_own(const Op*, Warp&, std::uint64_t bytes, bool is_generic, bool writes,
                 std::byte* (&found)[warp_size]);

// The addresses of all lanes, active or not.
void addresses_of(const Op*, Warp&, std::uint64_t (&to)[warp_size]);

// What an atomic access at this address makes its warp know, and lets others know: of the same
// launch, and of others under way where it may take a lock, or free one.
enum class Lock : std::uint8_t { none, may_take_or_free, may_free };
void hear(Warp&, std::uint64_t address, Reach, Lock = Lock::none);
void tell(Warp&, std::uint64_t address, Reach, Lock = Lock::none);
void fence(Warp&, bool for_block_alone);
// What a phase makes known that a relaxed wait found complete, once a fence follows: of warps of
// the block, and of others of its cluster if the fence is for them, too.
void hear_of_phase(Warp&, std::span<const std::uint32_t> own, const PeerClocks& peers);
// Of what was heard, all that is fenced by now counts for the block's shared memory, too.
void know_heard(Warp&, const Knowledge& more);
// Whether a warp has heard of what a block did at a stamp, and did not fence since.
bool lacks_fence(const Warp&, const Block& other, std::uint32_t stamp);
// Where the bytes of an atomic operation lie, which hears and tells there.
std::byte* reach_atomically(Warp&, Access, Reach, Lock, std::uint32_t& unwritten);

// Happen now: copies that a lane has committed, but for the last `but` groups of them.
bool finish_copies(Warp&, int but);
// Likewise: those of lanes that these started before a certain one, for whoever waits for a
// barrier.
bool finish_copies_before(Warp&, std::uint32_t lanes, std::size_t number);

}  // namespace ptx
