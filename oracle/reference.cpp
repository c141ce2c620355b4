#include "oracle/reference.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#ifdef __FMA__
#include <immintrin.h>
#endif

#include "base/denormals.h"
#include "oracle/fills/pattern.h"

namespace assay {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Strided =
    Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, 0,
               Eigen::OuterStride<>>;

struct Range {
  std::int64_t first, count;
};

Matrix in_double(const Image& image, const Range& rows, const Range& columns) {
  return Strided(image.row(rows.first) + columns.first, rows.count, columns.count,
                 Eigen::OuterStride<>(image.stride))
      .cast<double>();
}

// At most what k roundings of one size add up to, in gulps: far from what they ever do at random.
double random_walk(double k) { return std::min(k + 2, 4 * std::sqrt(k) + 2); }

// All others together are smaller than a rounding of it.
bool has_one_product(const Case& c) {
  return c.fill == Fill::patterned && pattern_of(c.seed, Operand::a) == Pattern::dominated;
}

// One function for both products of a case: each that Eigen is asked for takes seconds to compile.
void add_product(double scale, const Matrix& a, const Matrix& b, std::vector<double>& sum) {
  Eigen::Map<Matrix>(sum.data(), a.rows(), b.cols()).noalias() += scale * (a * b);
}

void add_products_of(const Case& c, const Matrix& a, const Matrix& b, Reference& reference) {
  add_product(c.alpha, a, b, reference.c);
  add_product(std::abs(c.alpha), a.cwiseAbs(), b.cwiseAbs(), reference.gauge);
}

Reference empty_reference(const Case& c, std::int64_t first, std::int64_t count) {
  Reference reference{count, c.n, {}, {}, underflow_of(c), first};
  reference.c.assign(static_cast<std::size_t>(count * c.n), 0.0);
  reference.gauge = reference.c;
  return reference;
}

// What is wrong with element (i, j), by plain loops.
std::string wrong_element(const Case& c, const Operands& operands, const Reference& reference,
                          std::int64_t i, std::int64_t j) {
  double sum = 0, gauge = 0;
  for (std::int64_t p = 0; p < c.k; ++p) {
    const double product = double{operands[Operand::a].row(i)[p]} * operands[Operand::b].row(p)[j];
    sum += product;
    gauge += std::abs(product);
  }
  const double old = c.beta == 0 ? 0 : double{c.beta} * operands[Operand::c].row(i)[j];
  const double wanted = c.alpha * sum + old,
               scale = std::abs(c.alpha) * gauge + weight_of_c(c) * std::abs(old);
  const double slack = reference_slack(c.k, scale);
  const auto at = static_cast<std::size_t>(i * c.n + j);
  if (!(std::abs(reference.c[at] - wanted) <= slack))
    return fmt::format("row {}, column {} is {} instead of {}", i, j, reference.c[at], wanted);
  if (!(std::abs(reference.gauge[at] - scale) <= slack))
    return fmt::format("the scale of row {}, column {} is {} instead of {}", i, j,
                       reference.gauge[at], scale);
  return "";
}

}  // namespace

double underflow_of(const Case& c) {
  const double products = c.alpha == 0 ? 0 : static_cast<double>(c.k);
  return (2 + products * (1 + std::abs(double{c.alpha}))) * 0x1p-149;
}

Reference make_reference(const Case& c, const Operands& operands) {
  return c.fill == Fill::special ? make_plain_reference(c, operands)
                                 : make_reference(c, operands, 0, c.m);
}

Reference make_reference(const Case& c, const Operands& operands, std::int64_t first,
                         std::int64_t count) {
  // Of long sums a piece at a time: new memory for all of A and B takes longer than their products.
  constexpr std::int64_t most_steps = 1 << 18;
  Reference reference = empty_reference(c, first, count);
  const bool has_products = c.alpha != 0 && count > 0 && c.n > 0;
  for (std::int64_t begin = 0; has_products && begin < c.k; begin += most_steps) {
    const Range steps{begin, std::min(most_steps, c.k - begin)};
    add_products_of(c, in_double(operands[Operand::a], {first, count}, steps),
                    in_double(operands[Operand::b], steps, {0, c.n}), reference);
  }
  add_beta_c(c, operands[Operand::c], reference);
  return reference;
}

