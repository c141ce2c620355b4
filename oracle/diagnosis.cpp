#include "oracle/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "simt/simt.h"

namespace assay {
namespace {

struct Place {
  std::int64_t row, column;
};

// Which rows or columns have a wrong element.
std::vector<std::int64_t> indices_of(const std::vector<bool>& flags) {
  std::vector<std::int64_t> indices;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (flags[i]) indices.push_back(static_cast<std::int64_t>(i));
  }
  return indices;
}

bool is_run(const std::vector<std::int64_t>& v) {
  return v.back() - v.front() + 1 == static_cast<std::int64_t>(v.size());
}

// One side of the place: "row 3", "rows 4 to 7", "the last 2 of 9 rows"; empty where all rows have
// wrong elements.
std::string describe_side(const std::vector<std::int64_t>& indices, std::int64_t count,
                          const char* name, int tile) {
  const auto size = static_cast<std::int64_t>(indices.size());
  if (size == count) return "";
  if (is_run(indices) && indices.back() == count - 1)
    return fmt::format("the last {} of {} {}s", size, count, name);
  if (size == 1) return fmt::format("{} {}", name, indices.front());
  if (is_run(indices)) return fmt::format("{}s {} to {}", name, indices.front(), indices.back());
  if (tile > 1 && count > tile) {
    const auto first = indices.front() % tile;
    const std::int64_t in_all_tiles = (count - first + tile - 1) / tile;
    if (size == in_all_tiles &&
        std::all_of(indices.begin(), indices.end(), [&](auto i) { return i % tile == first; })) {
      return fmt::format("{} {} of every tile of {}", name, first, tile);
    }
  }
  return fmt::format("{} of {} {}s", size, count, name);
}

std::vector<Place> sample_wrong(const WrongResult& f, std::size_t most) {
  std::vector<Place> places;
  const std::int64_t step =
      std::max<std::int64_t>(1, f.judgement.wrong / static_cast<std::int64_t>(most));
  std::int64_t seen = 0;
  for (std::int64_t i = 0; i < f.c.m; ++i) {
    for (std::int64_t j = 0; j < f.c.n; ++j) {
      if (f.judgement.wrong_mask[static_cast<std::size_t>(i * f.c.n + j)] && seen++ % step == 0)
        places.push_back({i, j});
    }
  }
  return places;
}

// What C would be if a mistake was made; NaN where the mistake has no meaning for that element.
using Mistaken = std::function<double(Place)>;

class Detective {
 public:
  explicit Detective(const WrongResult& f) : f_(f), places_(sample_wrong(f, 32)) {}

  // Whether `mistaken` gives every wrong element that was sampled, and is not simply the right
  // result.
  bool explains(const Mistaken& mistaken) const {
    bool differs = false;
    for (Place p : places_) {
      const auto at = static_cast<std::size_t>(p.row * f_.c.n + p.column);
      const double value = mistaken(p);
      if (std::isnan(value) && std::isnan(got(p))) continue;
      if (!(std::abs(value - got(p)) <= slack_at(p))) return false;
      differs |= std::abs(value - f_.reference.c[at]) > 2 * slack_at(p);
    }
    return differs;
  }

  double slack_at(Place p) const {
    const auto at = static_cast<std::size_t>(p.row * f_.c.n + p.column);
    return 32 * unit_roundoff * (f_.reference.gauge[at] + std::abs(got(p)));
  }

  bool all_within_bound() const {
    if (f_.c.fill == Fill::exact && is_exactly_summable(f_.c))
      return false;  // no order is an excuse
    return all([&](Place p) {
      const auto at = static_cast<std::size_t>(p.row * f_.c.n + p.column);
      if (!std::isfinite(f_.reference.c[at])) return false;
      const double allowed =
          allowed_gulps(f_.variant.arithmetic, f_.c.k) * unit_roundoff * f_.reference.gauge[at];
      return std::abs(got(p) - f_.reference.c[at]) <= allowed;
    });
  }

