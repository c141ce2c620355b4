#include "properties/draws/changes.h"

#include <algorithm>
#include <functional>
#include <span>

#include "properties/draws/cost.h"
#include "properties/draws/dice.h"
#include "properties/fitting.h"

namespace assay {
namespace {

// Rows lie so far apart that longer ones still fit.
constexpr std::int64_t distance = 2304;

Case problem(std::int64_t m, std::int64_t n, std::int64_t k) {
  Case c{.m = m, .n = n, .k = k, .alpha = 1.5f, .beta = 0.5f};
  c.lda.floats = distance - k;
  c.ldb.floats = c.ldc.floats = distance - n;
  return c;
}

// The same with another size, and the same distances; or with something else.
std::vector<Case> others(const Case& c, Dice& dice) {
  const auto beside = [&](std::int64_t size) { return size + dice.between(0, 7); };
  std::vector<Case> all;
  for (const std::int64_t k : {beside(24), beside(200), beside(1040), beside(2056)})
    all.push_back(problem(c.m, c.n, k));
  for (const std::int64_t m : {beside(1), beside(190)}) all.push_back(problem(m, c.n, c.k));
  for (const std::int64_t n : {beside(1), beside(170)}) all.push_back(problem(c.m, n, c.k));
  const auto add = [&](const std::function<void(Case&)>& change) {
    all.push_back(c);
    change(all.back());
  };
  for (const auto gap : {&Case::lda, &Case::ldb, &Case::ldc})
    add([&](Case& other) { (other.*gap).floats += dice.of({1, 4, 64}); });
  for (const std::size_t operand : {0, 1, 2})
    add([&](Case& other) { other.offset.floats[operand] = 1; });
  add([](Case& other) { other.alpha = -2; });
  add([](Case& other) { other.beta = 0; });
  return all;
}

}  // namespace

std::vector<Case> one_thing_changed(const Claim& claim, const Entry& entry, int drawn,
                                    std::uint64_t seed) {
  std::vector<Case> cases;
  if (!claim.takes_extreme_sizes) return cases;
  Dice dice(seed + 41);
  const Case c = problem(64, 48, 512);
  const std::vector<Case> all = others(c, dice);
  const std::size_t most =
      std::min(all.size(), all.size() * static_cast<std::size_t>(drawn) / usual_cases);
  for (const Case& other : std::span(all).first(most))
    for (const Case& next : {c, other}) cases.push_back(nearest_case(next, claim, entry));
  return cases;
}

}  // namespace assay
