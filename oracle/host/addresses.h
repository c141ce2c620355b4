// Addresses for an operand on the host.
#pragma once

#include <cstddef>

namespace assay {

// Reserves that many between two fences, all of which fault until they are opened. The first is a
// multiple of the largest page that a machine has: some kernels take a path of its own for what
// begins a page. Throws std::bad_alloc.
std::byte* addresses_between_fences(std::size_t bytes, std::size_t fence);

// Gives them back.
void give_back_addresses(std::byte* first, std::size_t bytes, std::size_t fence);

}  // namespace assay