  double a(Place p, std::int64_t i) const { return f_.before[Operand::a].row(p.row)[i]; }
  double b(Place p, std::int64_t i) const { return f_.before[Operand::b].row(i)[p.column]; }
  double c(Place p) const {
    return f_.c.beta == 0 ? 0 : double{f_.before[Operand::c].row(p.row)[p.column]};
  }
  double got(Place p) const { return f_.result.row(p.row)[p.column]; }

  double product(Place p, std::int64_t from, std::int64_t to) const {
    double sum = 0;
    for (std::int64_t i = from; i < to; ++i) sum += a(p, i) * b(p, i);
    return sum;
  }
  double product(Place p) const { return product(p, 0, depth()); }
  std::int64_t depth() const { return f_.c.alpha == 0 ? 0 : f_.c.k; }

  // The mistake; without words if none is known that explains all.
  Diagnosis find() const {
    if (Diagnosis mistake = unwritten_or_nan(); !mistake.words.empty()) return mistake;
    if (all_within_bound()) {
      return {{Fault::other_order},
              "right within the bound, but summed in another order, or not by fused multiply-adds"};
    }
    for (auto attempt : {&Detective::wrong_scalars, &Detective::missing_k,
                         &Detective::wrong_distance, &Detective::rounded_inputs}) {
      if (Diagnosis mistake = (this->*attempt)(); !mistake.words.empty()) return mistake;
    }
    return {{Fault::wrong_values}, ""};
  }

 private:
  template <class Test>
  bool all(Test test) const {
    return std::all_of(places_.begin(), places_.end(), test);
  }

  // Looks at all wrong elements, not only at the sample.
  template <class Test>
  bool all_wrong(Test test) const {
    for (std::int64_t i = 0; i < f_.c.m; ++i) {
      for (std::int64_t j = 0; j < f_.c.n; ++j) {
        if (f_.judgement.wrong_mask[static_cast<std::size_t>(i * f_.c.n + j)] && !test(Place{i, j}))
          return false;
      }
    }
    return true;
  }

  Diagnosis unwritten_or_nan() const {
    if (all_wrong([&](Place p) {
          return is_unwritten(f_.c, f_.before[Operand::c], p.row, p.column,
                              f_.result.row(p.row)[p.column]);
        }))
      return {{Fault::unwritten}, "they were never written"};
    if (all_wrong([&](Place p) { return std::isnan(got(p)); })) {
      const Diagnosis origin = origin_of_nan(static_cast<float>(got(places_.front())));
      return {origin.finding, origin.words.empty()
                                  ? "they are NaN"
                                  : fmt::format("they are NaN, from {}", origin.words)};
    }
    return {};
  }

  Diagnosis wrong_scalars() const {
    const double alpha = f_.c.alpha, beta = f_.c.beta;
    struct Scalar {
      Fault fault;
      const char* words;
      Mistaken mistaken;
    };
    const std::vector<Scalar> mistakes = {
        // With beta 0 there was nothing to leave unchanged but poison, which is looked at before.
        {Fault::unwritten, "C is unchanged there",
         [&](Place p) { return beta == 0 ? std::nan("") : c(p); }},
        {Fault::beta, "beta * C is missing", [&](Place p) { return alpha * product(p); }},
        {Fault::beta, "C was added without beta",
         [&](Place p) { return alpha * product(p) + c(p); }},
        {Fault::beta, "beta was applied twice",
         [&](Place p) { return alpha * product(p) + beta * beta * c(p); }},
        {Fault::beta, "beta * C was added twice",
         [&](Place p) { return alpha * product(p) + 2 * beta * c(p); }},
        {Fault::alpha, "alpha is missing", [&](Place p) { return product(p) + beta * c(p); }},
        {Fault::alpha, "alpha was applied twice",
         [&](Place p) { return alpha * alpha * product(p) + beta * c(p); }},
        {Fault::alpha, "alpha was applied to beta * C too",
         [&](Place p) { return alpha * (product(p) + beta * c(p)); }},
        {Fault::no_product, "alpha * A * B is missing", [&](Place p) { return beta * c(p); }},
        {Fault::no_product, "alpha * A * B was added twice",
         [&](Place p) { return 2 * alpha * product(p) + beta * c(p); }},
    };
    for (const auto& [fault, words, mistaken] : mistakes) {
      if (explains(mistaken)) return {{fault}, words};
    }
    return {};
  }

