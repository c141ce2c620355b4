// A warp, and the operations that run on it. An operation is decoded once and runs for all active
// lanes at a time; it returns the next one, or null when the warp has to wait or has ended.
//
// Values lie in slots of 32 words, one for each lane; a 64-bit value takes two slots, and then
// lane i has the i-th 8 bytes of them. A predicate is a mask of lanes. Immediates, parameters and
// special registers are slots like any others, filled beforehand.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace ptx {

inline constexpr int warp_size = 32;
inline constexpr std::uint32_t all_lanes = 0xffffffffu;

struct Block;
struct Op;
struct Warp;
using Handler = const Op* (*)(const Op*, Warp&);

// What an operation does besides computing; RealFlags take the low bits of Op::flags.
enum OpFlags : std::uint16_t {
  address_is_wide = 1 << 4,
  loads = 1 << 5,
  stores = 1 << 6,
  decides = 1 << 7,       // where to go on, by its guard
  selects = 1 << 8,       // one of two values
  is_strong = 1 << 9,     // an atomic access, or a volatile one
  tells_taint = 1 << 10,  // says itself which of its results nobody wrote
  is_cached = 1 << 11,    // takes memory for unchanged while the kernel runs
  is_bulk = 1 << 12,      // through the proxy that copies in bulk have for themselves
  is_of_block = 1 << 13,  // atomic for threads of the block alone
  is_constant = 1 << 14,  // of what no kernel writes
  is_of_pieces = 1 << 15  // writes whole pieces of 16 bytes, also where fewer are asked for
};

struct Op {
  Handler run = nullptr;
  Handler behind_guard = nullptr;  // what `run` calls, for the lanes that the guard lets through
  int d = 0, a = 0, b = 0, c = 0, e = 0;  // slots or predicates, as the handler takes them
  int guard = -1;
  bool guard_negated = false;
  std::uint8_t parts = 1;       // of a vector: then `d` begins a list in Code::lists
  std::uint8_t part_bytes = 8;  // at most, of each value that is stored
  std::uint8_t mode = 0;        // rounding, comparison and the like
  std::uint16_t flags = 0;
  int jump = 0;            // index of the operation to go to
  int from = 0;            // index of the instruction in Function::body
  std::uint64_t bits = 0;  // an offset, a table, a mask
};

// Lanes of a warp that go together.
struct Group {
  const Op* at = nullptr;
  std::uint32_t mask = 0;
  enum class State : std::uint8_t {
    ready,
    at_barrier,
    at_warp_op,
    at_mbarrier,
    at_cluster_barrier,
    at_warpgroup  // until other warps have begun a product
  } state = State::ready;
  int barrier = 0;              // that it waits at: its number, or place in shared memory
  std::uint32_t partners = 0;   // the lanes that a warp-wide operation waits for
  bool meets_anywhere = false;  // they may wait at another operation of its kind
  bool stepped_back = false;    // lets others that are ready go first
  bool is_apart = false;        // at a barrier that other lanes of its warp may come to elsewhere
};

// Where a lane read what nobody wrote.
struct Origin {
  static constexpr std::uint32_t nowhere = ~0u;  // a variable of its own, which was never set
  std::uint64_t address = 0;                     // in shared memory, the offset
  std::uint32_t op = nowhere;
  bool in_shared = false;
  bool in_own_array = false;
};

struct Warp {
  alignas(64) std::uint32_t lane_masks[warp_size] = {};  // all ones where `mask` has a bit
  std::uint32_t mask = 0;                                // the lanes that run
  std::uint32_t alive = 0;                               // that have not returned
  std::uint32_t* slots = nullptr;
  std::uint32_t* predicates = nullptr;
  const Op* code = nullptr;
  const int* lists = nullptr;
  Block* block = nullptr;
  int index = 0;  // within its block
  const Op* at = nullptr;
  std::uint64_t left = 0;  // operations of its turn
  int until_look = 0;      // multiply-adds, until it looks whether it
  bool meets_denormals = false;
  std::vector<Group> others;
  bool has_diverged = false;   // since all of its lanes last synchronised
  bool gives_up = false;       // waiting for a phase of an mbarrier
  int registers = 0;           // that each thread asked for, by setmaxnreg, and where
  const Op* registers_at = nullptr;
  int asked = 0;               // what others may have to change: see system/waiting.cpp
  bool lets_go_first = false;  // other warps, or even other blocks, once its turn ends
  bool lets_blocks_go_first = false;

  // Of every slot and predicate, the lanes whose value nobody wrote, or not all bits of it. Looked
  // at once `has_taint`.
  bool has_taint = false;
  std::vector<std::uint32_t> taint, predicate_taint;
  // Of each of them and each lane: which bits of such a value nobody wrote, and where it comes
  // from; empty until one was read.
  std::vector<std::uint64_t> unwritten;
  std::vector<Origin> origins, predicate_origins;
  // That was read last: where, and of each of its words the bits that nobody wrote.
  Origin last_unwritten;
  std::uint32_t last_bits[8] = {};

  // When this warp last synchronised with all others, and its own lanes, in the time of its block;
  // see shared_shadow.h. `known`: with single warps, later than with all; empty if with none.
  std::uint32_t since_barrier = 0, since_sync = 0;
  // Once lanes synchronised that were not all of them: when any last did, and for each lane the
  // time until which it knows what each one did.
  std::uint32_t since_tile_sync = 0;
  std::vector<std::array<std::uint32_t, warp_size>> lanes_know;
  std::vector<std::uint32_t> known;

  void set_mask(std::uint32_t lanes) {
    mask = lanes;
    for (int i = 0; i < warp_size; ++i)
      lane_masks[i] =
          static_cast<std::uint32_t>(static_cast<std::int32_t>(lanes << (31 - i)) >> 31);
  }
  template <class T>
  T* slot(int index) const {
    return reinterpret_cast<T*>(slots + std::ptrdiff_t{index} * warp_size);
  }
};

// Ends what the lanes of `mask` do at an operation, and returns what the warp does next: the group
// with the lowest address that is ready, joined by all that have come to the same place.
const Op* go_on_at(Warp&, const Op* at);
const Op* next_group(Warp&);
// In shuffled order, once in so many times, some lanes of the group stay at an operation until the
// others wait for them.
void leave_some_behind(Warp&, const Op* at, unsigned one_in);
// Lets others go first: other groups, then other warps and, if it may wait for these, other blocks.
const Op* step_back(Warp&, const Op* next, bool may_wait_for_blocks);

}  // namespace ptx
