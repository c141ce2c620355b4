// What a claim takes of an exploration.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "oracle/fills/filling.h"
#include "oracle/fills/pattern.h"
#include "oracle/reference.h"
#include "properties/aims/exploration.h"
#include "properties/aims/one_way.h"
#include "properties/draws/cost.h"
#include "properties/draws/data.h"
#include "properties/fitting.h"
#include "properties/scopes.h"

namespace assay {
namespace {

struct Price {                                        // in nanoseconds, of one trial of each case
  double most_each, most_together, most_empty = 1e6;  // the latter of one whose C has no elements
};

// The seed of what it holds says what else it tries.
std::string but_for_the_seed(Case c) {
  if (c.fill != Fill::special && c.fill != Fill::patterned) c.seed = 0;
  return to_string(c);
}

double cost_of_trial(const Case& c, const Claim& claim, const Entry& entry, const Effort& effort) {
  return cost_of(c, claim, entry, effort) / std::max(1, claim.trials);
}

// Those among them that the claim says something about, moved to it, which cost no more and are
// none of some others.
std::vector<Case> affordable(const std::vector<Case>& cases, const Exploration& exploration,
                             const Claim& claim, const Entry& entry, const Price& price,
                             const std::vector<Case>& others = {}) {
  if (claim.most_cases < Claim::as_many_as_asked_for) return {};
  std::vector<Case> chosen;
  std::set<std::string> known;
  for (const Case& c : others) known.insert(but_for_the_seed(c));
  double together = 0;
  const double most_together = price.most_together * share_of_cases(claim, entry);
  for (Case aimed : cases) {
    spare_denormals(aimed, entry);
    const Case c = nearest_case(aimed, claim, entry);
    const double cost_of_it = cost_of_trial(c, claim, entry, exploration.hints.effort);
    if (cost_of_it > (c.m * c.n == 0 ? price.most_empty : price.most_each)) continue;
    if (together + cost_of_it > most_together) continue;
    if (c.m * c.n > most_judged_elements || !claim.excludes_case(c).empty()) continue;
    if (!known.insert(but_for_the_seed(c)).second) continue;
    together += cost_of_it;
    chosen.push_back(c);
  }
  return chosen;
}

// Where a long sum is put together from parts, an infinity may be lost in any of them, and a case
// of few elements holds but one or two.
void add_special_sums(const std::vector<Case>& cases, std::vector<Case>& all) {
  constexpr std::int64_t least_k = 1024, most_elements = 16;
  constexpr int more = 8;
  for (Case c : cases) {
    if (c.k < least_k || c.m * c.n > most_elements || c.alpha == 0) continue;
    c.fill = Fill::special;
    for (int i = 0; i < more; ++i) {
      c.seed = all.size();
      all.push_back(c);
    }
  }
}

// What a path does with infinities, or with rows of different scale, plain numbers do not show.
// Each kind of data comes to each case in turn, so that all come to both sides of a threshold, and
// those that are left out come later. Where inputs lose bits, whole numbers do not, if alpha is a
// power of 2: they show a product that is missing.
std::vector<Case> with_all_data(const std::vector<Case>& cases, Arithmetic arithmetic) {
  using Fills = std::vector<Fill>;
  const Fills fills = keeps_inputs(arithmetic) ? Fills{Fill::special, Fill::scaled, Fill::patterned,
                                                       Fill::special, Fill::largest}
                                               : Fills{Fill::special, Fill::small_ints};
  const std::size_t count = fills.size();
  std::vector<Case> all;
  for (std::size_t turn = 0; turn < count; ++turn)
    for (std::size_t i = 0; i < cases.size(); ++i) {
      Case c = cases[i];
      if (turn > 0 && c.alpha == 0) continue;
      c.fill = fills[(i + turn) % count];
      c.alpha = scalar_for(c.fill, c.alpha);
      if (c.fill == Fill::small_ints && c.alpha != 0)
        c.alpha = std::copysign(std::ldexp(1.0f, std::ilogb(c.alpha)), c.alpha);
      c.seed += all.size();
      while (c.fill == Fill::scaled && !scales_to_denormals(c.seed)) ++c.seed;
      all.push_back(c);
    }
  add_special_sums(cases, all);
  return all;
}

// Where a kernel looks at the data, much that deceives a look: numbers that fit a type of fewer
// bits but for the last ones, structure with an exception, infinities; and sizes of which a look
// may leave out the last few rows and columns.
std::vector<Case> deceiving(const std::vector<Case>& looks) {
  constexpr std::size_t rounds = 120;
  std::vector<Case> all;
  for (std::size_t round = 0; round < rounds; ++round)
    for (Case c : looks) {
      Choices choices(scramble(all.size()));
      for (const auto size : {&Case::m, &Case::n, &Case::k})
        if (choices.below(2) == 0) c.*size += choices.below(4);
      c.fill = round % 4 == 3 ? Fill::special : Fill::patterned;
      c.alpha = scalar_for(c.fill, c.alpha);
      c.seed = all.size() * 1009;
      const Operand o = round / 4 % 2 == 0 ? Operand::a : Operand::b;
      const auto deceives = [&] {
        if (round % 4 == 0)
          return is_narrow(pattern_of(c.seed, o)) && bits_too_many(c.seed) == 0 &&
                 !narrow_alone(c.seed) && last_does_not_fit(c.seed) == o;
        return round % 4 != 1 || exception_of(c.seed, o) != Exception::none;
      };
      while (c.fill == Fill::patterned && !deceives()) ++c.seed;
      all.push_back(c);
    }
  return all;
}

}  // namespace

std::vector<Case> aimed_cases(const Exploration& exploration, const Claim& claim,
                              const Entry& entry) {
  const bool on_ptx = entry.backend == Backend::ptx;
  const Price price = claim.takes_extreme_sizes  ? Price{5e8, on_ptx ? 8e8 : 1e9}
                      : claim.takes_large_shapes ? Price{on_ptx ? 2e8 : 5e8, on_ptx ? 4e8 : 1e9}
                      : claim.is_about_data      ? Price{on_ptx ? 2e8 : 6e7, on_ptx ? 1.8e9 : 4e8}
                                                 : Price{6e7, on_ptx ? 2e8 : 4e8};
  const std::vector<Case> cases = claim.is_about_data
                                      ? with_all_data(exploration.cases, entry.variant.arithmetic)
                                      : exploration.cases;
  if (claim.is_about_data) {
    const Price of_looks = on_ptx ? Price{2e8, 8e9} : Price{1e8, 2e9};
    std::vector<Case> chosen = affordable(cases, exploration, claim, entry, price);
    for (const Case& c :
         affordable(deceiving(exploration.looks), exploration, claim, entry, of_looks, chosen))
      chosen.push_back(c);
    return chosen;
  }
  if (!claim.takes_capture) return affordable(cases, exploration, claim, entry, price);
  const Price of_captured{3e9, 4e9 / share_of_cases(claim, entry)};
  std::vector<Case> chosen =
      affordable(exploration.captured, exploration, claim, entry, of_captured);
  for (const Case& c : affordable(cases, exploration, claim, entry, price, chosen))
    chosen.push_back(c);
  return chosen;
}

std::vector<std::vector<Case>> aimed_sequences(const Exploration& exploration, const Claim& claim,
                                               const Entry& entry) {
  std::vector<std::vector<Case>> all;
  if (!claim.takes_extreme_sizes) return all;
  // A launch of few was seen to go by what an earlier one left.
  constexpr std::size_t few = 4;
  for (std::vector<Case> sequence : exploration.sequences) {
    const double most_each = sequence.size() < few ? 4e9 : 3e7;
    const bool is_cheap = std::all_of(sequence.begin(), sequence.end(), [&](Case& c) {
      c = nearest_case(c, claim, entry);
      return cost_of(c, claim, entry, exploration.hints.effort) < most_each &&
             claim.excludes_case(c).empty();
    });
    if (is_cheap) all.push_back(std::move(sequence));
  }
  return all;
}

std::vector<Case> refused_cases(const Exploration& exploration, const Claim& claim,
                                const Entry& entry) {
  constexpr std::size_t most = 2;
  constexpr std::int64_t most_elements = 1 << 27;  // of an operand, which takes a second to fill
  std::vector<Case> cases;
  for (const Case& c : exploration.refused) {
    const bool is_small = std::max({c.m * c.k, c.k * c.n, c.m * c.n}) < most_elements;
    const bool takes_it = (is_small ? claim.takes_extreme_sizes : claim.is_about_huge) &&
                          claim.excludes_case(c).empty() && nearest_case(c, claim, entry) == c;
    if (takes_it && cases.size() < most) cases.push_back(c);
  }
  return cases;
}

std::vector<Case> cases_on_large_paths(const Exploration& exploration, const Claim& claim,
                                       const Entry& entry) {
  // For one case. The claim that takes both sizes sees most of what may be wrong there.
  const double most_nanoseconds =
      claim.on_large_paths == OnLargePaths::odd_and_round_sizes ? 1.5e10 : 6e9;
  std::vector<Case> cases;
  if (entry.backend != Backend::ptx || claim.on_large_paths == OnLargePaths::nothing) return cases;
  const auto add = [&](Case c) {
    if (claim.is_about_data) c = with_zeros_of(Operand::a, c);
    c = nearest_case(c, claim, entry);
    if (c.m * c.n > most_judged_elements || !claim.excludes_case(c).empty()) return;
    if (cost_of_trial(c, claim, entry, exploration.hints.effort) < most_nanoseconds)
      cases.push_back(c);
  };
  for (const LargePath& path : exploration.large_paths) {
    const bool takes_both = claim.on_large_paths == OnLargePaths::odd_and_round_sizes;
    if (takes_both && path.odd != path.round) add(path.odd);
    add(path.round);
  }
  constexpr Price of_squares = {4e9, 6e9};
  if (claim.takes_extreme_sizes)
    for (const Case& c : affordable(exploration.squares, exploration, claim, entry, of_squares))
      cases.push_back(c);
  return cases;
}

std::vector<Case> dear_aimed_cases(const Exploration& exploration, const Claim& claim,
                                   const Entry& entry) {
  if (!claim.takes_extreme_sizes || entry.is_on_ptx_too) return {};
  const auto cost = [&](const Case& c) {
    return cost_of(c, claim, entry, exploration.hints.effort);
  };
  const std::vector<Case> aimed = aimed_cases(exploration, claim, entry);
  std::vector<Case> chosen;
  // Those that cost little come first: more of them are judged, and sooner.
  const auto add = [&](std::vector<Case> cases, const Price& price) {
    std::stable_sort(cases.begin(), cases.end(),
                     [&](const Case& x, const Case& y) { return cost(x) < cost(y); });
    for (const Case& c : affordable(cases, exploration, claim, entry, price, aimed))
      chosen.push_back(c);
  };
  add(exploration.named_cases, {4e9, 8e9});
  add(exploration.long_cases, {2e9, 4e9});
  add(exploration.dear_cases,
      entry.backend == Backend::ptx ? Price{2.2e9, 4e9} : Price{most_judged_cost, 2.6e10});
  return chosen;
}

}  // namespace assay
