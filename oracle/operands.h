// The memory of a case, as it must look before a launch: three matrices, each inside guards, with
// everything that is not an element poisoned by NaN of a known pattern, so that a read of it shows
// in the result and a write to it in the bits.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/gemm.h"
#include "oracle/case.h"

namespace assay {

// What stands where no element is: signalling NaN. Arithmetic turns one into the quiet NaN of the
// same payload (a CPU does, a GPU forgets the payload), so a result can tell what it was made from,
// and only what nobody wrote is unchanged.
inline constexpr std::uint32_t guard_bits = 0x7f8a11edu;    // outside a matrix
inline constexpr std::uint32_t padding_bits = 0x7f8add1du;  // between its rows
inline constexpr std::uint32_t unwritten_bits =
    0x7f8deaddu;  // an element of C before it is written
bool is_unwritten(float value);

// Where a NaN came from, such as "a gap between rows"; empty if it is none of ours.
std::string origin_of_nan(float value);

// Where a matrix lies. `guarded`: NaN on both sides. `ends_at_fence`, `begins_at_fence`: memory
// that faults when touched comes right after its last, or right before its first element.
// `unreadable`: all of it faults.
enum class Placement { guarded, ends_at_fence, begins_at_fence, unreadable };

enum class Operand { a, b, c };
inline constexpr std::array operands = {Operand::a, Operand::b, Operand::c};
const char* to_string(Operand);

// In floats.
inline constexpr std::int64_t widest_stored_gap = 1 << 16;

// The host image of one matrix: `first` floats lie before element (0, 0), and there is nothing of
// the last row's gap. Of a gap too wide to be stored only the beginning is; on a machine the rest
// of it is memory that faults.
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

// A stretch of an image that lies in one piece on a machine: floats [begin, end) of the image go to
// float `at`, counted from element (0, 0).
struct Piece {
  std::int64_t begin, end, at;
};
std::vector<Piece> pieces_of(const Image&);

struct Operands {
  std::array<Image, 3> images;
  Image& operator[](Operand o) { return images[static_cast<std::size_t>(o)]; }
  const Image& operator[](Operand o) const { return images[static_cast<std::size_t>(o)]; }
};

// The bytes that the operands of a case take, as stored.
double bytes_of(const Case&);

// What a launch finds: A and B filled, C filled where beta != 0 and unwritten where it is 0. With a
// placement at a fence the image ends (begins) with the last (first) element, rounded so that
// `alignment` bytes of base alignment hold.
Operands make_operands(const Case&, Placement placement, const std::array<int, 3>& alignment);

// One element of a fill, which depends on nothing but these.
float fill_element(const Case&, Operand, std::int64_t i, std::int64_t j);

// Whether every order of summation gives the exact result for a case with the fill `exact`.
bool is_exactly_summable(const Case&);

// What `after` has lost against `before` outside of what a launch may write, in words; empty if
// nothing.
std::string contract_breach(const Operands& before, const Operands& after);

}  // namespace assay
