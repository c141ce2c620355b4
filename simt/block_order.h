// Which block of a grid comes i-th, of all or of some of them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/sample.h"
#include "base/scramble.h"
#include "simt/simt.h"

namespace simt {

class BlockOrder {
 public:
  BlockOrder() = default;
  BlockOrder(const Settings& settings, std::uint64_t blocks, std::uint64_t threads_of_each)
      : order_(settings.order),
        seed_(settings.seed),
        some_(settings.most_blocks == 0 || settings.most_blocks >= blocks
                  ? std::vector<std::uint64_t>{}
                  : assay::sample_of(blocks, settings.most_blocks, {1, threads_of_each}, seed_)),
        count_(some_.empty() ? blocks : some_.size()),
        mask_(std::bit_ceil(count_) - 1),
        shift_(std::max(1, static_cast<int>(std::bit_width(mask_)) / 2)) {}

  std::uint64_t count() const { return count_; }
  std::uint64_t operator[](std::uint64_t i) const {
    return some_.empty() ? of_all(i) : some_[of_all(i)];
  }

 private:
  std::uint64_t of_all(std::uint64_t i) const {
    switch (order_) {
      case Order::forward: return i;
      case Order::reverse: return count_ - 1 - i;
      case Order::shuffled: break;
    }
    do i = shuffled(i);
    while (i >= count_);
    return i;
  }

  // A permutation of all numbers up to `mask_`: every step can be undone. Those beyond the grid
  // lead on, and so to one inside.
  std::uint64_t shuffled(std::uint64_t i) const {
    for (std::uint64_t round = 0; round < 3; ++round) {
      i = (i * 0x9e3779b97f4a7c15u + assay::scramble(seed_ + round)) & mask_;
      i ^= i >> shift_;
    }
    return i;
  }

  Order order_ = Order::forward;
  std::uint64_t seed_ = 0;
  std::vector<std::uint64_t> some_;  // empty: all
  std::uint64_t count_ = 0, mask_ = 0;
  int shift_ = 1;
};

}  // namespace simt
