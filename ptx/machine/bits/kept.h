// Memory that holds values of which nobody wrote some bits: which bits, and where they come from.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptx/machine/access.h"

namespace ptx {

// That the n-th word of what an access reads lacks some bytes, or some bits of them: of a word of
// shared memory of a block, and of one of a thread's own arrays, both by their number.
void note_unwritten_shared(Warp&, const Access&, const Block&, std::size_t word, int n);
void note_unwritten_own(Warp&, const Access&, std::size_t word, int n);
// And of global memory, which keeps no more than words.
void note_unwritten_global(Warp&, const Access&, std::uint64_t address, int n);

// That bits of what a lane has just stored are such: `bits` are `bytes` bytes of masks. Nothing is
// kept of global memory.
void keep_unwritten(Warp&, int lane, std::uint64_t address, const std::byte* bits, int bytes,
                    const Origin&, Reach);
// Of a value in a slot.
void keep_unwritten(Warp&, int slot, int lane, std::uint64_t address, int bytes, Reach);
// That nothing of a word of shared memory is written any more.
void unwrite(Block&, std::size_t word);

// Whether a generic address is one that only the block, or its cluster, knows.
bool is_in_block(const Warp&, int lane, std::uint64_t address);

}  // namespace ptx
