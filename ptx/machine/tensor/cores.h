// What tensor cores make of products of few bits, as an H200 does it: all products of an operation,
// and the number that they are added to, become whole numbers of one unit, which lies some bits
// below the greatest of them. What is less is cut off, before they are added up exactly; of the sum
// only the first bits stay, and nothing is rounded. ptx/tests/hardware/tensor_sums.cu shows it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "ptx/reader/module.h"

namespace ptx {

struct Cores {
  Type a, b, sum;

  bool has_eight_bits() const { return a == Type::e4m3 || a == Type::e5m2; }
  // The unit is this many bits below the greatest exponent.
  int below() const { return has_eight_bits() ? 13 : 25; }
  int kept() const { return has_eight_bits() ? 14 : 24; }  // significant bits of a sum
  bool is_half() const { return sum == Type::f16; }        // which is rounded, to nearest
};

inline int exponent_of_denormals(Type type) {
  switch (type) {
    case Type::f16:
    case Type::e5m2: return -14;
    case Type::e4m3: return -6;
    default: return -126;
  }
}

// Of eight neighbouring columns.
using CoreFloats [[gnu::vector_size(32)]] = float;
using CoreInts [[gnu::vector_size(32)]] = std::int32_t;
inline constexpr int core_columns = 8, most_core_k = 32, most_of_core_a = 512;

inline CoreFloats load_core(const float* from) {
  CoreFloats all;
  std::memcpy(&all, from, sizeof all);
  return all;
}

// A product has the exponents of its factors together, and what is 0 has none.
inline constexpr std::int32_t no_exponent = -1000;
inline CoreInts exponents_in_cores(const CoreFloats& x, Type type) {
  const auto bits = reinterpret_cast<CoreInts>(x);
  const CoreInts of_x = (bits >> 23 & 255) - 127,
                 of_denormals = CoreInts{} + exponent_of_denormals(type);
  return x == 0 ? CoreInts{} + no_exponent : of_x > of_denormals ? of_x : of_denormals;
}

// Operands of one operation, eight columns of B at a time.
class CoreProduct {
 public:
  CoreProduct(const float* a, int rows, int k, const Cores& cores)
      : a_(a), rows_(rows), k_(k), cores_(cores) {
    for (int first = 0; first < rows * k; first += core_columns) {
      const CoreInts exponents = exponents_in_cores(load_core(a + first), cores.a);
      std::memcpy(a_exponents_.data() + first, &exponents, sizeof exponents);
      a_is_usual_ &= is_usual(exponents, most_of_factor);
    }
  }

  // Adds the products with the columns of B to those of C, in rows that lie n apart.
  void add(float* c, const float* b, int n) {
    switch (k_) {
      case 4: return add_of<4>(c, b, n);
      case 8: return add_of<8>(c, b, n);
      case 16: return add_of<16>(c, b, n);
      default: return add_of<32>(c, b, n);
    }
  }

 private:
  // Within these exponents, products, and their units, are floats.
  static constexpr std::int32_t least = -50, most_of_factor = 60, most_of_sum = 120;

  static bool is_usual(const CoreInts& exponents, std::int32_t most) {
    const CoreInts is_not = (exponents > most) | ((exponents < least) & (exponents > no_exponent));
    std::int64_t words[4];
    std::memcpy(words, &is_not, sizeof is_not);
    return (words[0] | words[1] | words[2] | words[3]) == 0;
  }

  template <int k>
  void add_of(float* c, const float* b, int n) {
    bool are_usual = a_is_usual_ && !cores_.is_half();
    for (int p = 0; p < k; ++p) {
      b_[p] = load_core(b + p * n);
      b_exponents_[p] = exponents_in_cores(b_[p], cores_.b);
      are_usual &= is_usual(b_exponents_[p], most_of_factor);
    }
    for (int i = 0; i < rows_; ++i) {
      const CoreFloats old = load_core(c + i * n);
      CoreInts leads = exponents_in_cores(old, cores_.sum);
      const bool is_usual_sum = are_usual && is_usual(leads, most_of_sum);
      for (int p = 0; p < k; ++p) {
        const CoreInts exponents = b_exponents_[p] + a_exponents_[i * k + p];
        leads = exponents > leads ? exponents : leads;
      }
      const CoreFloats sums =
          is_usual_sum ? usual_sums<k>(a_ + i * k, old, leads) : any_sums(a_ + i * k, old, leads);
      std::memcpy(c + i * n, &sums, sizeof sums);
    }
  }

