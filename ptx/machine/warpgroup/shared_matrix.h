// A matrix in shared memory, as a descriptor of wgmma has it: pieces of 16 bytes, each within one
// row or column, that may be swizzled.
//
// `lines` are rows of A or columns of B. In a matrix whose lines are along k, a piece holds
// neighbours of a line, and there are two of them in each. In one that lies the other way, a piece
// holds neighbouring lines of one k. Every eight pieces that follow each other across the piece are
// a unit, of 128 bytes or of as many times that as pieces are swizzled together.
#pragma once

#include <cstdint>

namespace ptx {

class SharedMatrix {
 public:
  explicit SharedMatrix(std::uint64_t descriptor)
      : start_(field(descriptor, 0)),
        leading_(field(descriptor, 16)),
        stride_(field(descriptor, 32)),
        base_offset_(static_cast<std::uint32_t>(descriptor >> 49 & 7)),
        together_(pieces_together(descriptor >> 62)) {}

  // Where the piece `of_line` (0 or 1) of a line begins.
  std::uint32_t along_k(std::uint32_t line, std::uint32_t of_line) const {
    return swizzled(start_ + line % 8 * piece * together_ + line / 8 * stride_ +
                    of_line * (together_ == 1 ? leading_ : piece));
  }
  // Where the piece begins that holds the lines of `group` at k.
  std::uint32_t across_k(std::uint32_t group, std::uint32_t k) const {
    const std::uint32_t in_unit = k % 8 * piece * together_;
    if (together_ == 1) return start_ + in_unit + group * stride_ + k / 8 * leading_;
    return swizzled(start_ + in_unit + group % together_ * piece + group / together_ * leading_ +
                    k / 8 * stride_);
  }

 private:
  static constexpr std::uint32_t piece = 16;  // bytes

  static std::uint32_t field(std::uint64_t descriptor, int from) {
    return static_cast<std::uint32_t>(descriptor >> from & 0x3fff) << 4;
  }
  static std::uint32_t pieces_together(std::uint64_t mode) { return mode == 0 ? 1 : 16u >> mode; }
  // The place of a piece among those that are swizzled together changes with the unit of 128 bytes.
  std::uint32_t swizzled(std::uint32_t at) const {
    return at ^ ((((at >> 7) - base_offset_) & (together_ - 1)) * piece);
  }

  std::uint32_t start_, leading_, stride_;  // bytes
  std::uint32_t base_offset_;
  std::uint32_t together_;  // pieces: 1 if none are swizzled
};

}  // namespace ptx
