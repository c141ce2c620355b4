#include "oracle/operands.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "oracle/fills/filling.h"

namespace assay {
namespace {

constexpr std::int64_t guard_floats = 64;

std::int64_t stored(Gap gap) { return gap.floats <= widest_stored_gap ? gap.floats : guard_floats; }

// Every fifth seed has ordinary numbers wherever else there is poison: then nothing can tell what
// lies around a matrix from what lies in it, and a wrong read gives a wrong result.
bool has_ordinary_surroundings(const Case& c) { return c.seed % 5 == 4; }

// Every second case without offsets begins all matrices where an allocation on a GPU begins: some
// kernels take a path of its own there.
constexpr int alignment_of_allocations = 256;
bool begins_as_allocations_do(const Case& c) {
  return c.offset.are_of_allocations() || (c.offset == Offsets{} && c.seed % 2 == 0);
}

// How many floats of guard lie before and after a matrix whose first element is `offset` floats
// past a multiple of 16 bytes. An image without a fence in it fills whole pages, so that a machine
// can put a fence right beside it.
struct Guards {
  std::int64_t before, after;
};

Guards guards_of(Placement placement, std::int64_t span, int offset, int alignment) {
  constexpr std::int64_t page = 4096 / sizeof(float), quad = 4;
  const std::int64_t unit = std::clamp<std::int64_t>(alignment / sizeof(float), quad, guard_floats);
  const auto missing = [](std::int64_t floats, std::int64_t unit) {
    return (unit - floats % unit) % unit;
  };
  switch (placement) {
    case Placement::begins_at_fence: return {0, guard_floats};
    case Placement::ends_at_fence:  // what the base needs to be aligned, seen from the fence
      return {guard_floats, missing(span, alignment / static_cast<int>(sizeof(float)))};
    case Placement::guarded:
    case Placement::elsewhere:
    case Placement::far_off:
    case Placement::adjoining:
    case Placement::unreadable:
    case Placement::as_left: break;
  }
  const std::int64_t after = guard_floats + missing(offset + span, unit);
  const std::int64_t before = guard_floats + missing(guard_floats + offset + span + after, page);
  if (placement == Placement::elsewhere) return {before + unit, after + page - unit};
  return {before, after};
}

// `count` floats that are no elements, from column j of row i on.
void surround(const Case& c, Operand o, std::uint32_t poison, float* floats, std::int64_t count,
              std::int64_t i, std::int64_t j) {
  if (!has_ordinary_surroundings(c))
    return void(std::fill_n(floats, count, std::bit_cast<float>(poison)));
  const std::uint64_t key = mix(c.seed, o, i) + static_cast<std::uint64_t>(j);
  for (std::int64_t x = 0; x < count; ++x)
    floats[x] = uniform(scramble(key + static_cast<std::uint64_t>(x)));
}

}  // namespace

bool is_unwritten(const Case& c, const Image& before, std::int64_t i, std::int64_t j, float got) {
  return c.beta == 0 &&
         std::bit_cast<std::uint32_t>(got) == std::bit_cast<std::uint32_t>(before.row(i)[j]);
}

const char* to_string(Operand o) {
  switch (o) {
    case Operand::a: return "A";
    case Operand::b: return "B";
    case Operand::c: return "C";
    case Operand::workspace: return "the workspace";
  }
  return "?";
}

double bytes_of(const Case& c) {
  const auto matrix = [](std::int64_t rows, std::int64_t columns, Gap gap) {
    return static_cast<double>(rows) * static_cast<double>(columns + stored(gap)) * sizeof(float);
  };
  return matrix(c.m, c.k, c.lda) + matrix(c.k, c.n, c.ldb) + matrix(c.m, c.n, c.ldc);
}

float fill_element(const Case& c, Operand o, std::int64_t i, std::int64_t j) {
  return Filling(c, o).at(i, j);
}

namespace {
// Of an element of A and one of B. Where they have structure, numbers of few bits have exponents of
// their own, and beside them lie lines of any scale.
double largest_special_product(const Case& c) {
  const auto structure = structure_of_special(c);
  if (!structure || !is_narrow(pattern_of(c.seed, structure->of))) return 1;
  const bool is_scaled = narrow_alone(c.seed) && scale_beside_narrow(c.seed) == Scale::large;
  return is_scaled ? 0x1p108 : 0x1p70;
}
}  // namespace

double largest_sum(const Case& c) {
  const double alpha = std::abs(double{c.alpha}), beta = std::abs(double{c.beta});
  const auto k = static_cast<double>(c.k);
  if (c.fill == Fill::largest) return 0x1p128;
  if (c.fill == Fill::balanced) {
    const auto [a, b, in_c] = balancing_exponents(c);
    const double sum = k * std::ldexp(1.0, a + b);
    return std::max({std::ldexp(alpha, std::max(a, b)), std::max(1.0, alpha) * sum}) +
           std::ldexp(beta, in_c);
  }
  const double element = c.fill == Fill::exact        ? 4095
                         : c.fill == Fill::small_ints ? 8
                         : c.fill == Fill::scaled     ? 0x1p90
                                                      : 1;
  const double product = c.fill == Fill::small_ints  ? 64
                         : c.fill == Fill::patterned ? 0x1p60
                         : c.fill == Fill::special   ? largest_special_product(c)
                                                     : element;
  return std::max(1.0, alpha) * k * product + beta * element;
}

bool is_exactly_summable(const Case& c) {
  const double alpha = std::abs(double{c.alpha}), beta = std::abs(double{c.beta}),
               k = static_cast<double>(c.k);
  if (alpha * 2 != std::floor(alpha * 2) || beta * 2 != std::floor(beta * 2)) return false;
  const double unit = alpha == std::floor(alpha) && beta == std::floor(beta) ? 1 : 0.5;
  const double largest = 4095, most = 1 << 24;
  return k * largest <= most && (alpha * k + beta) * largest / unit <= most;
}

Gemm gemm_of(const Case& c, const float* a, const float* b, float* first_c) {
  return {.m = c.m,
          .n = c.n,
          .k = c.k,
          .alpha = c.alpha,
          .beta = c.beta,
          .a = a,
          .lda = c.k + c.lda.floats,
          .b = b,
          .ldb = c.n + c.ldb.floats,
          .c = first_c,
          .ldc = c.n + c.ldc.floats};
}

Operands make_operands(const Case& c, Placement placement, const std::array<int, 3>& alignment) {
  Operands all;
  std::int64_t together = 0;  // floats of those before, where they adjoin
  for (Operand o : operands) {
    const auto index = static_cast<std::size_t>(o);
    const Shape shape = shape_of(c, o);
    const Gap gap = o == Operand::a ? c.lda : o == Operand::b ? c.ldb : c.ldc;
    Image& image = all[o];
    image.rows = shape.rows, image.columns = shape.columns, image.ld = shape.columns + gap.floats;
    image.stride = shape.columns + stored(gap);
    const bool at_fence =
        placement == Placement::ends_at_fence || placement == Placement::begins_at_fence;
    const bool adjoins = placement == Placement::adjoining;
    const int offset = at_fence || adjoins ? 0 : c.offset.floats[index];
    const int aligned = placement == Placement::guarded && begins_as_allocations_do(c)
                            ? std::max(alignment_of_allocations, alignment[index])
                            : alignment[index];
    Guards guards = guards_of(placement, image.span(), offset, aligned);
    if (adjoins) {
      const std::int64_t unit = alignment[index] / static_cast<int>(sizeof(float));
      const std::int64_t begin = ceil_div(together, unit) * unit;
      guards = {o == Operand::a ? guard_floats : begin - together,
                o == Operand::c ? guard_floats : 0};
      together = begin + image.span();
    }
    image.first = guards.before + offset;
    const std::int64_t size = image.first + image.extent() + guards.after;
    image.floats.resize(static_cast<std::size_t>(size));
    float* const floats = image.floats.data();
    const std::int64_t end = image.first + image.extent();
    surround(c, o, guard_bits, floats, image.first, -1, 0);
    surround(c, o, guard_bits, floats + end, size - end, -1, end);
    const Filling filling(c, o);
    const bool written_first = o == Operand::c && c.beta == 0;
    for (std::int64_t i = 0; i < image.rows && image.columns > 0; ++i) {
      float* const row = image.row(i);
      if (written_first) {
        surround(c, o, unwritten_bits, row, image.columns, i, 0);
      } else {
        filling.fill_row(row, i, image.columns);
      }
      if (i + 1 < image.rows)
        surround(c, o, padding_bits, row + image.columns, image.stride - image.columns, i,
                 image.columns);
    }
  }
  return all;
}

Image make_workspace(const Case& c, std::int64_t bytes, Placement placement, std::uint64_t launch) {
  constexpr Operand o = Operand::workspace;
  Image image;
  if (bytes == 0) return image;
  image.rows = 1, image.columns = image.ld = image.stride = ceil_div(bytes, sizeof(float));
  const Guards guards = guards_of(placement, image.span(), 0, alignment_of_allocations);
  image.first = guards.before;
  image.floats.resize(static_cast<std::size_t>(guards.before + image.span() + guards.after));
  float* const first = image.row(0);
  const std::int64_t end = image.columns;
  surround(c, o, guard_bits, image.floats.data(), guards.before, -1, 0);
  surround(c, o, guard_bits, first + end, guards.after, -1, end);
  const std::uint64_t key = scramble(launch);
  const auto poison = workspace_bits | static_cast<std::uint32_t>(key & 0xffff);
  surround(c, o, poison, first, end, static_cast<std::int64_t>(launch), 0);
  return image;
}

Operands operands_of_allocations(const Case& c) {
  Operands all = make_operands(c, Placement::guarded, {4, 4, 4});
  for (Operand o : operands) {
    Image& image = all[o];
    const std::int64_t offset = c.offset.floats[static_cast<std::size_t>(o)];
    image.floats.erase(image.floats.begin(), image.floats.begin() + (image.first - offset));
    image.first = offset;
  }
  return all;
}

std::vector<Piece> pieces_of(const Image& image) {
  const auto size = static_cast<std::int64_t>(image.floats.size());
  if (!image.is_sparse() || image.rows < 2 || image.columns == 0) return {{0, size, -image.first}};
  std::vector<Piece> pieces;
  for (std::int64_t i = 0; i < image.rows; ++i) {
    const std::int64_t begin = i == 0 ? 0 : image.first + i * image.stride;
    const std::int64_t end = i + 1 == image.rows ? size : image.first + (i + 1) * image.stride;
    pieces.push_back({begin, end, i == 0 ? -image.first : i * image.ld});
  }
  return pieces;
}

}  // namespace assay
