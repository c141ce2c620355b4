#include "oracle/fills/filling.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace assay {

Shape shape_of(const Case& c, Operand o) {
  switch (o) {
    case Operand::a: return {c.m, c.k};
    case Operand::b: return {c.k, c.n};
    case Operand::c: return {c.m, c.n};
    case Operand::workspace: break;  // its size is the variant's
  }
  return {};
}

// For every third seed.
std::optional<Zeros> zeros_at_the_end(const Case& c) {
  Choices choices(c.seed ^ 0x7a65726f73u);
  if (c.k < 2 || choices.below(3) != 0) return std::nullopt;
  const Operand of = choices.below(2) == 0 ? Operand::a : Operand::b;
  return Zeros{of, choices.below(2) == 0 ? c.k - 1 : choices.from(1, c.k - 1)};
}

// For every fourth seed.
std::optional<SpecialRun> run_of_special(std::uint64_t seed) {
  Choices choices(seed ^ 0x6d61736b6564u);
  if (choices.below(4) != 0) return std::nullopt;
  const Operand of = choices.below(2) == 0 ? Operand::a : Operand::b;
  return SpecialRun{of, choices.below(2) == 0};
}

// For every second seed of those without zeros at the end, if there is one. Of a pattern whose sums
// are exact, or cancel as plain ones do.
std::optional<StructuredSpecial> structure_of_special(const Case& c) {
  Choices choices(c.seed ^ 0x72656775u);
  if (zeros_at_the_end(c) || choices.below(2) != 0) return std::nullopt;
  const Operand of = choices.below(2) == 0 ? Operand::a : Operand::b;
  const Pattern pattern = pattern_of(c.seed, of);
  if (is_narrow(pattern)) {
    const bool cancels = !half_fits(c.seed) && !(pattern == Pattern::tf32 && has_one_sign(c.seed));
    return cancels ? std::optional(StructuredSpecial{of, true}) : std::nullopt;
  }
  const bool is_of_one = pattern != Pattern::plain && !is_of_both(pattern);
  if (!is_of_one || pattern == Pattern::counting) return std::nullopt;
  return StructuredSpecial{of, choices.below(2) == 0};
}

// For every second seed of those without a run, if nothing has structure.
bool has_more_special_lines(const Case& c) {
  return !run_of_special(c.seed) && !structure_of_special(c) &&
         Choices(c.seed ^ 0x6c696e6573u).below(2) == 0;
}

namespace {

// An index near the end as often as anywhere.
std::int64_t index_in(std::int64_t size, std::uint64_t random) {
  const auto any = static_cast<std::int64_t>(random / 2 % 1000003);
  return random % 2 == 0 ? any % size : size - 1 - any % std::min<std::int64_t>(size, 4);
}

// Those that compilers, processors and a memset make, one whose payload says something, and two
// that signal: not by their last 13 bits alone, without which TF32 has an infinity.
float nan_of(std::uint64_t choice) {
  constexpr std::array<std::uint32_t, 7> words = {0x7fc00000, 0xffffffff, 0x7fffffff, 0xffc00000,
                                                  0x7fc0beef, 0x7fa00000, 0xffbfffff};
  return std::bit_cast<float>(words[choice % words.size()]);
}

Filling::SpecialValue special_value(const Case& c, Operand o, int number) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const Shape shape = shape_of(c, o);
  const std::uint64_t where = mix(c.seed, o, -1, number);
  const std::array values = {nan_of(where >> 50), infinity, -infinity};
  Filling::SpecialValue special{index_in(shape.rows, where),
                                index_in(shape.columns, scramble(where)),
                                values[(where >> 40) % values.size()]};
  // Opposite the zeros, or among them: who looks for zeros may take a NaN for one.
  if (const auto zeros = zeros_at_the_end(c); zeros && o != Operand::c) {
    std::int64_t& p = o == Operand::a ? special.column : special.row;
    const bool is_before = o == zeros->of && (where >> 30) % 2 == 0;
    p = is_before ? p % zeros->from : zeros->from + p % (c.k - zeros->from);
  }
  return special;
}

