// The GPUs that the machine can stand in for. A model decides what host code learns of the device,
// and which launches it refuses; not how fast anything is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ptx {

struct Model {
  std::string_view name, full_name;  // "h200", "NVIDIA H200"
  int major = 0, minor = 0;          // compute capability
  int multiprocessors = 0;
  int threads_per_multiprocessor = 0, blocks_per_multiprocessor = 0;
  std::size_t shared_per_multiprocessor = 0;
  std::size_t shared_optin = 0;  // of one block, after cudaFuncSetAttribute
  std::size_t memory = 0;
  int l2 = 0, persisting_l2 = 0;
  int clock_khz = 0, memory_clock_khz = 0, bus_bits = 0;

  // What all of them have in common.
  static constexpr std::size_t shared_per_block = 48 * 1024, reserved_shared = 1024;
  static constexpr int registers = 65536;  // of a block, and of a multiprocessor
  static constexpr int constants = 65536;
  static constexpr std::size_t access_window = std::size_t{1} << 27;  // as an H100 says; bytes
  static constexpr unsigned max_threads = 1024, max_block_z = 64;
  static constexpr unsigned max_grid_x = 2147483647, max_grid_yz = 65535;
};

// Throws BadInput, with the names of all, if there is none of that name.
const Model& model_named(std::string_view name);

}  // namespace ptx
