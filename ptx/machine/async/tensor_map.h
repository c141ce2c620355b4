// What a CUtensorMap holds here: a tensor in global memory, and the box of it that a copy moves. A
// kernel takes it as an opaque 128 bytes that the host encoded; hardware has it in another form,
// which is not documented.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ptx {

struct TensorMap {
  static constexpr std::size_t bytes = 128;
  static constexpr int most_dimensions = 5;
  static constexpr std::uint64_t our_mark = 0x70616d2d78747021;  // whoever made it made it here

  std::uint64_t mark = 0;
  std::uint64_t address = 0;
  std::array<std::uint64_t, most_dimensions - 1> strides = {};  // bytes, from the second dimension
  std::array<std::uint32_t, most_dimensions> last = {};         // elements in each, less 1
  std::array<std::uint16_t, most_dimensions> box = {};          // elements
  std::uint8_t element_bytes = 0, dimensions = 0;
  std::uint8_t swizzle = 0;  // the bits of an address from 7 on that move its pieces of 16 bytes
  bool is_real = false;      // its elements are, not integers
};
static_assert(sizeof(TensorMap) <= TensorMap::bytes);

}  // namespace ptx
