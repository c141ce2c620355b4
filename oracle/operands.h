// The memory of a case before a launch: three matrices and the workspace, each inside guards.
// Everything that is not an element is NaN of a known pattern, so that reading it shows in the
// result and writing it in the bits. For every fifth seed it is ordinary numbers instead, so that
// no kernel can tell it from elements.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/gemm.h"
#include "oracle/case.h"

namespace assay {

// The poison is signalling NaN. Arithmetic on a CPU turns it into the quiet NaN of the same
// payload, so a result shows what it was computed from, and the unchanged bits show what nobody
// wrote. A GPU forgets the payload.
inline constexpr std::uint32_t guard_bits = 0x7f8a11edu;    // outside a matrix
inline constexpr std::uint32_t padding_bits = 0x7f8add1du;  // between its rows
inline constexpr std::uint32_t unwritten_bits =
    0x7f8deaddu;  // an element of C before it is written
inline constexpr std::uint32_t workspace_bits = 0x7f990000u;  // in 16 of them launches differ

// Where a matrix lies.
enum class Placement {
  guarded,        // NaN on both sides
  elsewhere,      // as guarded, at another address that is aligned alike
  far_off,        // as guarded, 4 GiB away: the lower half of the address is the same; on the host
  ends_at_fence,  // memory that faults begins right after its last element
  begins_at_fence,  // memory that faults ends right before its first element
  adjoining,        // A first, and each other one right behind the last; on the host only
  unreadable,       // all of it faults
  as_left,          // where it lay and as it was left; nowhere if it had another size
};

enum class Operand { a, b, c, workspace };
inline constexpr std::array operands = {Operand::a, Operand::b, Operand::c};
inline constexpr std::array operands_and_workspace = {Operand::a, Operand::b, Operand::c,
                                                      Operand::workspace};
constexpr bool is_input(Operand o) { return o == Operand::a || o == Operand::b; }
template <class Value>
using ByOperand = std::array<Value, operands_and_workspace.size()>;
const char* to_string(Operand);

inline constexpr std::int64_t widest_stored_gap = 1 << 16;  // floats

// The host image of one matrix: `first` floats lie before element (0, 0), and the last row has no
// gap. An image stores only the beginning of a gap wider than `widest_stored_gap`; on a machine the
// rest of that gap faults.
struct Image {
  std::int64_t rows = 0, columns = 0, ld = 0, first = 0;
  std::int64_t stride = 0;  // from row to row in `floats`: ld, or less
  std::vector<float> floats;

  bool is_sparse() const { return stride != ld; }
  // From element (0, 0) to the end of the last row, as stored here and as it spreads on a machine.
  std::int64_t extent() const {
    return rows == 0 || columns == 0 ? 0 : (rows - 1) * stride + columns;
  }
  std::int64_t span() const { return rows == 0 || columns == 0 ? 0 : (rows - 1) * ld + columns; }
  // Floats from the first guard to the last, on a machine.
  std::int64_t spread() const {
    return static_cast<std::int64_t>(floats.size()) - extent() + span();
  }
  const float* row(std::int64_t i) const { return floats.data() + first + i * stride; }
  float* row(std::int64_t i) { return floats.data() + first + i * stride; }
};

// A stretch of an image that is contiguous on a machine: floats [begin, end) of the image go to
// float `at`, counted from element (0, 0).
struct Piece {
  std::int64_t begin, end, at;
};
std::vector<Piece> pieces_of(const Image&);

struct Operands {
  ByOperand<Image> images;  // the workspace has none before its size is known
  Image& operator[](Operand o) { return images[static_cast<std::size_t>(o)]; }
  const Image& operator[](Operand o) const { return images[static_cast<std::size_t>(o)]; }
};

// The bytes of a case's operands, as stored.
double bytes_of(const Case&);

// What a launch function is given.
struct Given : Gemm {
  void* workspace = nullptr;
};

// The problem of a case whose element (0, 0) of each matrix lies at these addresses.
Gemm gemm_of(const Case&, const float* a, const float* b, float* c);

// The memory before a launch: A and B filled, C filled where beta != 0 and unwritten where it is 0.
// With a placement at a fence the image ends (begins) with the last (first) element, rounded so
// that `alignment` bytes of base alignment hold.
Operands make_operands(const Case&, Placement placement, const std::array<int, 3>& alignment);

// The workspace of a launch, as one row: it holds anything but zeros, which differ from `launch` to
// `launch`. Nothing at all for 0 bytes.
Image make_workspace(const Case&, std::int64_t bytes, Placement, std::uint64_t launch = 0);

// The same without guards in front, so that the operands begin where memory from cudaMalloc does,
// plus their offsets, if an image is placed at a multiple of 256 bytes.
Operands operands_of_allocations(const Case&);

// Whether an element of C is what it was before a launch that was to write it.
bool is_unwritten(const Case&, const Image& before, std::int64_t i, std::int64_t j, float got);

// One element of a fill, which depends on these arguments alone.
float fill_element(const Case&, Operand, std::int64_t i, std::int64_t j);

// No right way to compute an element exceeds this on its way, but for infinities among the
// elements: in whatever order it sums, and whether it applies alpha before the sum or after it.
// With fill=largest results do exceed the largest float, each in every order or in none.
double largest_sum(const Case&);

// Whether every order of summation is exact for a case with the fill `exact`.
bool is_exactly_summable(const Case&);

}  // namespace assay
