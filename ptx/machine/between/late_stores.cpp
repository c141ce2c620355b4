#include "ptx/machine/between/late_stores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/scramble.h"
#include "ptx/machine/access.h"

namespace ptx {

using std::uint32_t;
using std::uint64_t;

namespace {

constexpr uint64_t one_of = 2;  // stores of a block by one operation

bool reads_atomically(const Op& op) {
  return (op.flags & (is_strong | loads)) == (is_strong | loads) && (op.flags & stores) == 0;
}

}  // namespace

// Where only atomic operations look at what others store, none comes too early.
LateStores::LateStores(const Run& run)
    : are_possible_(run.settings.order == Order::shuffled && run.settings.most_watched == 0 &&
                    !run.settings.sees_stores_at_once && run.launch.grid.count() > 1 &&
                    std::any_of(run.kernel.code.begin(), run.kernel.code.end(), reads_atomically)) {
}

// All that begin so close in front of it, or within it, that they overlap.
void LateStores::forget(uint64_t address, std::size_t bytes) {
  for (uint64_t at = (address & ~uint64_t{3}) - most_bytes + 4; at < address + bytes; at += 4) {
    const auto found = all_.find(at);
    if (found != all_.end() && at + found->second.bytes > address) all_.erase(found);
  }
}

void LateStores::change(const Warp& w, const Op* op, uint64_t address, std::size_t bytes,
                        bool may_be_late) {
  if (!are_possible_) return;
  if (!all_.empty()) forget(address, bytes);
  const Run& run = *w.block->run;
  const uint64_t which = uint64_t{w.block->number} << 32 ^ static_cast<uint64_t>(op - w.code);
  const bool is_late = may_be_late && bytes % 4 == 0 && bytes <= most_bytes &&
                       assay::scramble(run.settings.seed ^ which) % one_of == 0;
  const Region* const region = is_late ? run.memory.at(address) : nullptr;
  if (region == nullptr) return;
  Late late{.bytes = bytes, .block = w.block->number, .op = op};
  std::memcpy(late.before.data(), region->area.bytes_at(address), bytes);
  all_[address] = late;
  of_block_[w.block->number].push_back(address);
}

void LateStores::fence(const Block& block) {
  const auto its = of_block_.find(block.number);
  if (its == of_block_.end()) return;
  for (const uint64_t address : its->second) {
    const auto found = all_.find(address);
    if (found != all_.end() && found->second.block == block.number) all_.erase(found);
  }
  of_block_.erase(its);
}

const std::byte* LateStores::found_by(Warp& w, const Op* op, int lane, uint64_t address,
                                      std::size_t bytes) {
  if (all_.empty()) return nullptr;
  const auto found = all_.find(address);
  const bool is_it = found != all_.end() && found->second.bytes == bytes;
  if (is_it && found->second.block == w.block->number) return nullptr;
  const Late late = is_it ? found->second : Late{};
  forget(address, bytes);
  if (!is_it || comes_after_last_write(w, lane, address)) return nullptr;
  const Run& run = *w.block->run;
  last_seen_ = fmt::format(
      "{} read {} ({}) as it was before a thread of block {} of the grid changed it ({}), which "
      "other blocks may see late: a __threadfence behind that is missing",
      thread_text(w, lane), place_of_address(w, address), place_of(run.kernel, *op),
      late.block - run.numbering.others, place_of(run.kernel, *late.op));
  found_ = late.before;
  return found_.data();
}

}  // namespace ptx