// Rows of A, or columns of B.
std::int64_t lines_of(const Case& c, Operand o) { return o == Operand::a ? c.m : c.n; }

// One of each matrix, or three of a larger one, so that most of the result stays finite and judged.
int usual_special_values(const Case& c) { return std::min(c.m, c.n) < 16 ? 1 : 3; }

// Where there are more, each in a line of its own, it is a third of the lines of A or of B, as far
// as there are up to twelve, whichever has more of them. If the other one is a single line it has
// none, which would hide them all.
int special_lines(const Case& c, Operand o) {
  constexpr int most = 12, least_hidden = 4;
  const int usual = usual_special_values(c);
  if (!has_more_special_lines(c) || o == Operand::c) return usual;
  const std::int64_t lines = lines_of(c, o),
                     of_other = lines_of(c, o == Operand::a ? Operand::b : Operand::a);
  if (lines == 1 && of_other >= least_hidden) return 0;
  const bool are_more = lines > of_other || (lines == of_other && o == Operand::a);
  return are_more ? static_cast<int>(std::clamp<std::int64_t>(lines / 3, usual, most)) : usual;
}

// Or many in a run.
std::vector<Filling::SpecialValue> special_values(const Case& c, Operand o) {
  std::vector<Filling::SpecialValue> values;
  const int count = special_lines(c, o);
  for (int number = 0; number < count; ++number) {
    values.push_back(special_value(c, o, number));
    if (count <= usual_special_values(c)) continue;
    const std::int64_t each = lines_of(c, o) / count;
    (o == Operand::a ? values.back().row : values.back().column) =
        number * each + static_cast<std::int64_t>(mix(c.seed, o, -15, number) >> 1) % each;
  }
  constexpr int least = 9, most = 48, least_lines = 4, of_warp = 32;
  const auto run = run_of_special(c.seed);
  if (!run || o != run->of || lines_of(c, o) < least_lines) return values;
  Filling::SpecialValue next = values.front();
  const bool is_in_row = (o == Operand::a) != run->is_across;
  std::int64_t& place = is_in_row ? next.column : next.row;
  const std::int64_t end = is_in_row ? shape_of(c, o).columns : shape_of(c, o).rows;
  Choices choices(c.seed);
  std::int64_t length = choices.from(least, most);
  std::int64_t from = std::max<std::int64_t>(0, place - length / 2);
  if (choices.below(2) == 0) {  // just the lines that a warp has
    length = of_warp << choices.below(2);
    from = place / length * length;
  }
  for (place = from; place < std::min(end, from + length); ++place) values.push_back(next);
  return values;
}

// Of those in `exponent_of_line`.
constexpr int to_denormals = 3;
int range_of_scales(std::uint64_t seed) {
  constexpr int weighted[] = {0, 1, 1, 2, 2, to_denormals, to_denormals, to_denormals};
  return weighted[scramble(seed) % std::size(weighted)];
}

// By a power of 2, and rounded once, as std::ldexp does.
float scaled(float value, double power) { return static_cast<float>(value * power); }

}  // namespace

bool scales_to_denormals(std::uint64_t seed) { return range_of_scales(seed) == to_denormals; }
bool scales_powers_of_2(std::uint64_t seed) { return scramble(seed) / 16 % 4 == 0; }

