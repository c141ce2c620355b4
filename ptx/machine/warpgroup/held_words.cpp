// Words of shared memory that products of warpgroups read on their own time.
#include <algorithm>
#include <bit>

#include "ptx/machine/block.h"

namespace ptx {

using std::uint32_t;

namespace {

constexpr std::size_t piece = 4;  // words

}  // namespace

bool counts_as_knower(const Block& block, std::size_t who) {
  const std::size_t group = who - stamp::products;
  return group < block.warpgroups.size() && block.warpgroups[group].complete_at != 0;
}

bool SharedShadow::are_readable_by_product(const Warp& w, int lane,
                                           const std::vector<uint32_t>& pieces) const {
  uint32_t usual = 0;  // neighbours mostly have the same
  for (const uint32_t at : pieces) {
    const std::size_t first = at / 4;
    if (first + piece > words_ || is_asleep(first)) return false;
    for (std::size_t word = first; word < first + piece; ++word) {
      const uint32_t s = writes_[word];
      if (s == 0 || s == stamp::in_parts) return false;
      if (s == usual) continue;
      if (!is_ordered(s, w, lane) || !is_fenced(s)) return false;
      usual = s;
    }
  }
  return true;
}

void SharedShadow::mark_product(std::size_t word, uint32_t op) {
  set_read(word, stamp::multiplying);
  if (!is_in_parts(word)) {
    read_ops_[word] = op;
    return;
  }
  for (Part& part : parts_[reads_[word]]) part.read_op = op;
}

bool SharedShadow::is_behind_products(std::size_t word, const Warp& w) const {
  const Readers& readers = products_[word / piece];
  if (readers.count != 0) return false;
  for (std::size_t group = 0; group < readers.until.size(); ++group) {
    const auto who = static_cast<uint32_t>(stamp::products + group);
    const bool reads = (readers.groups >> group & 1) != 0;
    if (reads && !is_known(stamp::make(readers.until[group], stamp::lanes_of + who), w))
      return false;
  }
  return true;
}

void SharedShadow::hold_for_product(const Warp& w, std::size_t first, uint32_t op) {
  if (first + piece > words_) return;  // whoever reads it there will be told
  if (products_.empty()) products_.resize(words_ / piece);
  Readers& readers = products_[first / piece];
  const auto is_of_product = [&](std::size_t word) {
    return !is_in_parts(word) && stamp::is_of_product(reads_[word]);
  };
  bool is_kept = readers.count != 0;
  for (std::size_t word = first; word < first + piece; ++word) {
    if (is_of_product(word)) is_kept |= !is_behind_products(word, w);
    mark_product(word, op);
  }
  if (!is_kept) readers.groups = 0;
  ++readers.count;
  readers.groups |= static_cast<std::uint8_t>(1u << w.index / warps_of_group);
}

void SharedShadow::let_go_of_product(std::size_t first, std::size_t group) {
  if (first / piece >= products_.size()) return;
  Readers& readers = products_[first / piece];
  readers.until[group] = time_;
  if (--readers.count != 0) return;
  const uint32_t who = std::has_single_bit(readers.groups)
                           ? stamp::products + static_cast<uint32_t>(group)
                           : stamp::of_several_groups;
  for (std::size_t word = first; word < first + piece; ++word)
    set_read(word, stamp::make(time_, stamp::lanes_of + who));
}

}  // namespace ptx
