// How the addresses of a warp's lanes lie to each other. An instruction mostly meets one shape:
// what follows from it (which words, in which runs, by which lanes) is worked out once, and then
// holds for all addresses that the shape is met at. Fast paths look at a shape's words; whatever
// looks wrong to them goes lane by lane, which finds out what it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "ptx/machine/warp.h"

namespace ptx {

struct Shape {
  static constexpr std::uint32_t several = warp_size;  // lanes have a word in common

  std::uint32_t mask = 0;  // the lanes that it is about
  int lead = 0;            // the first of them
  int bytes = 0;           // that each takes: 4, 8, 16 or 32; they lie multiples of it apart
  std::uint32_t span = 0;  // bytes, from the lowest address to the end of the last access
  std::int64_t low = 0;    // from the lead's address to the lowest

  // From the lead's address to each lane's.
  alignas(64) std::uint64_t distance[warp_size] = {};
  alignas(64) std::uint32_t short_distance[warp_size] = {};
  alignas(64) std::uint32_t offset[warp_size] = {};  // from the lowest; 0 for other lanes

  // The words touched, in ascending runs, counted from the lowest address.
  struct Run {
    std::uint32_t first = 0, words = 0;
  };
  std::vector<Run> runs;
  // The same words by up to eight that lie close, for looking at eight at a time.
  struct Window {
    alignas(32) std::uint32_t wanted[8] = {};  // all ones for each word that is touched
    alignas(32) std::uint32_t lane[8] = {};    // by which, or `several`
    std::uint32_t first = 0;
  };
  std::vector<Window> windows;
  bool is_disjoint = true;  // no word is of several lanes
  bool is_row = false;      // all 32 lanes, one after the other
  bool repeats = false;     // all 32 lanes, the last 16 where the first 16 are

  // The lanes in eights: the first words of each eight lie within eight words.
  struct EightLanes {
    alignas(32) std::int32_t wanted[8] = {};  // all ones for each word that a lane takes
    alignas(32) std::int32_t index[8] = {};   // the word of each lane
    std::uint32_t first = 0;                  // the first of the eight words, in bytes
  };
  EightLanes eights[4];
  bool has_eights = false;
};

// All shapes that were met. They stay where they are until `make_room`.
class Shapes {
 public:
  // Null where there is none to work with: lanes lie no multiple of `bytes` apart, or a GiB, or
  // there are too many shapes already.
  template <class Address>
  const Shape* find(const Address* at, std::uint32_t mask, int bytes);
  void make_room();         // while no launch is under way: forgets them all, if they are many
  std::size_t most = 4096;  // 0: there are none, and everything goes lane by lane

 private:
  std::unordered_map<std::uint64_t, std::vector<std::unique_ptr<Shape>>> by_hash_;
  std::size_t count_ = 0;
};

}  // namespace ptx
