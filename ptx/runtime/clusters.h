// Clusters of a launch: which one it has, and which ones a device refuses. As an H100 answers: all
// that does not fit together is cudaErrorInvalidClusterSize.
#pragma once

#include <cstdint>
#include <string>

#include "ptx/runtime/state.h"

namespace ptx::runtime {

// That the launch asks for, else that the kernel requires, else of one block.
Dim cluster_of(const Kernel&, const KernelFacts&, const Configuration&);
// How many blocks of the launch the device has room for together.
std::uint64_t blocks_on_device(const Kernel&, const KernelFacts&, const Configuration&);
// Empty if the launch may have it.
std::string why_no_such_cluster(const Kernel&, const KernelFacts&, const Configuration&);

}  // namespace ptx::runtime
