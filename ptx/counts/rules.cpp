#include "ptx/counts/rules.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>

namespace ptx {
namespace {

using std::uint32_t;
using std::uint64_t;

constexpr uint64_t banks = 32, word_bytes = 4;

// Distinct numbers, fastest where they come in order.
class Distinct {
 public:
  void add(uint64_t one) {
    if (count_ != 0) {
      if (one == numbers_[count_ - 1]) return;
      in_order_ &= one > numbers_[count_ - 1];
    }
    numbers_[count_++] = one;
  }
  const uint64_t* begin() const { return numbers_.data(); }
  const uint64_t* end() {
    if (!in_order_) {
      std::sort(numbers_.begin(), numbers_.begin() + count_);
      count_ = std::unique(numbers_.begin(), numbers_.begin() + count_) - numbers_.begin();
      in_order_ = true;
    }
    return numbers_.begin() + count_;
  }

 private:
  std::array<uint64_t, warp_size * 5> numbers_;  // 128 bits may touch five words
  std::ptrdiff_t count_ = 0;
  bool in_order_ = true;
};

template <class Numbers>
int fullest_bank(const Numbers& begin, const Numbers& end) {
  std::array<std::uint8_t, banks> held = {};
  int fullest = 0;
  for (auto word = begin; word != end; ++word)
    fullest = std::max<int>(fullest, ++held[*word % banks]);
  return fullest;
}

// Different words of a bank take a turn each. Those of a lane lie in different banks.
int turns_of(const WarpAccess& access, uint32_t lanes) {
  std::array<std::array<uint64_t, warp_size>, banks> words;  // of each bank, as many as it holds
  std::array<std::uint8_t, banks> held = {};
  int turns = 0;
  const auto add = [&](uint64_t word) {
    std::uint8_t& count = held[word % banks];
    auto& its = words[word % banks];
    if (std::find(its.begin(), its.begin() + count, word) != its.begin() + count) return;
    its[count++] = word;
    turns = std::max<int>(turns, count);
  };
  for (uint32_t left = lanes & access.lanes; left != 0; left &= left - 1) {
    const uint64_t first = access.at[std::countr_zero(left)];
    const uint64_t last = first + static_cast<uint64_t>(access.bytes) - 1;
    for (uint64_t word = first / word_bytes; word <= last / word_bytes; ++word) add(word);
  }
  return turns;
}

// Whether each lane has the address of its partner, where that takes part.
bool share_by(const WarpAccess& access, int distance) {
  for (uint32_t left = access.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left), partner = lane ^ distance;
    if ((access.lanes >> partner & 1) != 0 && access.at[lane] != access.at[partner]) return false;
  }
  return true;
}

}  // namespace

int sectors_of(const WarpAccess& access) {
  constexpr uint64_t piece = 32;
  Distinct pieces;
  for (uint32_t left = access.lanes; left != 0; left &= left - 1) {
    const uint64_t first = access.at[std::countr_zero(left)];
    pieces.add(first / piece);
    pieces.add((first + static_cast<uint64_t>(access.bytes) - 1) / piece);
  }
  const uint64_t* const end = pieces.end();
  return static_cast<int>(end - pieces.begin());
}

int copied_sectors_of(const WarpAccess& from, const WarpAccess& to) {
  if (from.bytes != 16) return sectors_of(from);
  std::map<uint64_t, uint32_t> lanes_of_line;
  for (uint32_t left = from.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    lanes_of_line[to.at[lane] / (banks * word_bytes)] |= 1u << lane;
  }
  int sectors = 0;
  for (const auto& [line, lanes] : lanes_of_line)
    sectors += sectors_of({from.at, lanes, from.bytes});
  return sectors;
}

int wavefronts_of(const WarpAccess& access) {
  int part = access.bytes <= 4 ? 32 : access.bytes <= 8 ? 16 : 8;  // lanes
  if (part < 32 && (share_by(access, 1) || share_by(access, 2))) part *= 2;
  const uint32_t lanes = part == 32 ? all_lanes : (1u << part) - 1;
  int turns = 0;
  for (int first = 0; first < warp_size; first += part) turns += turns_of(access, lanes << first);
  return turns;
}

int atomic_wavefronts_of(const WarpAccess& access) {
  std::array<uint64_t, warp_size> words;
  auto* end = words.data();
  for (uint32_t left = access.lanes; left != 0; left &= left - 1)
    *end++ = access.at[std::countr_zero(left)] / word_bytes;
  return fullest_bank(words.data(), end);
}

}  // namespace ptx
