// What other blocks see late. A store that is atomic by itself (volatile, relaxed), or an atomic
// addition whose result nobody takes, may come to be seen by other blocks after what its thread
// does next, unless the thread fences in between. So in shuffled order some of them stay unseen:
// the first thread of another block that reads there by an atomic load, and that nothing orders
// with the store, finds what was there before. After that, and once the block has fenced, everybody
// sees it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace ptx {

struct Block;
struct Op;
struct Run;
struct Warp;

class LateStores {
 public:
  explicit LateStores(const Run&);

  bool are_possible() const { return are_possible_; }
  // A lane is about to change these bytes of global memory; `may_be_late`: by what other blocks may
  // see late.
  void change(const Warp&, const Op*, std::uint64_t address, std::size_t bytes, bool may_be_late);
  void fence(const Block&);
  // What a lane finds at an address instead of what is there; null: that.
  const std::byte* found_by(Warp&, const Op*, int lane, std::uint64_t address, std::size_t bytes);
  // In words, which load was the last to come too early for which store; empty: none did. Those of
  // a flag come before those of what it tells of.
  const std::string& last_seen() const { return last_seen_; }

 private:
  static constexpr std::size_t most_bytes = 16;
  struct Late {
    std::array<std::byte, most_bytes> before = {};
    std::size_t bytes = 0;
    std::uint32_t block = 0;
    const Op* op = nullptr;
  };
  void forget(std::uint64_t address, std::size_t bytes);

  bool are_possible_ = false;
  std::unordered_map<std::uint64_t, Late> all_;                             // by address
  std::unordered_map<std::uint32_t, std::vector<std::uint64_t>> of_block_;  // their addresses
  std::array<std::byte, most_bytes> found_ = {};
  std::string last_seen_;
};

}  // namespace ptx
