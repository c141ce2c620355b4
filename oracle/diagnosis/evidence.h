// A sample of the wrong elements of a result, what they were made from, and whether a mistake gives
// just these values.
#pragma once

#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "oracle/diagnosis/diagnosis.h"

namespace assay {

struct Place {
  std::int64_t row, column;
  bool operator==(const Place&) const = default;
};

// What C would hold if a mistake was made; NaN where the mistake has no meaning for that element.
using Mistaken = std::function<double(Place)>;

class Evidence {
 public:
  explicit Evidence(const WrongResult&);

  const Case& c() const { return f_.c; }
  const Tile& tile() const { return f_.variant.tile; }
  const std::vector<Place>& places() const { return places_; }  // at least one

  double a(Place p, std::int64_t i) const { return f_.before[Operand::a].row(p.row)[i]; }
  double b(Place p, std::int64_t i) const { return f_.before[Operand::b].row(i)[p.column]; }
  double old_c(Place p) const {
    return f_.c.beta == 0 ? 0 : double{f_.before[Operand::c].row(p.row)[p.column]};
  }
  double got(Place p) const { return f_.result.row(p.row)[p.column]; }
  double wanted(Place p) const { return f_.reference.c[index(p)]; }
  bool is_unwritten(Place p) const {
    return assay::is_unwritten(f_.c, f_.before[Operand::c], p.row, p.column,
                               f_.result.row(p.row)[p.column]);
  }
  bool has_old_bits(Place p) const {
    return std::bit_cast<std::uint32_t>(f_.result.row(p.row)[p.column]) ==
           std::bit_cast<std::uint32_t>(f_.before[Operand::c].row(p.row)[p.column]);
  }
  double gauge(Place p) const { return f_.reference.gauge[index(p)]; }
  std::int64_t depth() const { return f_.c.alpha == 0 ? 0 : f_.c.k; }

  // The sum over k of A * B, added up once for each place, and what C would be with another one.
  double product(Place p) const;
  double with_product(Place p, double product) const {
    return f_.c.alpha * product + f_.c.beta * old_c(p);
  }
  // The float of an operand that lies so far from its first element; NaN outside of what is stored.
  double at(Operand, std::int64_t distance) const;
  std::int64_t stride(Operand o) const { return f_.before[o].stride; }
  std::int64_t ld(Operand o) const { return f_.before[o].ld; }

  // Whether `mistaken` gives every sampled element, and is not simply the right result.
  enum class Nan { says_nothing, counts };  // where the mistake gives NaN too
  bool explains(const Mistaken& mistaken, Nan = Nan::says_nothing) const;
  // Whether it also gives a sample of the elements that are right.
  bool gives_what_is_right(const Mistaken& mistaken) const;
  // How likely it is that one of this many wrong guesses happens to fit every sampled element.
  double chance_of_coincidence(double guesses) const;
  bool is_no_coincidence(double guesses) const { return chance_of_coincidence(guesses) <= 0.05; }
  // How far a mistake's value may be from what was got.
  double slack_at(Place) const;

  template <class Test>
  bool all_sampled(Test test) const {
    for (Place p : places_) {
      if (!test(p)) return false;
    }
    return true;
  }
  // Looks at all wrong elements, not only at the sample.
  template <class Test>
  bool all_wrong(Test test) const {
    for (std::int64_t i = 0; i < f_.c.m; ++i) {
      for (std::int64_t j = 0; j < f_.c.n; ++j) {
        const Place p{i, j};
        if (f_.judgement.wrong_mask[index(p)] && !test(p)) return false;
      }
    }
    return true;
  }
  bool is_within_bound(Place) const;

 private:
  std::size_t index(Place p) const { return static_cast<std::size_t>(p.row * f_.c.n + p.column); }

  const WrongResult& f_;
  std::vector<Place> places_;
  mutable std::map<std::size_t, double> products_;  // of places asked for
};

// Rounded to this many bits after the leading one.
inline double rounded(double value, int bits, double (*round)(double) = std::nearbyint) {
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return std::ldexp(round(std::ldexp(mantissa, bits + 1)), exponent - bits - 1);
}

// The mistakes that are known, by subject; without words if none of them explains the evidence.
Diagnosis overflowed_index(const Evidence&);
Diagnosis mistaken_values(const Evidence&);     // never written, NaN, infinities, the sign of zero
Diagnosis mistaken_scalars(const Evidence&);    // alpha, beta
Diagnosis mistaken_rounding(const Evidence&);   // of the inputs
Diagnosis mistaken_sum(const Evidence&);        // a range of k
Diagnosis mistaken_address(const Evidence&);    // of elements of A and B
Diagnosis mistaken_element(const Evidence&);    // of C
Diagnosis mistaken_precision(const Evidence&);  // of whatever was computed

}  // namespace assay