Reference make_plain_reference(const Case& c, const Operands& operands) {
  // Of B some columns at a time, so that their sums stay in registers for some steps along k.
  constexpr int width = 16;
  constexpr std::int64_t most_steps = 1024;
  using Sums = Eigen::Array<double, width, 1>;
  Reference reference = empty_reference(c, 0, c.m);
  std::vector<double> columns(width * most_steps);
  const std::int64_t k = c.alpha == 0 ? 0 : c.k;
  for (std::int64_t first = 0; first < c.n; first += width) {
    const std::int64_t wide = std::min<std::int64_t>(width, c.n - first);
    for (std::int64_t begin = 0; begin < k; begin += most_steps) {
      const std::int64_t steps = std::min(most_steps, k - begin);
      for (std::int64_t p = 0; p < steps; ++p)
        std::copy_n(operands[Operand::b].row(begin + p) + first, wide, columns.data() + p * width);
      for (std::int64_t i = 0; i < c.m; ++i) {
        const float* const a = operands[Operand::a].row(i) + begin;
        const std::int64_t at = i * c.n + first;
        Sums sums = Sums::Zero(), gauges = sums;
        std::copy_n(reference.c.data() + at, wide, sums.data());
        std::copy_n(reference.gauge.data() + at, wide, gauges.data());
        for (std::int64_t p = 0; p < steps; ++p) {
          const auto products =
              (double{a[p]} * Eigen::Map<const Sums>(columns.data() + p * width)).eval();
          sums += products;
          gauges += products.abs();
        }
        std::copy_n(sums.data(), wide, reference.c.data() + at);
        std::copy_n(gauges.data(), wide, reference.gauge.data() + at);
      }
    }
  }
  for (double& sum : reference.c) sum *= double{c.alpha};
  for (double& gauge : reference.gauge) gauge *= std::abs(double{c.alpha});
  add_beta_c(c, operands[Operand::c], reference);
  return reference;
}

double weight_of_c(const Case& c) {
  const auto k = static_cast<double>(c.k);
  if (c.k == 0 || c.alpha == 0 || has_one_product(c)) return 1;
  const double roundings = c.fill == Fill::patterned ? k + 2 : random_walk(k);
  return std::max(1.0, roundings / allowed_gulps(Arithmetic::fp32, c));
}

void add_beta_c(const Case& c, const Image& image, Reference& reference) {
  if (c.beta == 0) return;
  const double weight = weight_of_c(c);
  for (std::int64_t i = 0; i < reference.m; ++i) {
    for (std::int64_t j = 0; j < c.n; ++j) {
      const double term = double{c.beta} * image.row(reference.first_row + i)[j];
      reference.c[static_cast<std::size_t>(i * c.n + j)] += term;
      reference.gauge[static_cast<std::size_t>(i * c.n + j)] += weight * std::abs(term);
    }
  }
}

double reference_slack(std::int64_t k, double gauge) {
  return static_cast<double>(k + 4) * 0x1p-52 * gauge;
}

bool agree(const Reference& x, const Reference& y, std::int64_t k) {
  if (x.c.size() != y.c.size()) return false;
  for (std::size_t i = 0; i < x.c.size(); ++i) {
    const double slack = reference_slack(k, x.gauge[i]);
    if (!(std::abs(x.c[i] - y.c[i]) <= slack) || !(std::abs(x.gauge[i] - y.gauge[i]) <= slack))
      return false;
  }
  return true;
}

std::string wrong_sample(const Case& c, const Operands& operands, const Reference& reference) {
  constexpr std::int64_t side = 4;
  // Of 8 x 8 places for a block: the corners, and one more in each other row and column.
  constexpr std::array<std::pair<std::int64_t, std::int64_t>, 10> blocks = {
      {{0, 0}, {0, 7}, {7, 0}, {7, 7}, {1, 5}, {2, 2}, {3, 6}, {4, 1}, {5, 4}, {6, 3}}};
  for (const auto& [down, across] : blocks) {
    const std::int64_t top = (c.m - std::min(side, c.m)) * down / 7;
    const std::int64_t left = (c.n - std::min(side, c.n)) * across / 7;
    for (std::int64_t i = top; i < std::min(top + side, c.m); ++i) {
      for (std::int64_t j = left; j < std::min(left + side, c.n); ++j) {
        if (std::string wrong = wrong_element(c, operands, reference, i, j); !wrong.empty())
          return wrong;
      }
    }
  }
  return "";
}

namespace {

// The sums of a few rows and columns, which stay in registers for some steps along k.
constexpr std::int64_t chain_rows = 4, chain_columns = 16, chain_steps = 1024;
using Chains = float[chain_rows][chain_columns];

// `a`: rows of A; `b`: rows of B, of which that many columns lie together.
void add_denormal_products(const float* const (&a)[chain_rows], const float* b, std::int64_t steps,
                           Chains& sums) {
  for (std::int64_t p = 0; p < steps; ++p, b += chain_columns)
    for (std::int64_t r = 0; r < chain_rows; ++r)
      for (std::int64_t j = 0; j < chain_columns; ++j)
        sums[r][j] = fused_in_double(a[r][p], b[j], sums[r][j]);
}
void add_products(const float* const (&a)[chain_rows], const float* b, std::int64_t steps,
                  Chains& sums) {
#ifdef __FMA__
  static_assert(chain_columns == 16);
  __m256 low[chain_rows], high[chain_rows];
  for (std::int64_t r = 0; r < chain_rows; ++r)
    low[r] = _mm256_loadu_ps(sums[r]), high[r] = _mm256_loadu_ps(sums[r] + 8);
  for (std::int64_t p = 0; p < steps; ++p, b += chain_columns) {
    const __m256 b_low = _mm256_loadu_ps(b), b_high = _mm256_loadu_ps(b + 8);
#pragma GCC unroll 4
    for (std::int64_t r = 0; r < chain_rows; ++r) {
      const __m256 factor = _mm256_broadcast_ss(a[r] + p);
      low[r] = _mm256_fmadd_ps(factor, b_low, low[r]);
      high[r] = _mm256_fmadd_ps(factor, b_high, high[r]);
    }
  }
  for (std::int64_t r = 0; r < chain_rows; ++r)
    _mm256_storeu_ps(sums[r], low[r]), _mm256_storeu_ps(sums[r] + 8, high[r]);
#else
  for (std::int64_t p = 0; p < steps; ++p, b += chain_columns)
    for (std::int64_t r = 0; r < chain_rows; ++r)
      for (std::int64_t j = 0; j < chain_columns; ++j)
        sums[r][j] = std::fmaf(a[r][p], b[j], sums[r][j]);
#endif
}

}  // namespace

