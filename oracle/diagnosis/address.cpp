// Mistakes in where elements of A and B were read.
#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "oracle/diagnosis/evidence.h"

namespace assay {
namespace {

// How far from the first element of an operand its element (i, j) was sought.
using Distance = std::function<std::int64_t(std::int64_t i, std::int64_t j)>;

// Memory that cannot be read at all: then there is no result.
constexpr std::int64_t faults = std::int64_t{-1} << 40;
constexpr double no_result = 1e300;

Mistaken reading(const Evidence& e, const Distance& of_a, const Distance& of_b) {
  return [&e, &of_a, &of_b](Place p) {
    double sum = 0;
    for (std::int64_t i = 0; i < e.depth(); ++i) {
      const std::int64_t a = of_a(p.row, i), b = of_b(i, p.column);
      if (a == faults || b == faults) return no_result;
      sum += e.at(Operand::a, a) * e.at(Operand::b, b);
    }
    return e.with_product(p, sum);
  };
}

Distance rows_apart(std::int64_t ld) {
  return [ld](std::int64_t i, std::int64_t j) { return i * ld + j; };
}

struct Length {
  const char* name;
  std::int64_t value;
};
std::vector<Length> lengths(const Evidence& e) {
  return {{"lda", e.stride(Operand::a)},
          {"ldb", e.stride(Operand::b)},
          {"ldc", e.stride(Operand::c)},
          {"m", e.c().m},
          {"n", e.c().n},
          {"k", e.c().k}};
}

// Where several distances are as long, nobody can tell which of them was taken; nor a size from
// the distance that it is, but for the length of the operand's own rows.
std::string names_of(std::int64_t value, std::string_view own, const Evidence& e) {
  std::vector<std::string> distances, sizes;
  for (const Length& length : lengths(e)) {
    if (length.value != value) continue;
    const bool counts = length.name[0] == 'l' || length.name == own;
    (counts ? distances : sizes).emplace_back(length.name);
  }
  return distances.empty() ? sizes.front() : joined(distances, " or ");
}

Diagnosis wrong_stride(const Evidence& e) {
  const std::int64_t lda = e.stride(Operand::a), ldb = e.stride(Operand::b);
  const Distance a = rows_apart(lda), b = rows_apart(ldb);
  for (const Length& length : lengths(e)) {
    const Distance other = rows_apart(length.value);
    const auto words = [&](const char* operand, const char* right) {
      const char* const own = *operand == 'A' ? "k" : "n";
      return fmt::format("{} was read with {} for {}", operand, names_of(length.value, own, e),
                         right);
    };
    if (length.value != lda && e.explains(reading(e, other, b)))
      return {{Fault::wrong_stride}, words("A", "lda")};
    if (length.value != ldb && e.explains(reading(e, a, other)))
      return {{Fault::wrong_stride}, words("B", "ldb")};
  }
  if (e.explains(reading(e, rows_apart(ldb), rows_apart(lda))))
    return {{Fault::wrong_stride}, "lda and ldb were swapped"};
  return {};
}

Diagnosis transposed(const Evidence& e) {
  const auto columns_apart = [](std::int64_t ld) {
    return [ld](std::int64_t i, std::int64_t j) { return j * ld + i; };
  };
  const std::int64_t lda = e.stride(Operand::a), ldb = e.stride(Operand::b);
  const Distance a = rows_apart(lda), b = rows_apart(ldb);
  for (std::int64_t ld : {lda, e.c().m}) {
    if (e.explains(reading(e, columns_apart(ld), b)))
      return {{Fault::transposed}, "A was read as its transpose"};
  }
  for (std::int64_t ld : {ldb, e.c().k}) {
    if (e.explains(reading(e, a, columns_apart(ld))))
      return {{Fault::transposed}, "B was read as its transpose"};
    if (e.explains(reading(e, columns_apart(lda), columns_apart(ld))))
      return {{Fault::transposed}, "A and B were read as their transposes"};
  }
  const auto swapped = [&](Place p) {
    double sum = 0;
    for (std::int64_t i = 0; i < e.depth(); ++i)
      sum += e.at(Operand::b, p.row * ldb + i) * e.at(Operand::a, i * lda + p.column);
    return e.with_product(p, sum);
  };
  return e.explains(swapped) ? Diagnosis{{Fault::transposed}, "A and B were swapped"} : Diagnosis{};
}

Diagnosis shifted(const Evidence& e) {
  struct Shift {
    std::int64_t down, right;
    const char* words;
  };
  const std::int64_t lda = e.stride(Operand::a), ldb = e.stride(Operand::b);
  const Distance a = rows_apart(lda), b = rows_apart(ldb);
  for (const Shift& shift : {Shift{1, 0, "one row too far down"},
                             {-1, 0, "one row too far up"},
                             {0, 1, "one column too far right"},
                             {0, -1, "one column too far left"}}) {
    const auto moved = [&](std::int64_t ld) {
      return [=, by = shift.down * ld + shift.right](std::int64_t i, std::int64_t j) {
        return i * ld + j + by;
      };
    };
    if (e.explains(reading(e, moved(lda), b)))
      return {{Fault::shifted}, fmt::format("A was read {}", shift.words)};
    if (e.explains(reading(e, a, moved(ldb))))
      return {{Fault::shifted}, fmt::format("B was read {}", shift.words)};
  }
  return {};
}

// Where an index of 32 bits leads in an operand whose rows lie far apart.
Distance wrapped(std::int64_t ld, std::int64_t stride, bool is_signed) {
  return [=](std::int64_t i, std::int64_t j) {
    const auto low = static_cast<std::uint32_t>(i * ld + j);
    const std::int64_t at = is_signed ? static_cast<std::int32_t>(low) : std::int64_t{low};
    const std::int64_t column = at % ld;
    const bool stored = at >= 0 && column < stride;
    return stored ? at / ld * stride + column : faults;
  };
}

// What is NaN must come from a gap, as far as its bits tell.
bool may_come_from_a_gap(float value) {
  const Fault origin = origin_of_nan(value).finding.fault;
  return !std::isnan(value) || origin == Fault::read_gap || origin == Fault::nan;
}

}  // namespace

// Goes before all others: where it leads to a gap, the result is NaN like that of any other gap.
Diagnosis overflowed_index(const Evidence& e) {
  const std::int64_t lda = e.ld(Operand::a), ldb = e.ld(Operand::b);
  const Distance a = rows_apart(e.stride(Operand::a)), b = rows_apart(e.stride(Operand::b));
  if (!e.all_sampled([&](Place p) { return may_come_from_a_gap(static_cast<float>(e.got(p))); }))
    return {};
  const bool any_number = !e.all_sampled([&](Place p) { return std::isnan(e.got(p)); });
  if (any_number && !e.is_no_coincidence(4)) return {};
  const bool wide_a = lda != e.stride(Operand::a), wide_b = ldb != e.stride(Operand::b);
  const auto is_it = [&](const Distance& of_a, const Distance& of_b) {
    const Mistaken mistaken = reading(e, of_a, of_b);
    return e.explains(mistaken, Evidence::Nan::counts) && e.gives_what_is_right(mistaken);
  };
  for (bool is_signed : {true, false}) {
    if (wide_a && is_it(wrapped(lda, e.stride(Operand::a), is_signed), b))
      return {{Fault::index_overflow, Operand::a}, "an index of A overflowed 32 bits"};
    if (wide_b && is_it(a, wrapped(ldb, e.stride(Operand::b), is_signed)))
      return {{Fault::index_overflow, Operand::b}, "an index of B overflowed 32 bits"};
  }
  return {};
}

Diagnosis mistaken_address(const Evidence& e) {
  constexpr double guesses = 40;
  if (e.depth() == 0 || !e.is_no_coincidence(guesses)) return {};
  for (auto attempt : {wrong_stride, transposed, shifted}) {
    if (Diagnosis mistake = attempt(e); !mistake.words.empty()) return mistake;
  }
  return {};
}

}  // namespace assay
