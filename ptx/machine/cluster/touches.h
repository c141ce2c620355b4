// What other blocks of a cluster did to words of a block's shared memory. Such a word has a stamp
// that is later than all that anybody may know, so that whoever looks at it looks here: the stamps
// are of the time of the block that each access was made by, and a warp knows of them by clocks. A
// cluster barrier settles most of them: they are words like others then.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace ptx {

struct Touch {
  struct By {
    std::uint32_t stamp = 0, op = 0;
  };
  int writer = -1;  // its rank
  By write;
  std::uint32_t readers = 0;  // ranks
  std::array<By, 16> reads;   // by rank
  By own_read;                // by the block itself
  int copies = 0;             // from there that are under way
};

struct Touches {
  unsigned rank = 0;  // of the block whose memory it is
  std::unordered_map<std::uint32_t, Touch> all;

  // A word as a whole, and one of its bytes.
  static std::uint32_t key(std::size_t word) { return static_cast<std::uint32_t>(word * 8); }
  static std::uint32_t key(std::size_t word, std::size_t byte) {
    return static_cast<std::uint32_t>(word * 8 + 4 + byte);
  }
  void take_apart(std::size_t word);
  void join(std::size_t word);  // all bytes are as the first is
};

}  // namespace ptx
