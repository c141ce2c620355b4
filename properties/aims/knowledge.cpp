#include "properties/aims/knowledge.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "properties/fitting.h"

namespace assay {
namespace {

constexpr double most_on_the_host = 2e6;  // multiply-adds: nothing ends a function of the host

int relations(const Comparison& c) {
  return static_cast<int>(std::isfinite(c.below)) + static_cast<int>(c.equal) +
         static_cast<int>(std::isfinite(c.above));
}

// Whether `more` showed anything new.
bool merge(Comparison& into, const Comparison& more) {
  const int before = relations(into);
  bool is_new = false;
  into.least = std::min(into.least, more.least);
  into.greatest = std::max(into.greatest, more.greatest);
  into.least_other = std::min(into.least_other, more.least_other);
  into.greatest_other = std::max(into.greatest_other, more.greatest_other);
  into.below = std::max(into.below, more.below);
  into.above = std::min(into.above, more.above);
  into.equal |= more.equal;
  for (const void* way : more.ways) {
    if (way == nullptr || way == into.ways[0] || way == into.ways[1]) continue;
    if (into.ways[1] != nullptr) continue;
    into.ways[into.ways[0] == nullptr ? 0 : 1] = way;
    is_new = true;
  }
  return is_new || relations(into) > before;
}

// The comparisons of which two runs saw other values.
std::set<const void*> different(const WatchedRun& one, const WatchedRun& two) {
  using Values = std::tuple<const void*, double, double, double, double>;
  const auto values_in = [](const WatchedRun& run) {
    std::set<Values> all;
    for (const Comparison& c : run.comparisons)
      all.insert({c.where, c.least, c.greatest, c.least_other, c.greatest_other});
    return all;
  };
  const std::set<Values> of_one = values_in(one), of_two = values_in(two);
  std::set<const void*> where;
  for (const Values& values : of_one)
    if (!of_two.contains(values)) where.insert(std::get<0>(values));
  for (const Values& values : of_two)
    if (!of_one.contains(values)) where.insert(std::get<0>(values));
  return where;
}

// One in which the launch gives up only where there is no other.
void keep_cheapest(const Comparison& comparison, const Case& c, bool gives_up, Known& known) {
  const auto cost = [](const Case& x) {
    return x.multiply_adds() + static_cast<double>(x.m) * static_cast<double>(x.n);
  };
  for (std::size_t i = 0; i < known.cheapest.size(); ++i) {
    const void* const way = known.seen.ways[i];
    const bool went = way != nullptr && (way == comparison.ways[0] || way == comparison.ways[1]);
    if (!went) continue;
    auto& cheapest = known.cheapest[i];
    const bool has_other = cheapest && cheapest->m > 0;
    if (gives_up ? !has_other : !has_other || cost(c) < cost(*cheapest))
      cheapest = gives_up ? Case{} : c;
  }
}

}  // namespace

bool Known::is_settled() const { return decides ? seen.went_both_ways() : relations(seen) >= 2; }

double nearest_difference(const Comparison& c) {
  if (c.equal) return 0;
  return -c.below < c.above ? c.below : c.above;
}

Knowledge::Knowledge(const Entry& entry, std::map<const void*, Place> places, std::uint64_t budget)
    : entry_(entry), past_runs_(entry), places_(std::move(places)), left_(budget) {
  for (const auto& [where, place] : places_) {
    if (place.is_in_helper) in_helpers_.push_back(where);
    if (place.decides_branch) branches_.push_back(where);
  }
}

WatchedRun Knowledge::run(Case c, std::uint64_t most_calls) {
  c = fitted(c, entry_.variant.needs);
  if (is_spent()) return {};
  if (entry_.backend == Backend::host && c.multiply_adds() > most_on_the_host) return {};
  WatchedRun run = watched(c, std::min(most_calls, left_));
  left_ -= run.timed_out ? left_ : std::min(left_, run.cost());
  if (learn(run.comparisons, c)) news_.push_back(c);
  return run;
}

// What it costs is the same where the case was run before.
WatchedRun Knowledge::watched(const Case& c, std::uint64_t most_calls) {
  if (auto known = past_runs_.find(c, most_calls)) return std::move(*known);
  WatchedRun run = entry_.watched_launch == nullptr
                       ? watched_run_of_ptx(entry_, c, most_calls, hints())
                       : watched_run(entry_, c, most_calls, hints());
  learn_places(run);
  past_runs_.add(run);
  return run;
}

std::vector<Case> Knowledge::cases_that_look() {
  constexpr std::size_t most_cases = 48, most_kept = 8;
  constexpr std::uint64_t most_calls = 300'000;
  std::map<std::set<const void*>, Case> kept;
  const std::size_t step = std::max<std::size_t>(1, news_.size() / most_cases);
  for (std::size_t i = 0; i < news_.size(); i += step) {
    Case c = news_[i], other = c;  // the seed picks more than elements
    c.fill = Fill::uniform, other.fill = Fill::small_ints;
    if (c.multiply_adds() == 0 || c.alpha == 0) continue;
    const auto looks = different(watched(c, most_calls), watched(other, most_calls));
    if (looks.empty() || (kept.size() >= most_kept && !kept.contains(looks))) continue;
    const auto [known, is_new] = kept.try_emplace(looks, c);
    if (!is_new && c.multiply_adds() < known->second.multiply_adds()) known->second = c;
  }
  std::vector<Case> cases;
  for (const auto& [looks, c] : kept) cases.push_back(c);
  return cases;
}

bool Knowledge::learn(const std::vector<Comparison>& comparisons, const Case& c, bool gives_up) {
  bool any_new = false;
  for (const Comparison& comparison : comparisons) any_new |= learn(comparison, c, gives_up);
  return any_new;
}

// Where nvcc compiles an `if`, what is compared guards instructions or chooses between values: it
// decides all the same.
void Knowledge::learn_places(const WatchedRun& run) {
  for (std::size_t i = 0; i < run.places.size(); ++i) {
    const auto& [file, line] = run.places[i];
    const void* const where = run.comparisons[i].where;
    if (!file.empty() && !places_.contains(where)) places_[where] = {file, line, true};
  }
}

// It stands where the helper is called. What a helper for floats compares is of no interest: it
// looks for NaN.
void Knowledge::learn_place_in_helper(const Comparison& comparison) {
  const auto line = places_.find(comparison.line()), inside = places_.find(comparison.inside);
  if (line == places_.end() || inside == places_.end()) return;
  Place place = comparison.kind == Comparison::Kind::floats ? inside->second : line->second;
  place.decides_branch = inside->second.decides_branch;
  places_.try_emplace(comparison.where, place);
}

bool Knowledge::learn(const Comparison& comparison, const Case& c, bool gives_up) {
  const auto [known, is_new] = known_.try_emplace(comparison.where, Known{comparison, c, c});
  const bool any_new = is_new || merge(known->second.seen, comparison);
  keep_cheapest(comparison, c, gives_up, known->second);
  if (!is_new) {
    if (any_new) known->second.last = c;
    return any_new;
  }
  if (comparison.inside != nullptr) learn_place_in_helper(comparison);
  const auto place = places_.find(comparison.where);
  known->second.decides = place == places_.end() || place->second.decides_branch;
  return true;
}

}  // namespace assay
