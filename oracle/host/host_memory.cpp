#include "oracle/host/host_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "oracle/host/addresses.h"

namespace assay {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t fence = std::size_t{1} << 20;
// Addresses cost nothing, and pages that trials have touched serve the next: few reserve again.
// Operands lie so far apart that 32 bits hold no distance between them, nor one in steps of 16
// bytes.
constexpr std::size_t least_reserved = std::size_t{1} << 37;
constexpr std::ptrdiff_t forbidden_bytes = std::ptrdiff_t{1} << 38;  // of each unreadable operand

std::size_t rounded_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

std::size_t whole_pages(std::size_t bytes) { return rounded_up(bytes, page); }

std::size_t bytes_of(std::int64_t floats) {
  return static_cast<std::size_t>(floats) * sizeof(float);
}

// Addresses that nobody may touch, as many as the largest operand could need.
std::byte* forbidden_memory() {
  static void* const memory = mmap(nullptr, std::size_t{1} << 40, PROT_NONE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(memory);
}

}  // namespace

void Region::reserve(std::size_t bytes) {
  // Nothing else is open. To close all pages that ever were would take longer than most trials.
  if (!close()) throw std::bad_alloc();
  opened_.clear();
  if (whole_pages(bytes) <= size_) return;
  release();
  // What is larger than a page and ends there lies across a multiple of `told_apart`.
  const std::size_t size = rounded_up(std::max(bytes, least_reserved), told_apart) + page;
  base_ = addresses_between_fences(size, fence);
  size_ = size;
}

void Region::open(std::byte* first, std::size_t bytes) {
  std::byte* const begin = first - reinterpret_cast<std::uintptr_t>(first) % page;
  const std::size_t length = whole_pages(static_cast<std::size_t>(first - begin) + bytes);
  if (mprotect(begin, length, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  opened_.push_back({begin, length});
}

// In one go, since what lies between is closed anyway.
bool Region::close() const {
  if (opened_.empty()) return true;
  std::byte *first = end(), *last = begin();
  for (const auto& [begin, length] : opened_) {
    first = std::min(first, begin);
    last = std::max(last, begin + length);
  }
  return mprotect(first, static_cast<std::size_t>(last - first), PROT_NONE) == 0;
}

void Region::protect(int access) const {
  if (access == PROT_NONE) return void(close());
  for (const auto& [begin, length] : opened_) mprotect(begin, length, access);
}

void Region::release() {
  if (base_ != nullptr) give_back_addresses(base_, size_, fence);
  base_ = nullptr;
  size_ = 0;
}

void Region::poison_beside(std::byte* first, std::size_t bytes) {
  const auto fill = [](std::byte* begin, std::byte* end) {
    std::fill(reinterpret_cast<std::uint32_t*>(begin), reinterpret_cast<std::uint32_t*>(end),
              guard_bits);
  };
  std::byte* const last = first + bytes;
  fill(first - reinterpret_cast<std::uintptr_t>(first) % page, first);
  fill(last, last + (page - reinterpret_cast<std::uintptr_t>(last) % page) % page);
}

float* HostMemory::place(Operand o, const Image& image, Placement placement) {
  Slot& slot = slots_[static_cast<std::size_t>(o)];
  Placed& placed = placed_[static_cast<std::size_t>(o)];
  const std::size_t bytes = bytes_of(image.spread());
  const bool lies_there = slot.end != nullptr && !slot.unreadable &&
                          placed.columns == image.columns &&
                          slot.first == slot.end - bytes + bytes_of(image.first);
  if (placement == Placement::as_left)
    return lies_there ? reinterpret_cast<float*>(slot.first) : nullptr;
  placed = {.rows = image.rows,
            .columns = image.columns,
            .ld = image.ld,
            .unreadable = placement == Placement::unreadable};
  slot.unreadable = placed.unreadable;
  if (o == Operand::workspace && image.floats.empty() && !slot.unreadable) {
    slot.region.reserve(0);
    slot.first = slot.end = nullptr;
    placed.rows = 0;
    return nullptr;
  }
  if (slot.unreadable) {
    slot.first = forbidden_memory() + forbidden_bytes * static_cast<std::ptrdiff_t>(o);
    placed.first = slot.first;
    return reinterpret_cast<float*>(slot.first);
  }
  if (placement == Placement::adjoining && o != Operand::a) return place_behind(o, image);
  const std::size_t away = placement == Placement::far_off ? told_apart : 0;
  slot.region.reserve(bytes + away);
  // Flush with the end of its pages, or with their beginning; everything around them faults. What
  // begins there may take a path for large pages.
  const bool at_beginning =
      placement == Placement::begins_at_fence || placement == Placement::adjoining;
  std::byte* const start = at_beginning ? slot.region.begin() : slot.region.end() - bytes - away;
  slot.first = start + bytes_of(image.first);
  placed.first = slot.first;
  slot.end = start + bytes;
  for (const Piece& piece : pieces_of(image)) {
    std::byte* const to = slot.at(piece);
    const std::size_t length = bytes_of(piece.end - piece.begin);
    slot.region.open(to, length);
    slot.region.poison_beside(to, length);
    std::memcpy(to, image.floats.data() + piece.begin, length);
  }
  return reinterpret_cast<float*>(slot.first);
}

// In the region of A, whose last page it shares.
float* HostMemory::place_behind(Operand o, const Image& image) {
  Slot& slot = slots_[static_cast<std::size_t>(o)];
  std::byte* const start = slots_[static_cast<std::size_t>(o) - 1].end;
  slot.first = start + bytes_of(image.first);
  slot.end = start + bytes_of(image.spread());
  placed_[static_cast<std::size_t>(o)].first = slot.first;
  for (const Piece& piece : pieces_of(image)) {
    slots_[0].region.open(slot.at(piece), bytes_of(piece.end - piece.begin));
    std::memcpy(slot.at(piece), image.floats.data() + piece.begin,
                bytes_of(piece.end - piece.begin));
  }
  return reinterpret_cast<float*>(slot.first);
}

void HostMemory::fetch(Operand o, Image& image) const {
  const Slot& slot = slots_[static_cast<std::size_t>(o)];
  for (const Piece& piece : pieces_of(image)) {
    std::memcpy(image.floats.data() + piece.begin, slot.at(piece),
                bytes_of(piece.end - piece.begin));
  }
}

std::optional<Image> HostMemory::change_of(Operand o, const Image& placed) const {
  const Slot& slot = slots_[static_cast<std::size_t>(o)];
  const auto pieces = pieces_of(placed);
  const bool same = std::all_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
    return std::memcmp(placed.floats.data() + piece.begin, slot.at(piece),
                       bytes_of(piece.end - piece.begin)) == 0;
  });
  if (same) return std::nullopt;
  Image now = placed;
  fetch(o, now);
  return now;
}

void HostMemory::protect(int access) const {
  for (const Slot& slot : slots_) {
    if (!slot.unreadable) slot.region.protect(access);
  }
}

Fences HostMemory::fences() { return {fence, forbidden_bytes}; }

Diagnosis HostMemory::whereabouts_of(const void* address) const {
  return whereabouts(address, placed_, fences());
}

}  // namespace assay