  // All in floats and ints, which hold it exactly.
  template <int k>
  CoreFloats usual_sums(const float* a, const CoreFloats& old, CoreInts leads) const {
    using Floats [[gnu::vector_size(16)]] = float;
    using Doubles [[gnu::vector_size(32)]] = double;
    using Bits [[gnu::vector_size(32)]] = std::int64_t;
    constexpr int together = 8;  // whose sum an int holds
    constexpr std::int32_t least_lead = 2 * least;
    leads = leads > least_lead ? leads : CoreInts{} + least_lead;
    const auto per_unit = reinterpret_cast<CoreFloats>((127 + cores_.below() - leads) << 23);
    const auto cut = [&](const CoreFloats& x) {
      return __builtin_convertvector(x * per_unit, CoreInts);
    };
    Doubles left = {}, right = {};
    const auto enter = [&](const CoreInts& x) {
      left += __builtin_convertvector(__builtin_shufflevector(x, x, 0, 1, 2, 3), Doubles);
      right += __builtin_convertvector(__builtin_shufflevector(x, x, 4, 5, 6, 7), Doubles);
    };
    enter(cut(old));
    for (int first = 0; first < k; first += together) {
      CoreInts some = {};
      for (int p = first; p < first + std::min(k, together); ++p) some += cut(b_[p] * a[p]);
      enter(some);
    }
    const std::int64_t lost = (std::int64_t{1} << (53 - cores_.kept())) - 1;
    const auto first_bits = [&](const Doubles& sums) {
      const auto kept = reinterpret_cast<Doubles>(reinterpret_cast<Bits>(sums) & ~lost);
      return __builtin_convertvector(kept, Floats);
    };
    const auto unit = reinterpret_cast<CoreFloats>((127 - cores_.below() + leads) << 23);
    return __builtin_shufflevector(first_bits(left), first_bits(right), 0, 1, 2, 3, 4, 5, 6, 7) *
               unit +
           0.0f;
  }

  // The first bits of a sum of units, of which the last one tells of all that is cut off where they
  // are rounded later; denormals are cut, too, and nothing is -0.
  float kept(double sum, int lead) const {
    constexpr double denormals = 0x1p149;
    const std::uint64_t lost = (std::uint64_t{1} << (53 - cores_.kept())) - 1;
    const auto bits = std::bit_cast<std::uint64_t>(sum);
    const std::uint64_t odd = cores_.is_half() && (bits & lost) != 0 ? lost + 1 : 0;
    const double value =
        std::ldexp(std::bit_cast<double>((bits & ~lost) | odd), lead - cores_.below());
    const bool is_denormal = std::abs(value) < 0x1p-126;
    return static_cast<float>((is_denormal ? std::trunc(value * denormals) / denormals : value) +
                              0.0);
  }

  CoreFloats any_sums(const float* a, const CoreFloats& old, const CoreInts& leads) const {
    CoreFloats all;
    for (int j = 0; j < core_columns; ++j) {
      const int lead = std::max(leads[j], -300);  // so that units are doubles
      const double per_unit = std::ldexp(1.0, cores_.below() - lead);
      double plain = old[j], units = std::trunc(old[j] * per_unit);
      for (int p = 0; p < k_; ++p) {
        const double product = double{a[p]} * b_[p][j];
        plain += product, units += std::trunc(product * per_unit);
      }
      all[j] = std::isfinite(plain) ? kept(units, lead) : static_cast<float>(plain);
    }
    return all;
  }

  const float* a_;
  int rows_, k_;
  Cores cores_;
  bool a_is_usual_ = true;
  std::array<std::int32_t, most_of_core_a> a_exponents_;
  std::array<CoreFloats, most_core_k> b_;
  std::array<CoreInts, most_core_k> b_exponents_;
};

// Adds the products of some rows of A with the n columns of B to C.
inline void multiply_in_cores(float* c, const float* a, const float* b, int rows, int n, int k,
                              const Cores& cores) {
  CoreProduct product(a, rows, k, cores);
  for (int j = 0; j < n; j += core_columns) product.add(c + j, b + j, n);
}

}  // namespace ptx