  // How likely it is that one of this many wrong guesses happens to fit every sampled element.
  double chance_of_coincidence(double guesses) const {
    double chance = 2 * guesses;
    for (Place p : places_) {
      const auto at = static_cast<std::size_t>(p.row * f_.c.n + p.column);
      chance *= std::min(1.0, 2 * slack_at(p) / std::abs(got(p) - f_.reference.c[at]));
    }
    return chance;
  }

  // A range of k that was left out, or counted twice.
  Diagnosis missing_k() const {
    const std::int64_t k = depth();
    std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
    const std::int64_t tile = f_.variant.tile.k;
    if (k % tile != 0) ranges.push_back({k - k % tile, k});
    for (std::int64_t p = 0; tile > 1 && p < k; p += tile)
      ranges.push_back({p, std::min(p + tile, k)});
    for (std::int64_t p = k - 1; p >= std::max<std::int64_t>(0, k - 4096); --p)
      ranges.push_back({p, p + 1});
    for (std::int64_t p = k - 2; p > std::max<std::int64_t>(0, k - 4096); --p)
      ranges.push_back({p, k});
    if (chance_of_coincidence(static_cast<double>(ranges.size())) > 0.05) return {};
    for (const auto& [from, to] : ranges) {
      const auto with = [&, from = from, to = to](double times) {
        return [&, from, to, times](Place p) {
          return f_.c.alpha * (product(p) + times * product(p, from, to)) + f_.c.beta * c(p);
        };
      };
      const std::string where = to - from == 1 ? fmt::format("k = {}", from)
                                               : fmt::format("k = {} to {}", from, to - 1) +
                                                     (to == k ? ", the last" : "");
      if (explains(with(-1)))
        return {{Fault::k_missing}, fmt::format("the contribution of {} is missing", where)};
      if (explains(with(+1)))
        return {{Fault::k_twice}, fmt::format("the contribution of {} was added twice", where)};
    }
    return {};
  }

  // An operand that was read with the distance between rows of another.
  Diagnosis wrong_distance() const {
    const Image &a = f_.before[Operand::a], &b = f_.before[Operand::b], &c = f_.before[Operand::c];
    const auto at = [](const Image& image, std::int64_t ld, std::int64_t i, std::int64_t j) {
      const std::int64_t index = image.first + i * ld + j;
      return index < static_cast<std::int64_t>(image.floats.size())
                 ? double{image.floats[static_cast<std::size_t>(index)]}
                 : NAN;
    };
    struct Distance {
      const char* name;
      std::int64_t value;
    };
    for (const Distance& d : {Distance{"lda", a.stride},
                              {"ldb", b.stride},
                              {"ldc", c.stride},
                              {"m", f_.c.m},
                              {"n", f_.c.n},
                              {"k", f_.c.k}}) {
      const auto mistaken = [&](std::int64_t lda, std::int64_t ldb) {
        return [&, lda, ldb](Place p) {
          double sum = 0;
          for (std::int64_t i = 0; i < depth(); ++i)
            sum += at(a, lda, p.row, i) * at(b, ldb, i, p.column);
          return f_.c.alpha * sum + f_.c.beta * this->c(p);
        };
      };
      if (d.value != a.stride && explains(mistaken(d.value, b.stride)))
        return {{Fault::wrong_stride}, fmt::format("A was read with {} for lda", d.name)};
      if (d.value != b.stride && explains(mistaken(a.stride, d.value)))
        return {{Fault::wrong_stride}, fmt::format("B was read with {} for ldb", d.name)};
    }
    return {};
  }

