// malloc and free in kernels.
#include "ptx/machine/system/heap.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "ptx/machine/access.h"
#include "ptx/machine/handlers.h"
#include "ptx/machine/report/report.h"

namespace ptx {
namespace {

using std::uint32_t;
using std::uint64_t;

constexpr std::size_t unit = 16, known_of_piece = 16;  // bytes
constexpr std::size_t most_freed = 256;                // that are remembered, to be named

// Blocks that wait for each other need not be there at the same time.
bool is_used_up(Run& run, const Warp& w, int lane, std::size_t taken) {
  const Heap& heap = run.memory.heap;
  run.of_heap.enter(w.block->number, run.launch.fit_on_device);
  const std::size_t more = run.meets_others ? 0 : run.of_heap.more_of_others(w.block->number);
  if (heap.used + more + taken <= heap.limit) return false;
  run.of_heap.used_up = fmt::format(
      "malloc gave nothing to {}, since the kernels' heap has {} bytes, and {} blocks that may run "
      "at a time want more",
      thread_text(w, lane), heap.limit, run.of_heap.blocks());
  return true;
}

uint64_t allocate(Run& run, const Warp& w, int lane, uint64_t bytes) {
  Heap& heap = run.memory.heap;
  if (bytes == 0 || bytes > heap.limit) return 0;
  const std::size_t taken = (bytes + unit - 1) / unit * unit + known_of_piece;
  if (is_used_up(run, w, lane, taken)) return 0;
  auto region = make_region(bytes, fmt::format("memory of {} bytes of the kernels' heap", bytes));
  const uint64_t first = region->area.first;
  run.memory.insert(std::move(region));
  run.memory.at(first)->traced_after = 0;  // what this launch does there is to be seen
  heap.used += taken;
  heap.pieces[first] = {taken, &run, w.block->number};
  run.of_heap.give(w.block->number, taken);
  return first;
}

// d: where it lies; a: how many bytes.
const Op* allocate_each(const Op* op, Warp& w) {
  for (uint32_t left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    w.slot<uint64_t>(op->d)[lane] = allocate(*w.block->run, w, lane, w.slot<uint64_t>(op->a)[lane]);
  }
  return op + 1;
}

// As a write of all of it, so that it is ordered with what others do there. False after a finding.
bool touch(const Op* op, Warp& w, int lane, const Area& area) {
  for (uint64_t at = 0, bytes = 0; at < area.row_bytes; at += bytes) {
    uint32_t unwritten = 0;
    bytes = std::bit_floor(std::min<uint64_t>(unit, area.row_bytes - at));
    if (reach_global(w,
                     {.op = op,
                      .lane = lane,
                      .address = area.first + at,
                      .bytes = static_cast<int>(bytes),
                      .writes = true,
                      .does = "frees"},
                     unwritten) == nullptr)
      return false;
  }
  return true;
}

// a: the address.
const Op* free_each(const Op* op, Warp& w) {
  Run& run = *w.block->run;
  Memory::Contents& memory = run.memory;
  for (uint32_t left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint64_t first = w.slot<uint64_t>(op->a)[lane];
    if (first == 0) continue;
    const auto piece = memory.heap.pieces.find(first);
    if (piece == memory.heap.pieces.end()) {
      const bool is_freed = memory.heap.freed_at(first) != nullptr;
      report(w, op, Fault::bad_address,
             fmt::format("{} frees {}", thread_text(w, lane),
                         is_freed ? "memory that is free already"
                                  : "what malloc of a kernel did not give"));
      return nullptr;
    }
    if (!touch(op, w, lane, memory.at(first)->area)) return nullptr;
    memory.heap.used -= piece->second.bytes;
    if (piece->second.by == &run) run.of_heap.take(piece->second.block, piece->second.bytes);
    memory.heap.pieces.erase(piece);
    std::vector<std::unique_ptr<Region>>& freed = memory.heap.freed;
    freed.push_back(memory.take(first));
    run.forget_regions();
    const bool is_this_alone = memory.under_way == 1;  // nobody looks at them
    if (is_this_alone && freed.size() > most_freed) freed.erase(freed.begin());
  }
  return op + 1;
}

}  // namespace

const Region* Heap::freed_at(uint64_t address) const {
  const auto found = std::find_if(freed.begin(), freed.end(), [=](const auto& region) {
    return address - region->area.first < region->area.row_bytes;
  });
  return found == freed.end() ? nullptr : found->get();
}

void HeapOfBlocks::enter(uint32_t block, uint64_t at_a_time) {
  of_[block];
  if (of_.size() <= at_a_time) return;
  const auto has_none = [&](const auto& one) { return one.second.now == 0 && one.first != block; };
  const auto left_out = std::find_if(of_.begin(), of_.end(), has_none);
  if (left_out == of_.end()) return;
  more_ -= left_out->second.most;
  of_.erase(left_out);
}
void HeapOfBlocks::give(uint32_t block, std::size_t bytes) {
  Had& had = of_[block];
  more_ -= had.most - had.now;
  had.now += bytes;
  had.most = std::max(had.most, had.now);
  more_ += had.most - had.now;
}
void HeapOfBlocks::take(uint32_t block, std::size_t bytes) {
  const auto had = of_.find(block);
  if (had == of_.end()) return;
  had->second.now -= bytes;
  more_ += bytes;
}
std::size_t HeapOfBlocks::more_of_others(uint32_t block) const {
  const Had& own = of_.at(block);
  return more_ - (own.most - own.now);
}

void Run::forget_regions() {
  for (const std::uint32_t number : who_met_) met_[number].region = nullptr, met_[number].fit = {};
}

void Memory::Contents::heap_at_end(const Run& run, bool is_given_back) {
  for (auto at = heap.pieces.begin(); at != heap.pieces.end();) {
    auto& [first, piece] = *at;
    const bool is_of_it = piece.by == &run;
    if (is_of_it) piece.by = nullptr;
    if (!is_of_it || !is_given_back) {
      ++at;
      continue;
    }
    heap.used -= piece.bytes;
    heap.freed.push_back(take(first));  // which other launches may have met
    at = heap.pieces.erase(at);
  }
}

std::size_t Memory::bytes_of_heap() const { return contents_->heap.used; }
void Memory::set_heap(std::size_t bytes) { contents_->heap.limit = bytes; }
void Memory::release_heap() {
  for (const auto& [first, _] : contents_->heap.pieces) contents_->erase(first);
  contents_->heap.pieces.clear();
  contents_->heap.used = 0;
}

void add_heap_handlers(Handlers& to) {
  to["malloc"] = {allocate_each, ""};
  to["free"] = {free_each, ""};
}

}  // namespace ptx
