// The elements of one matrix of a case.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "oracle/fills/magnitude.h"
#include "oracle/fills/pattern.h"

namespace assay {

struct Shape {
  std::int64_t rows, columns;
};
Shape shape_of(const Case&, Operand);

// Whether fill=scaled has, for this seed, whole lines of denormals.
bool scales_to_denormals(std::uint64_t seed);
// Whether A has powers of 2 alone then.
bool scales_powers_of_2(std::uint64_t seed);

// With fill=special A or B may be zero from some place along k on, where the other one has its
// special values: 0 times those is NaN, also where whoever looks for zeros would end the sum.
struct Zeros {
  Operand of;
  std::int64_t from;
};
std::optional<Zeros> zeros_at_the_end(const Case&);

// With fill=special a row of A or a column of B may have many special values in a run, as a masked
// one has; or they lie across, in several of them.
struct SpecialRun {
  Operand of;
  bool is_across;
  bool operator==(const SpecialRun&) const = default;
};
std::optional<SpecialRun> run_of_special(std::uint64_t seed);

// With fill=special A or B may have the structure that fill=patterned gives it for the same seed,
// with or without special values in it: what is concluded from structure has to hold for those of
// the other matrix too, and a NaN in it has to be seen. Where both fit a type of fewer bits, one has
// them.
struct StructuredSpecial {
  Operand of;
  bool has_values;
};
std::optional<StructuredSpecial> structure_of_special(const Case&);

// Or many rows of A, or columns of B, have one special value each, at places of their own.
bool has_more_special_lines(const Case&);

class Filling {
 public:
  struct SpecialValue {
    std::int64_t row, column;
    float value;
  };

  Filling(const Case&, Operand);
  void fill_row(float* row, std::int64_t i, std::int64_t columns) const;
  float at(std::int64_t i, std::int64_t j) const;

 private:
  template <class Use>
  void with_row(std::int64_t i, const Use& use) const;
  std::int64_t hot_column(std::int64_t i) const;
  void choose_special_values();
  void fill_special_row(float* row, std::int64_t i, std::int64_t columns) const;
  float special(std::uint64_t random, std::int64_t i, std::int64_t j) const;
  int exponent_of_line(Operand o, std::int64_t line) const;

  const Case& c_;
  Operand o_;
  std::vector<SpecialValue> mine_, others_;
  std::int64_t zero_line_ = -1, zeros_from_ = std::numeric_limits<std::int64_t>::max();
  std::vector<double> column_scales_;  // of B, and of C
  double balancing_scale_ = 1;
  std::optional<Patterned> patterned_;
  std::optional<Largest> largest_;
};

}  // namespace assay
