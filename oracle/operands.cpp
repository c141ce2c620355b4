#include "oracle/operands.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/scramble.h"

namespace assay {
namespace {

constexpr std::int64_t guard_floats = 64;

std::int64_t stored(Gap gap) { return gap.floats <= widest_stored_gap ? gap.floats : guard_floats; }

// The key of row i of a matrix. An element adds its column, and so is a well-mixed function of all.
std::uint64_t mix(std::uint64_t seed, Operand o, std::int64_t i) {
  return scramble(scramble(seed * 4 + static_cast<std::uint64_t>(o)) ^
                  static_cast<std::uint64_t>(i));
}
std::uint64_t mix(std::uint64_t seed, Operand o, std::int64_t i, std::int64_t j) {
  return scramble(mix(seed, o, i) + static_cast<std::uint64_t>(j));
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

// An index near the end as often as anywhere.
std::int64_t index_in(std::int64_t size, std::uint64_t random) {
  const auto any = static_cast<std::int64_t>(random / 2 % 1000003);
  return random % 2 == 0 ? any % size : size - 1 - any % std::min<std::int64_t>(size, 4);
}

struct SpecialValue {
  std::int64_t row, column;
  float value;
};
SpecialValue special_value(const Case& c, Operand o, int number) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr std::array values = {std::numeric_limits<float>::quiet_NaN(), infinity, -infinity};
  const Shape shape = shape_of(c, o);
  const std::uint64_t where = mix(c.seed, o, -1, number);
  return {index_in(shape.rows, where), index_in(shape.columns, scramble(where)),
          values[(where >> 40) % values.size()]};
}

// The elements of one matrix.
class Filling {
 public:
  Filling(const Case& c, Operand o) : c_(c), o_(o) {
    if (c.fill == Fill::special && c.m > 0 && c.n > 0 && c.k > 0) choose_special_values();
  }

  void fill_row(float* row, std::int64_t i, std::int64_t columns) const {
    const std::uint64_t key = mix(c_.seed, o_, i);
    for (std::int64_t j = 0; j < columns; ++j)
      row[j] = value(scramble(key + static_cast<std::uint64_t>(j)), i, j);
  }
  float at(std::int64_t i, std::int64_t j) const { return value(mix(c_.seed, o_, i, j), i, j); }

 private:
  float value(std::uint64_t random, std::int64_t i, std::int64_t j) const {
    switch (c_.fill) {
      case Fill::uniform: return uniform(random);
      case Fill::exact: return exact(random);
      case Fill::small_ints: return static_cast<float>(static_cast<int>(random % 17) - 8);
      case Fill::identity: return o_ == Operand::a ? static_cast<float>(i == j) : uniform(random);
      case Fill::one_hot: return o_ == Operand::a ? one_hot(i, j) : uniform(random);
      case Fill::special: return special(random, i, j);
      case Fill::scaled: return std::ldexp(uniform(random), exponent(i, j));
    }
    return 0;
  }

  // Odd numbers of 12 bits, which TF32, FP16 and BF16 cannot hold, times 1 or -1; the seed says
  // which is which.
  float exact(std::uint64_t random) const {
    const Operand plain = c_.seed % 2 == 0 ? Operand::b : Operand::a;
    return o_ == plain ? sign(random)
                       : sign(random) * static_cast<float>(2049 + 2 * (random % 1024));
  }

  float one_hot(std::int64_t i, std::int64_t j) const {
    return static_cast<float>(j == static_cast<std::int64_t>(mix(c_.seed, o_, i, -1) >> 1) % c_.k);
  }

  // One of each matrix, or three of a larger one, so that most of the result stays finite and
  // judged.
  void choose_special_values() {
    const Operand other = o_ == Operand::a ? Operand::b : Operand::a;
    for (int number = 0; number < (std::min(c_.m, c_.n) < 16 ? 1 : 3); ++number) {
      mine_.push_back(special_value(c_, o_, number));
      if (o_ != Operand::c) others_.push_back(special_value(c_, other, number));
    }
    const std::int64_t lines = o_ == Operand::a ? c_.m : c_.n;
    if (o_ != Operand::c && lines >= 8) zero_line_ = index_in(lines, mix(c_.seed, o_, -1, -1));
  }