  Diagnosis rounded_inputs() const {
    const auto keep = [](double value, int bits,
                         double (*round)(double)) {  // `bits` after the leading one
      int exponent = 0;
      const double mantissa = std::frexp(value, &exponent);
      return std::ldexp(round(std::ldexp(mantissa, bits + 1)), exponent - bits - 1);
    };
    struct Format {
      const char* name;
      int bits;
    };
    for (const auto& [name, bits] : {Format{"TF32 (or FP16)", 10}, {"BF16", 7}}) {
      for (auto round : {static_cast<double (*)(double)>(std::nearbyint),
                         static_cast<double (*)(double)>(std::trunc)}) {
        const auto mistaken = [&, bits = bits](Place p) {
          double sum = 0;
          for (std::int64_t i = 0; i < depth(); ++i)
            sum += keep(a(p, i), bits, round) * keep(b(p, i), bits, round);
          return f_.c.alpha * sum + f_.c.beta * c(p);
        };
        if (explains(mistaken))
          return {{Fault::rounded_inputs}, fmt::format("the inputs were rounded to {}", name)};
      }
    }
    return {};
  }

  const WrongResult& f_;
  std::vector<Place> places_;
};

}  // namespace

Diagnosis origin_of_nan(float value) {
  if (!std::isnan(value)) return {};
  const auto payload = [](std::uint32_t bits) { return bits & 0x3fffffu; };
  const std::uint32_t mine = payload(std::bit_cast<std::uint32_t>(value));
  if (mine == payload(guard_bits)) return {{Fault::read_outside}, "memory outside the matrices"};
  if (mine == payload(padding_bits)) return {{Fault::read_gap}, "a gap between rows"};
  if (mine == payload(unwritten_bits))
    return {{Fault::read_old_c}, "C before it was written, although beta is 0"};
  if (mine == payload(simt::unwritten_shared_bits))
    return {{Fault::read_shared}, "shared memory before it was written"};
  return {{Fault::nan}, ""};
}

std::string describe_place(const Judgement& judgement, std::int64_t m, std::int64_t n,
                           const Tile& tile) {
  std::vector<bool> rows(static_cast<std::size_t>(m)), columns(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      if (!judgement.wrong_mask[static_cast<std::size_t>(i * n + j)]) continue;
      rows[static_cast<std::size_t>(i)] = columns[static_cast<std::size_t>(j)] = true;
    }
  }
  const auto wrong_rows = indices_of(rows), wrong_columns = indices_of(columns);
  const std::string down = describe_side(wrong_rows, m, "row", tile.m);
  const std::string across = describe_side(wrong_columns, n, "column", tile.n);
  const bool filled =
      judgement.wrong == static_cast<std::int64_t>(wrong_rows.size() * wrong_columns.size());
  const std::string which = filled ? "every element" : fmt::format("{} elements", judgement.wrong);
  if (down.empty() && across.empty()) return filled ? which : which + " all over C";
  if (down.empty()) return fmt::format("{} of {}", which, across);
  if (across.empty()) return fmt::format("{} of {}", which, down);
  return fmt::format("{} of {} in {}", which, down, across);
}

Diagnosis diagnose(const WrongResult& f) {
  const std::string place = describe_place(f.judgement, f.c.m, f.c.n, f.variant.tile);
  const auto [finding, cause] = Detective(f).find();
  return {finding, cause.empty() ? place : fmt::format("{}: {}", place, cause)};
}

std::string picture(const Judgement& judgement, std::int64_t m, std::int64_t n) {
  const std::int64_t down = (m + 15) / 16, across = (n + 47) / 48;  // elements for one character
  std::string text;
  for (std::int64_t i = 0; i < m; i += down) {
    for (std::int64_t j = 0; j < n; j += across) {
      bool wrong = false;
      for (std::int64_t y = i; y < std::min(i + down, m); ++y) {
        for (std::int64_t x = j; x < std::min(j + across, n); ++x)
          wrong |= judgement.wrong_mask[static_cast<std::size_t>(y * n + x)] != 0;
      }
      text += wrong ? '#' : '.';
    }
    text += '\n';
  }
  return text;
}

}  // namespace assay