Filling::Filling(const Case& c, Operand o) : c_(c), o_(o) {
  if (c.fill == Fill::special && c.m > 0 && c.n > 0 && c.k > 0) choose_special_values();
  const auto of_special = c.fill == Fill::special ? structure_of_special(c) : std::nullopt;
  const bool is_of_mine = of_special && of_special->of == o;
  const bool has_structure = is_of_mine || (of_special && is_narrow(pattern_of(c.seed, o)));
  if (has_structure && !(is_of_mine && of_special->has_values)) mine_.clear();
  if (c.fill == Fill::patterned || has_structure) patterned_.emplace(c, o);
  if (c.fill == Fill::largest) largest_.emplace(c, o);
  if (c.fill == Fill::scaled && o != Operand::a) {
    for (std::int64_t j = 0; j < c.n; ++j)
      column_scales_.push_back(std::ldexp(1.0, exponent_of_line(Operand::b, j)));
  }
  if (c.fill == Fill::balanced) {
    const Exponents all = balancing_exponents(c);
    balancing_scale_ = std::ldexp(1.0, o == Operand::a ? all.a : o == Operand::b ? all.b : all.c);
  }
}

void Filling::fill_row(float* row, std::int64_t i, std::int64_t columns) const {
  if (c_.fill == Fill::special && !patterned_) return fill_special_row(row, i, columns);
  const std::uint64_t key = mix(c_.seed, o_, i);
  with_row(i, [&](const auto& value) {
    for (std::int64_t j = 0; j < columns; ++j)
      row[j] = value(scramble(key + static_cast<std::uint64_t>(j)), j);
  });
}

// Most elements are plain, and where the others are is known.
void Filling::fill_special_row(float* row, std::int64_t i, std::int64_t columns) const {
  const std::uint64_t key = mix(c_.seed, o_, i);
  const auto random = [&](std::int64_t j) { return scramble(key + static_cast<std::uint64_t>(j)); };
  const auto set = [&](std::int64_t j) {
    if (j >= 0 && j < columns) row[j] = special(random(j), i, j);
  };
  for (std::int64_t j = 0; j < columns; ++j) row[j] = uniform(random(j));
  const bool is_of_a = o_ == Operand::a;
  const bool meets_others = std::any_of(others_.begin(), others_.end(), [&](const auto& other) {
    return !is_of_a && i == other.column;
  });
  const bool is_unusual = meets_others || (is_of_a ? i == zero_line_ : i >= zeros_from_);
  for (std::int64_t j = is_unusual ? 0 : is_of_a ? zeros_from_ : columns; j < columns; ++j) set(j);
  for (const SpecialValue& other : others_)
    if (is_of_a) set(other.row);
  for (const SpecialValue& mine : mine_)
    if (i == mine.row) set(mine.column);
  if (!is_of_a) set(zero_line_);
}

float Filling::at(std::int64_t i, std::int64_t j) const {
  float element = 0;
  with_row(i, [&](const auto& value) { element = value(mix(c_.seed, o_, i, j), j); });
  return element;
}

// Gives `use` the function of a random number and a column that makes the elements of row i. Each
// fill has a loop of its own, so that the compiler can have several elements made at a time.
template <class Use>
void Filling::with_row(std::int64_t i, const Use& use) const {
  using Random = std::uint64_t;
  using Column = std::int64_t;
  const auto plain = [](Random random, Column) { return uniform(random); };
  switch (c_.fill) {
    case Fill::uniform: return use(plain);
    case Fill::exact:
      // Odd numbers of 12 bits, which TF32, FP16 and BF16 cannot hold, times 1 or -1; the seed says
      // which is which.
      if (o_ == (c_.seed % 2 == 0 ? Operand::b : Operand::a))
        return use([](Random random, Column) { return sign(random); });
      return use([](Random random, Column) {
        return sign(random) * static_cast<float>(2049 + 2 * static_cast<int>(random % 1024));
      });
    case Fill::small_ints:
      return use([](Random random, Column) {
        return static_cast<float>(static_cast<int>(random % 17) - 8);
      });
    case Fill::identity:
      if (o_ != Operand::a) return use(plain);
      return use([=](Random, Column j) { return static_cast<float>(i == j); });
    case Fill::one_hot:
      if (o_ != Operand::a) return use(plain);
      return use([hot = hot_column(i)](Random, Column j) { return static_cast<float>(j == hot); });
    case Fill::special:
      return use([=, this](Random random, Column j) { return special(random, i, j); });
    case Fill::scaled: {
      const double row = o_ == Operand::b ? 1 : std::ldexp(1.0, exponent_of_line(Operand::a, i));
      if (o_ == Operand::a && scales_powers_of_2(c_.seed))
        return use([=](Random random, Column) { return scaled(sign(random), row); });
      if (o_ == Operand::a)
        return use([=](Random random, Column) { return scaled(uniform(random), row); });
      return use([=, columns = column_scales_.data()](Random random, Column j) {
        return scaled(uniform(random), row * columns[j]);
      });
    }
    case Fill::balanced:
      return use([scale = balancing_scale_](Random random, Column) {
        return scaled(uniform(random), scale);
      });
    case Fill::largest:
      return use([=, this](Random random, Column j) { return largest_->value(random, i, j); });
    case Fill::patterned:
      return use([=, this](Random random, Column j) { return patterned_->value(random, i, j); });
  }
}

