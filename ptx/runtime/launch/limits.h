// What the hardware has room for, and refuses.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptx/runtime/state.h"

namespace ptx::runtime {

std::size_t dynamic_allowed(const Kernel&, const KernelFacts&);  // bytes of shared memory
int registers_of_thread(std::uint64_t threads);                  // of a block; at most
// On a multiprocessor.
int blocks_that_fit(const KernelFacts&, std::uint64_t threads, std::size_t dynamic);
// Throws what a GPU would answer a launch with.
void refuse(const Kernel&, const KernelFacts&, const Configuration& asked);

}  // namespace ptx::runtime
