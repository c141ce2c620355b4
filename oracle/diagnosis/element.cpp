// Values that belong to other elements of C.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "oracle/diagnosis/evidence.h"

namespace assay {
namespace {

constexpr double most_elements = 1 << 20;

// The elements of C by a value of theirs.
class ByValue {
 public:
  ByValue(const Evidence& e, const Mistaken& value) {
    for (std::int64_t i = 0; i < e.c().m; ++i) {
      for (std::int64_t j = 0; j < e.c().n; ++j) {
        if (const double v = value({i, j}); std::isfinite(v)) places_.push_back({v, {i, j}});
      }
    }
    std::sort(places_.begin(), places_.end(),
              [](const auto& x, const auto& y) { return x.first < y.first; });
  }
  // At most a few.
  std::vector<Place> near(double value, double slack) const {
    std::vector<Place> found;
    auto at = std::lower_bound(places_.begin(), places_.end(), value - slack,
                               [](const auto& x, double least) { return x.first < least; });
    for (; at != places_.end() && at->first <= value + slack && found.size() < 64; ++at)
      found.push_back(at->second);
    return found;
  }

 private:
  std::vector<std::pair<double, Place>> places_;
};

std::string steps(std::int64_t count, const char* one, const char* back, const char* on) {
  if (count == 0) return "";
  return fmt::format("{} {}{} {}", std::abs(count), one, std::abs(count) == 1 ? "" : "s",
                     count < 0 ? back : on);
}
std::string direction(Place shift) {
  const std::string down = steps(shift.row, "row", "above", "below");
  const std::string right = steps(shift.column, "column", "to the left", "to the right");
  return down.empty() || right.empty() ? down + right : fmt::format("{} and {}", down, right);
}

// What an element holds of another one.
struct Borrowing {
  Fault fault;
  const char* verb;      // "hold the value of the element"
  Mistaken of_other;     // by which the other is found
  Mistaken what_is_own;  // that is there besides
};

std::vector<Borrowing> borrowings(const Evidence& e) {
  const auto product = [&e](Place p) { return e.wanted(p) - e.c().beta * e.old_c(p); };
  const auto nothing = [](Place) { return 0.0; };
  const auto beta_c = [&e](Place p) { return e.c().beta * e.old_c(p); };
  const auto all = [&e](Place p) { return e.wanted(p); };
  std::vector<Borrowing> some = {
      {Fault::other_element, "they hold the value of the element", all, nothing},
      {Fault::sums_not_reset, "sums were not reset: they also hold the sum of the element", product,
       all}};
  if (e.c().beta != 0) {
    some.push_back({Fault::other_element, "they hold the product of the element", product, beta_c});
  }
  return some;
}

Diagnosis from_elsewhere(const Evidence& e, const Borrowing& how) {
  const ByValue by_value(e, how.of_other);
  const auto others = [&](Place p) {
    return by_value.near(e.got(p) - how.what_is_own(p), e.slack_at(p));
  };
  const Place first = e.places().front();
  const double elements = static_cast<double>(e.c().m * e.c().n);
  if (e.is_no_coincidence(elements)) {
    for (Place other : others(first)) {
      const Place shift{other.row - first.row, other.column - first.column};
      const auto mistaken = [&](Place p) {
        const Place from{p.row + shift.row, p.column + shift.column};
        const bool inside =
            from.row >= 0 && from.row < e.c().m && from.column >= 0 && from.column < e.c().n;
        return inside ? how.of_other(from) + how.what_is_own(p) : std::nan("");
      };
      if (other != first && e.explains(mistaken))
        return {{how.fault}, fmt::format("{} {}", how.verb, direction(shift))};
    }
  }
  if (!e.is_no_coincidence(std::pow(elements, static_cast<double>(e.places().size())))) return {};
  if (!e.all_sampled([&](Place p) { return !others(p).empty(); })) return {};
  const Place other = others(first).front();
  return {{how.fault},
          fmt::format("{} elsewhere: row {}, column {} that of row {}, column {}", how.verb,
                      first.row, first.column, other.row, other.column)};
}

Diagnosis transposed(const Evidence& e) {
  const auto mistaken = [&](Place p) {
    const bool inside = p.column < e.c().m && p.row < e.c().n;
    return inside ? e.wanted({p.column, p.row}) : std::nan("");
  };
  const bool is_it = e.is_no_coincidence(1) && e.explains(mistaken);
  return is_it ? Diagnosis{{Fault::transposed}, "C was written as its transpose"} : Diagnosis{};
}

}  // namespace

Diagnosis mistaken_element(const Evidence& e) {
  if (Diagnosis mistake = transposed(e); !mistake.words.empty()) return mistake;
  const bool all_finite = e.all_sampled([&](Place p) { return std::isfinite(e.got(p)); });
  if (!all_finite || static_cast<double>(e.c().m) * static_cast<double>(e.c().n) > most_elements)
    return {};
  for (const Borrowing& how : borrowings(e)) {
    if (Diagnosis mistake = from_elsewhere(e, how); !mistake.words.empty()) return mistake;
  }
  return {};
}

}  // namespace assay
