#include "oracle/operands.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace assay {
namespace {

constexpr std::int64_t guard_floats = 64;

std::int64_t stored(Gap gap) { return gap.floats <= widest_stored_gap ? gap.floats : guard_floats; }

// A well-mixed function of its arguments (the finaliser of splitmix64, applied twice).
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
std::uint64_t mix(std::uint64_t seed, Operand o, std::int64_t i, std::int64_t j) {
  const auto key = mix(seed * 4 + static_cast<std::uint64_t>(o));
  return mix(mix(key ^ static_cast<std::uint64_t>(i)) + static_cast<std::uint64_t>(j));
}

float uniform(std::uint64_t random) {  // in [-1, 1], never 0
  return (static_cast<float>(random >> 41) + 0.5f) / static_cast<float>(1 << 22) - 1.0f;
}
float sign(std::uint64_t random) { return (random >> 63) != 0 ? -1.0f : 1.0f; }

struct Shape {
  std::int64_t rows, columns;
};
Shape shape_of(const Case& c, Operand o) {
  switch (o) {
    case Operand::a: return {c.m, c.k};
    case Operand::b: return {c.k, c.n};
    case Operand::c: return {c.m, c.n};
  }
  return {};
}

// One of each matrix, so that the rest of the result stays finite and judged.
float special_element(const Case& c, Operand o, std::int64_t i, std::int64_t j) {
  const Shape shape = shape_of(c, o);
  const std::uint64_t where = mix(c.seed, o, -1, -1);
  if (i == static_cast<std::int64_t>(where % 1009) % shape.rows &&
      j == static_cast<std::int64_t>(where / 1009 % 1013) % shape.columns) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr std::array values = {std::numeric_limits<float>::quiet_NaN(), infinity, -infinity};
    return values[where / 1022117 % 3];
  }
  return uniform(mix(c.seed, o, i, j));
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
    case Placement::unreadable: break;
  }
  const std::int64_t after = guard_floats + missing(offset + span, unit);
  return {guard_floats + missing(guard_floats + offset + span + after, page), after};
}

}  // namespace

bool is_unwritten(float value) { return std::bit_cast<std::uint32_t>(value) == unwritten_bits; }

const char* to_string(Operand o) {
  switch (o) {
    case Operand::a: return "A";
    case Operand::b: return "B";
    case Operand::c: return "C";
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
  const std::uint64_t random = mix(c.seed, o, i, j);
  switch (c.fill) {
    case Fill::uniform: return uniform(random);
    case Fill::exact: {
      // Odd numbers of 12 bits, which TF32, FP16 and BF16 cannot hold, times 1 or -1; the seed says
      // which is which.
      const Operand plain = c.seed % 2 == 0 ? Operand::b : Operand::a;
      return o == plain ? sign(random)
                        : sign(random) * static_cast<float>(2049 + 2 * (random % 1024));
    }
    case Fill::small_ints: return static_cast<float>(static_cast<int>(random % 17) - 8);
    case Fill::identity: return o == Operand::a ? static_cast<float>(i == j) : uniform(random);
    case Fill::one_hot:
      if (o != Operand::a) return uniform(random);
      return static_cast<float>(j == static_cast<std::int64_t>(mix(c.seed, o, i, -1) >> 1) % c.k);
    case Fill::special: return special_element(c, o, i, j);
  }
  return 0;
}

double largest_sum(const Case& c) {
  const double alpha = std::abs(double{c.alpha}), beta = std::abs(double{c.beta});
  const double element = c.fill == Fill::exact ? 4095 : c.fill == Fill::small_ints ? 8 : 1;
  const double product = c.fill == Fill::small_ints ? 64 : element;
  return std::max(1.0, alpha) * static_cast<double>(c.k) * product + beta * element;
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
  for (Operand o : operands) {
    const auto index = static_cast<std::size_t>(o);
    const Shape shape = shape_of(c, o);
    const Gap gap = o == Operand::a ? c.lda : o == Operand::b ? c.ldb : c.ldc;
    Image& image = all[o];
    image.rows = shape.rows, image.columns = shape.columns, image.ld = shape.columns + gap.floats;
    image.stride = shape.columns + stored(gap);
    const bool at_fence =
        placement == Placement::ends_at_fence || placement == Placement::begins_at_fence;
    const int offset = at_fence ? 0 : c.offset.floats[index];
    const Guards guards = guards_of(placement, image.span(), offset, alignment[index]);
    image.first = guards.before + offset;
    const std::int64_t size = image.first + image.extent() + guards.after;
    image.floats.assign(static_cast<std::size_t>(size), std::bit_cast<float>(guard_bits));

    const bool written_first = o == Operand::c && c.beta == 0;
    for (std::int64_t i = 0; i < image.rows; ++i) {
      float* row = image.row(i);
      for (std::int64_t j = 0; j < image.columns; ++j) {
        row[j] = written_first ? std::bit_cast<float>(unwritten_bits) : fill_element(c, o, i, j);
      }
      if (i + 1 < image.rows && image.columns > 0) {
        std::fill(row + image.columns, row + image.stride, std::bit_cast<float>(padding_bits));
      }
    }
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
