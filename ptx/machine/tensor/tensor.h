// Matrices that the lanes of a warp hold together, a few elements each, and what is done with them.
//
// Products of numbers of 16 and 19 bits are summed as cores.h says. Else each element is a chain of
// fused multiply-adds (in FP64 for f64) that begins with that of C and goes through k upwards; sums
// of integers are exact. Of a tf32 number the lowest 13 bits do not count.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/machine/warp.h"
#include "ptx/reader/module.h"

namespace ptx {

enum class Role : std::uint8_t { a, b, sum };

// What lies together in 16 rows of A, in 8 columns of B, and in 16 rows of sums, where four lanes
// share a line as mma has it; of any other it is only said where each element is.
enum class Layout : std::uint8_t { any, rows, columns, sums };

// How the elements of a matrix lie in the registers of a warp.
struct Fragment {
  Type type = Type::none;
  int rows = 0, columns = 0;
  int per_register = 1;
  int list = 0, registers = 0;  // its slots, in Program::Kernel::lists
  Layout layout = Layout::any;
  std::vector<std::uint16_t> at;  // row * columns + column, of [register][part][lane]
  int count() const { return rows * columns; }
};

// What an operation on matrices needs to know; Op::e is its index in Program::Kernel. A load or
// store has its matrix in d.
struct MatrixOp {
  Fragment a, b, c, d;
  bool saturates = false;
  bool by_columns = false;  // in memory: of a load or store
  int stride = -1;          // slot of the distance between rows or columns; -1: packed
  int element_bytes = 0;
};

struct Extents {
  int m = 0, n = 0, k = 0;
};
// As mma has it, which is documented; of wmma, whose own is not, with sums as on an H200.
Fragment fragment_of_mma(Role, const Extents&, Type, int registers);
Fragment fragment_of_wmma(Role, const Extents&, Type, int registers);

}  // namespace ptx
