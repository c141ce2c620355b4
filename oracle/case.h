// A case: a problem without its memory. Everything about a trial follows from (variant, backend,
// claim, case).
//
// A case has one text form, `m=1001 n=513 k=777 alpha=1.5 beta=-0.5 ldb=+3 offset=1,0,2
// fill=uniform seed=42`, which is printed, parsed, used as a filter and stored. It is made from the
// members by `for_each_member`, so that it cannot drift from them. m, n and k are always printed,
// the others only where they differ from their default.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

enum class Fill {
  uniform,     // in [-1, 1]: judged by the error bound
  exact,       // integers for which every order of summation is exact and rounded inputs are not
  small_ints,  // in -8..8
  identity,    // A is the identity, as far as it reaches
  one_hot,     // one 1 in each row of A, mostly at a random place
  special,     // uniform with a few NaN and infinities, and zeros that they are multiplied by
  scaled,      // uniform, each row of A and column of B times a power of 2: from denormals to 2^45
  balanced,    // uniform times powers of 2 that let alpha * A * B and beta * C show in the result,
               // whatever the scalars
  largest,     // elements, products and results beside the largest float, and beyond
  patterned,   // structure that the seed picks: zeros, symmetry, repetition, slopes along k, ...
};

// Floats between the end of a row and the beginning of the next.
struct Gap {
  std::int64_t floats = 0;
  bool operator==(const Gap&) const = default;
};

// How many floats past a 16-byte boundary A, B and C begin; past one of 256 bytes, as an allocation
// has it, where one of them begins more than 3 past it. 0 to 63.
struct Offsets {
  static constexpr int most = 63;
  std::array<int, 3> floats = {0, 0, 0};
  bool operator==(const Offsets&) const = default;
  bool are_of_allocations() const { return floats[0] > 3 || floats[1] > 3 || floats[2] > 3; }
};

struct Case {
  std::int64_t m = 0, n = 0, k = 0;
  float alpha = 1, beta = 0;
  Gap lda, ldb, ldc;
  Offsets offset;
  Fill fill = Fill::uniform;
  std::uint64_t seed = 0;

  bool operator==(const Case&) const = default;
  double multiply_adds() const {
    return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
  // How many floats A, B and C spread over, with the gaps behind their rows.
  std::array<double, 3> spreads() const {
    const auto spread = [](std::int64_t rows, std::int64_t columns, Gap gap) {
      return static_cast<double>(rows) * static_cast<double>(columns + gap.floats);
    };
    return {spread(m, k, lda), spread(k, n, ldb), spread(m, n, ldc)};
  }
};

// Calls visit(name, member, always_printed) for every member of a case, in the order of the text
// form.
template <class AnyCase, class Visit>
void for_each_member(AnyCase& c, Visit&& visit) {
  visit("m", c.m, true);
  visit("n", c.n, true);
  visit("k", c.k, true);
  visit("alpha", c.alpha, false);
  visit("beta", c.beta, false);
  visit("lda", c.lda, false);
  visit("ldb", c.ldb, false);
  visit("ldc", c.ldc, false);
  visit("offset", c.offset, false);
  visit("fill", c.fill, false);
  visit("seed", c.seed, false);
}

std::string to_string(const Case&);
std::string_view to_string(Fill);

// Reads the text form, its tokens in any order. Throws BadInput that names the token at fault.
Case parse_case(std::string_view text);

}  // namespace assay