  // What a special value of the other matrix is multiplied by is 0 for every second element of the
  // result; a row of A and a column of B are 0.
  float special(std::uint64_t random, std::int64_t i, std::int64_t j) const {
    for (const SpecialValue& mine : mine_) {
      if (i == mine.row && j == mine.column) return mine.value;
    }
    const float zero = random / 2 % 2 == 0 ? 0.0f : -0.0f;
    for (const SpecialValue& other : others_) {
      const bool meets = o_ == Operand::a ? j == other.row : i == other.column;
      if (meets && random % 2 == 0) return zero;
    }
    return (o_ == Operand::a ? i : j) == zero_line_ ? zero : uniform(random);
  }

  // Of the power of 2 that scales an element. The seed chooses one of four ranges for the rows of A
  // and one for the columns of B, or the other way round: beside 1, beyond what 16 bits hold, far
  // in both directions, and down to denormals. A row of A times a column of B has one scale, so
  // that the error bound holds element by element.
  int exponent(std::int64_t i, std::int64_t j) const {
    if (o_ == Operand::a) return exponent_of_line(Operand::a, i);
    if (o_ == Operand::b) return exponent_of_line(Operand::b, j);
    return exponent_of_line(Operand::a, i) + exponent_of_line(Operand::b, j);
  }
  int exponent_of_line(Operand o, std::int64_t line) const {
    struct Range {
      int least, most;
    };
    // The last is the one whose lines hold denormals.
    constexpr Range ranges[4][2] = {{{-12, 12}, {-12, 12}},
                                    {{0, 40}, {-8, 8}},
                                    {{-45, 45}, {-45, 45}},
                                    {{-144, -110}, {-12, 40}}};
    constexpr int weighted[] = {0, 1, 1, 2, 2, 3, 3, 3};
    const std::uint64_t choice = scramble(c_.seed);
    const auto& [least, most] =
        ranges[weighted[choice % 8]][(o == Operand::b) != (choice / 8 % 2 == 1)];
    const std::uint64_t random = mix(c_.seed, o, line, -2);
    return random % 8 == 0 ? 0 : least + static_cast<int>(random / 8 % (most - least + 1));
  }

  const Case& c_;
  Operand o_;
  std::vector<SpecialValue> mine_, others_;
  std::int64_t zero_line_ = -1;
};

// Every fifth seed has ordinary numbers wherever else there is poison: then nothing can tell what
// lies around a matrix from what lies in it, and a wrong read gives a wrong result.
bool has_ordinary_surroundings(const Case& c) { return c.seed % 5 == 4; }

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
    case Placement::unreadable: break;
  }
  const std::int64_t after = guard_floats + missing(offset + span, unit);
  const std::int64_t before = guard_floats + missing(guard_floats + offset + span + after, page);
  if (placement == Placement::elsewhere) return {before + unit, after + page - unit};
  return {before, after};
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

double largest_sum(const Case& c) {
  const double alpha = std::abs(double{c.alpha}), beta = std::abs(double{c.beta});
  const double element = c.fill == Fill::exact        ? 4095
                         : c.fill == Fill::small_ints ? 8
                         : c.fill == Fill::scaled     ? 0x1p90
                                                      : 1;
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
    const auto surroundings = [&](std::uint32_t poison, std::int64_t i, std::int64_t j) {
      return has_ordinary_surroundings(c) ? uniform(mix(c.seed, o, i, j))
                                          : std::bit_cast<float>(poison);
    };
    image.floats.resize(static_cast<std::size_t>(size));
    for (std::int64_t at = 0; at < size; ++at) {
      if (at == image.first) at += image.extent();
      if (at < size) image.floats[static_cast<std::size_t>(at)] = surroundings(guard_bits, -1, at);
    }
    const Filling filling(c, o);
    const bool written_first = o == Operand::c && c.beta == 0;
    for (std::int64_t i = 0; i < image.rows; ++i) {
      float* row = image.row(i);
      if (!written_first) filling.fill_row(row, i, image.columns);
      for (std::int64_t j = 0; written_first && j < image.columns; ++j)
        row[j] = surroundings(unwritten_bits, i, j);
      if (i + 1 == image.rows || image.columns == 0) continue;
      for (std::int64_t j = image.columns; j < image.stride; ++j)
        row[j] = surroundings(padding_bits, i, j);
    }
  }
  return all;
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
