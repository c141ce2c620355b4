// Addresses for an operand on the host.
#pragma once

#include <cstddef>

namespace assay {

// As many addresses as 32 bits tell apart: a kernel that counts in the lower half of an address
// alone goes astray at a multiple of it. What begins there also begins a page, however large the
// pages of a machine are, for which some kernels take a path of its own.
inline constexpr std::size_t told_apart = std::size_t{1} << 32;

// Reserves that many between two fences, all of which fault until they are opened. The first is a
// multiple of `told_apart`. Throws std::bad_alloc.
std::byte* addresses_between_fences(std::size_t bytes, std::size_t fence);

// Gives them back.
void give_back_addresses(std::byte* first, std::size_t bytes, std::size_t fence);

}  // namespace assay
