#include "properties/aims/one_way.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "properties/draws/cost.h"
#include "properties/fitting.h"

namespace assay {
namespace {

std::string text_of(double value) {
  const bool is_whole = std::abs(value) < 0x1p53 && value == std::trunc(value);
  return is_whole ? fmt::format("{:.0f}", value) : fmt::format("{:.9g}", value);
}
std::string range(double least, double greatest) {
  return least == greatest ? text_of(least)
                           : fmt::format("{} to {}", text_of(least), text_of(greatest));
}

// Where the compiler says `k > 2047` for `k >= 2048`, the number that the source names.
double named_constant(double constant, const std::string& source) {
  for (const double near : {constant, constant + 1, constant - 1}) {
    if (source.find(text_of(near)) != source.npos) return near;
  }
  return constant;
}

std::string evidence(const Comparison& c, const std::string& source) {
  if (c.kind == Comparison::Kind::switches)
    return fmt::format("only {} came", range(c.least, c.greatest));
  if (c.with_constant && c.bytes == 1 && c.constant == 0)
    return c.greatest == 0 ? "it was always false" : "it was always true";
  if (c.with_constant) {
    return fmt::format("compared with {}, only {} came",
                       text_of(named_constant(c.constant, source)), range(c.least, c.greatest));
  }
  return fmt::format("compared with {}, only {} came", range(c.least_other, c.greatest_other),
                     range(c.least, c.greatest));
}

// The author accepts it in this line of the source or in the one above.
bool is_accepted(const Place& place) {
  constexpr const char* mark = "// one way only:";
  return source_line(place, place.line).find(mark) != std::string::npos ||
         source_line(place, place.line - 1).starts_with(mark);
}

// On the CPU executor. A GPU judges others, and those of the backend `ptx` are all small.
bool is_too_dear(const Case& aimed, const Entry& entry, const Effort& effort) {
  const Claim& bound = claim_named("within_bound");
  const Case c = nearest_case(aimed, bound, entry);
  return entry.backend == Backend::simt &&
         (c.m * c.n > most_judged_elements || cost_of(c, bound, entry, effort) > most_judged_cost);
}

// The cheapest cases for the ways of a comparison, of which a way that gives up has none.
struct Sides {
  std::optional<Case> dear;
  bool any_cheap = false;
};
Sides sides_of(const Known& known, const Entry& entry, const Effort& effort) {
  Sides sides;
  for (const auto& cheapest : known.cheapest) {
    const bool is_dear = cheapest && is_too_dear(*cheapest, entry, effort);
    sides.any_cheap |= cheapest && !is_dear;
    if (is_dear) sides.dear = cheapest;
  }
  return sides;
}

}  // namespace

void report_comparisons(const Knowledge& knowledge, Exploration& exploration) {
  for (const auto& [where, known] : knowledge.comparisons()) {
    const auto found = knowledge.places().find(where);
    if (found == knowledge.places().end() || !known.decides) continue;
    const Place& place = found->second;
    if (!is_of_the_author(place)) continue;
    const auto [dear, any_cheap] = sides_of(known, knowledge.entry(), exploration.hints.effort);
    if (dear && !any_cheap) continue;  // it stands behind one that is listed
    const bool is_settled = known.is_settled() && !dear;
    if (!is_settled && is_accepted(place)) continue;
    ++exploration.comparisons;
    exploration.went_both_ways += is_settled;
    if (is_settled) continue;
    const std::string source = source_line(place, place.line);
    exploration.one_way.push_back(
        {place.file, place.line, source,
         dear ? fmt::format("one way takes {} or more, which is too dear to judge on the CPU",
                            to_string(*dear))
              : evidence(known.seen, source)});
  }
  std::stable_sort(exploration.one_way.begin(), exploration.one_way.end(),
                   [](const OneWay& a, const OneWay& b) {
                     return std::tie(a.file, a.line) < std::tie(b.file, b.line);
                   });
}

}  // namespace assay
