// Addresses for an operand on the host.
#pragma once

#include <cstddef>

namespace assay {

// At each multiple of it the lower half of an address begins anew: a kernel that counts in that
// alone goes astray there. It also holds any page that a machine has whole times, and some kernels
// take a path of its own for what begins a page.
inline constexpr std::size_t turn = std::size_t{1} << 32;

// Reserves that many between two fences, all of which fault until they are opened. The first is a
// multiple of `turn`. Throws std::bad_alloc.
std::byte* addresses_between_fences(std::size_t bytes, std::size_t fence);

// Gives them back.
void give_back_addresses(std::byte* first, std::size_t bytes, std::size_t fence);

}  // namespace assay
