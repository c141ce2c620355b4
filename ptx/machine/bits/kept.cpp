#include "ptx/machine/bits/kept.h"

#include <algorithm>
#include <cstring>

#include "ptx/machine/bits/results.h"
#include "ptx/machine/cluster/cluster.h"

namespace ptx {
namespace {

using std::uint32_t;
using std::uint64_t;

uint32_t bits_of_bytes(unsigned bytes) {
  uint32_t bits = 0;
  for (int i = 0; i < 4; ++i)
    if ((bytes >> i & 1) != 0) bits |= 0xffu << 8 * i;
  return bits;
}

// A value of less than a word is read from its place on.
void note(Warp& w, const Access& a, int n, uint32_t bits, const Origin& from) {
  if (n < 8) w.last_bits[n] = a.bytes < 4 ? bits >> a.address % 4 * 8 : bits;
  w.last_unwritten = from;
}

void keep(std::map<uint64_t, Kept>& all, uint64_t word, uint32_t at, uint32_t bits,
          const Origin& from) {
  Kept& kept = all[word];
  kept.bits = (kept.bits & ~at) | bits;
  kept.from = from;
}
uint32_t kept_bits(const std::map<uint64_t, Kept>& all, uint64_t word) {
  const auto found = all.find(word);
  return found == all.end() ? ~0u : found->second.bits;
}

// Where it is in shared memory of the block; beyond all of it if it is not.
uint64_t place_in_shared(const Warp& w, uint64_t address, Reach reach) {
  if (reach == reach_shared) return address;
  const auto base = reinterpret_cast<uint64_t>(w.block->shared.data());
  return reach == reach_generic ? address - base : ~uint64_t{0};
}
// Likewise, of arrays of its threads' own.
uint64_t place_in_own(const Warp& w, int lane, uint64_t address, Reach reach) {
  if (reach != reach_local && reach != reach_generic) return ~uint64_t{0};
  return w.block->place_in_local(static_cast<std::size_t>(w.index * warp_size + lane), address);
}

}  // namespace

void note_unwritten_shared(Warp& w, const Access& a, const Block& block, std::size_t word, int n) {
  unsigned bytes = 0;
  for (unsigned byte = 0; byte < 4; ++byte)
    if (!block.shadow.is_written(word, 1u << byte)) bytes |= 1u << byte;
  bytes &= bytes_within_word(a);
  note(w, a, n, bits_of_bytes(bytes) & kept_bits(block.unwritten_from, word),
       {.address = word * 4, .op = static_cast<uint32_t>(a.op - w.code), .in_shared = true});
}

void note_unwritten_own(Warp& w, const Access& a, std::size_t word, int n) {
  const Block& block = *w.block;
  const unsigned bytes = ~unsigned{block.local_is_written[word]} & bytes_within_word(a);
  note(w, a, n, bits_of_bytes(bytes) & kept_bits(block.own_unwritten, word),
       {.op = static_cast<uint32_t>(a.op - w.code), .in_own_array = true});
}

void note_unwritten_global(Warp& w, const Access& a, uint64_t address, int n) {
  note(w, a, n, ~0u, {.address = address, .op = static_cast<uint32_t>(a.op - w.code)});
}

void keep_unwritten(Warp& w, int lane, uint64_t address, const std::byte* bits, int bytes,
                    const Origin& from, Reach reach) {
  Block& block = *w.block;
  const uint64_t in_shared = place_in_shared(w, address, reach);
  const uint64_t in_own = place_in_own(w, lane, address, reach);
  const bool is_shared = in_shared < block.run->shared_bytes;
  if (!is_shared && in_own >= block.local.size()) return;
  const uint64_t first = is_shared ? in_shared : in_own, end = first + static_cast<uint64_t>(bytes);
  for (uint64_t word = first / 4; word * 4 < end; ++word) {
    uint32_t at = 0, unwritten = 0, lacking = 0;  // bits of the word, and bytes
    for (uint64_t byte = 0; byte < 4; ++byte) {
      const uint64_t place = word * 4 + byte;
      if (place < first || place >= end) continue;
      const auto of_byte = static_cast<uint32_t>(bits[place - first]);
      at |= 0xffu << 8 * byte;
      unwritten |= of_byte << 8 * byte;
      lacking |= uint32_t{of_byte != 0} << byte;
    }
    if (lacking == 0) continue;
    keep(is_shared ? block.unwritten_from : block.own_unwritten, word, at, unwritten, from);
    if (is_shared)
      block.shadow.unwrite(word, lacking);
    else
      block.local_is_written[word] &= static_cast<std::uint8_t>(~lacking);
  }
}

void keep_unwritten(Warp& w, int slot, int lane, uint64_t address, int bytes, Reach reach) {
  const uint64_t bits = unwritten_of(w, slot, lane);
  std::byte masks[sizeof bits];
  std::memcpy(masks, &bits, sizeof bits);
  keep_unwritten(w, lane, address, masks, bytes, origin_of(w, slot, lane), reach);
}

void unwrite(Block& block, std::size_t word) {
  block.unwritten_from.erase(word);
  block.shadow.unwrite(word);
}

bool is_in_block(const Warp& w, int lane, uint64_t address) {
  const Block& block = *w.block;
  return address < block.run->shared_bytes ||
         place_in_shared(w, address, reach_generic) < block.run->shared_bytes ||
         place_in_own(w, lane, address, reach_generic) < block.local.size() ||
         peer_of(block, address).block != nullptr;
}

}  // namespace ptx