// That of the last row is the last one where the seed is odd: where k is so long that no other data
// show whether the end of it counts.
std::int64_t Filling::hot_column(std::int64_t i) const {
  if (i == c_.m - 1 && c_.seed % 2 == 1) return c_.k - 1;
  return static_cast<std::int64_t>(mix(c_.seed, o_, i, -1) >> 1) % std::max<std::int64_t>(1, c_.k);
}

void Filling::choose_special_values() {
  mine_ = special_values(c_, o_);
  if (o_ != Operand::c) others_ = special_values(c_, o_ == Operand::a ? Operand::b : Operand::a);
  const std::int64_t lines = lines_of(c_, o_);
  if (o_ != Operand::c && lines >= 8) zero_line_ = index_in(lines, mix(c_.seed, o_, -1, -1));
  if (const auto zeros = zeros_at_the_end(c_); zeros && zeros->of == o_) zeros_from_ = zeros->from;
}

// What a special value of the other matrix is multiplied by is 0 for every second element of the
// result; a row of A and a column of B are 0. Where there is structure it says what is 0.
float Filling::special(std::uint64_t random, std::int64_t i, std::int64_t j) const {
  for (const SpecialValue& mine : mine_) {
    if (i == mine.row && j == mine.column) return mine.value;
  }
  if (patterned_) return patterned_->value(random, i, j);
  const float zero = random / 2 % 2 == 0 ? 0.0f : -0.0f;
  for (const SpecialValue& other : others_) {
    const bool meets = o_ == Operand::a ? j == other.row : i == other.column;
    if (meets && random % 2 == 0) return zero;
  }
  const std::int64_t line = o_ == Operand::a ? i : j, p = o_ == Operand::a ? j : i;
  return line == zero_line_ || p >= zeros_from_ ? zero : uniform(random);
}

// Of the power of 2 that scales a row of A or a column of B, and so, together, an element of C. The
// seed chooses one of four ranges for the rows of A and one for the columns of B, or the other way
// round: beside 1, beyond what 16 bits hold, far in both directions, and down to denormals. A row
// of A times a column of B has one scale, so that the error bound holds element by element.
int Filling::exponent_of_line(Operand o, std::int64_t line) const {
  struct Range {
    int least, most;
  };
  constexpr Range ranges[][2] = {{{-12, 12}, {-12, 12}},
                                 {{0, 40}, {-8, 8}},
                                 {{-45, 45}, {-45, 45}},
                                 {{-144, -110}, {-12, 40}}};
  static_assert(std::size(ranges) == to_denormals + 1);
  const auto& [least, most] = ranges[range_of_scales(
      c_.seed)][(o == Operand::b) != (scramble(c_.seed) / 8 % 2 == 1)];
  const std::uint64_t random = mix(c_.seed, o, line, -2);
  return random % 8 == 0 ? 0 : least + static_cast<int>(random / 8 % (most - least + 1));
}

}  // namespace assay