std::vector<float> replay_fma_chain(const Case& c, const Operands& operands) {
  std::vector<float> result(static_cast<std::size_t>(c.m * c.n));
  const Gemm scalars = gemm_of(c, nullptr, nullptr, nullptr);
  const std::int64_t k = depth(scalars);
  std::vector<float> columns(chain_steps * chain_columns);
  for (std::int64_t j = 0; j < c.n; j += chain_columns) {
    const std::int64_t width = std::min(chain_columns, c.n - j);
    for (std::int64_t p = 0; p < k; p += chain_steps) {
      const std::int64_t steps = std::min(chain_steps, k - p);
      for (std::int64_t step = 0; step < steps; ++step)
        std::copy_n(operands[Operand::b].row(p + step) + j, width,
                    columns.data() + step * chain_columns);
      for (std::int64_t i = 0; i < c.m; i += chain_rows) {
        const std::int64_t height = std::min(chain_rows, c.m - i);
        float* const to = result.data() + i * c.n + j;
        const float* rows[chain_rows];
        Chains sums = {};
        for (std::int64_t r = 0; r < chain_rows; ++r)  // the last one again where there is none
          rows[r] = operands[Operand::a].row(i + std::min(r, height - 1)) + p;
        for (std::int64_t r = 0; r < height; ++r) std::copy_n(to + r * c.n, width, sums[r]);
        (met_denormals() ? add_denormal_products : add_products)(rows, columns.data(), steps, sums);
        for (std::int64_t r = 0; r < height; ++r) std::copy_n(sums[r], width, to + r * c.n);
      }
    }
  }
  for (std::int64_t i = 0; i < c.m; ++i) {
    float* const sums = result.data() + i * c.n;
    const float* const before = operands[Operand::c].row(i);
    for (std::int64_t j = 0; j < c.n; ++j) sums[j] = blend(scalars, sums[j], before + j);
  }
  return result;
}

double allowed_gulps(Arithmetic arithmetic, std::int64_t k) {
  // Rigorous to first order up to k = 14, statistical above: legitimate orders of summation of
  // zero-mean data stay below 6 at any k.
  const double fp32 = static_cast<double>(std::min<std::int64_t>(k + 2, 16));
  // Truncated to TF32, a factor loses up to 2^-10 of its value, which is 2^14 units of FP32;
  // rounded, at most half of that.
  constexpr double of_tf32 = 2 * 0x1p14;
  // Both small parts are off by up to 2 units of their factors, and their product, up to 4 units,
  // is left out. The rest is for sums of slices of 32 that are cut and not rounded: with all of
  // that an H100 was seen to take 11 gulps at most.
  constexpr double of_tf32x3 = 2 * 2 + 4 + 12;
  switch (arithmetic) {
    case Arithmetic::tf32: return fp32 + of_tf32;
    case Arithmetic::tf32x3: return fp32 + of_tf32x3;
    default: return fp32;
  }
}

bool keeps_inputs(Arithmetic arithmetic) { return arithmetic != Arithmetic::tf32; }

namespace {
// Whole numbers of few bits, whose sums are exact however they are summed or cut, with an alpha
// that may come first.
bool fits_tf32(const Case& c) {
  constexpr double most_product = 64;
  int exponent = 0;
  const bool is_power_of_two = std::abs(std::frexp(c.alpha, &exponent)) == 0.5f;
  return c.fill == Fill::small_ints && is_power_of_two &&
         most_product * static_cast<double>(c.k) < 0x1p24;
}
}  // namespace

double allowed_gulps(Arithmetic arithmetic, const Case& c) {
  const bool loses_nothing = arithmetic == Arithmetic::tf32 && fits_tf32(c);
  const double zero_mean = allowed_gulps(loses_nothing ? Arithmetic::fp32 : arithmetic, c.k);
  if (c.fill != Fill::patterned) return zero_mean;
  // One product counts, and all others together for less than a rounding of it: the roundings of
  // that product, of beta * c and of their sum remain, in every order.
  constexpr double of_one_product = 6;
  if (arithmetic == Arithmetic::fp32 && has_one_product(c))
    return std::min(zero_mean, of_one_product);
  // Partial sums may grow with k, or repeat, and their roundings add up as a random walk does at
  // least: where no sum cancels, legitimate orders take less than a third of this.
  return zero_mean + std::max(0.0, random_walk(static_cast<double>(c.k)) - 16);
}

}  // namespace assay
