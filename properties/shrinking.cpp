#include "properties/shrinking.h"

#include <algorithm>
#include <bit>
#include <chrono>

#include "properties/fitting.h"

namespace assay {
namespace {

constexpr double shrink_seconds = 30, shrink_seconds_of_hung = 10;
constexpr double shrink_watchdog_seconds = 1;  // what hung once need not be waited for again

std::int64_t smallest(std::int64_t size) { return std::min<std::int64_t>(1, size); }

Fill plain(Fill fill) { return fill == Fill::exact ? fill : Fill::small_ints; }

// The few smallest sizes, and those that cut off a power of 2: a multiple of a tile stays one.
std::vector<std::int64_t> sizes_below(std::int64_t size) {
  std::vector<std::int64_t> below;
  for (std::int64_t small = smallest(size); small < std::min<std::int64_t>(size, 9); ++small)
    below.push_back(small);
  const auto way = static_cast<std::uint64_t>(size - smallest(size));
  for (std::uint64_t step = std::bit_floor(way); step > 0; step /= 2)
    below.push_back(size - static_cast<std::int64_t>(step));
  return below;
}

// Keeps some members and makes all others as plain as they can be, for every choice of members; the
// sizes are kept last. So one step reaches whatever a failure depends on, which matters where each
// step ends a process.
std::vector<Case> plain_but_for_some_members(const Case& c) {
  enum : unsigned { scalars = 1, data = 2, offsets = 4, gaps = 8, sizes = 16, all = 31 };
  std::vector<Case> simpler;
  for (unsigned stays = 0; stays < all; ++stays) {
    Case plainer = c;
    if (!(stays & scalars)) plainer.alpha = 1, plainer.beta = 0;
    if (!(stays & data)) plainer.fill = plain(c.fill), plainer.seed = 0;
    if (!(stays & offsets)) plainer.offset = Offsets{};
    if (!(stays & gaps)) plainer.lda = plainer.ldb = plainer.ldc = Gap{};
    if (!(stays & sizes))
      plainer.m = smallest(c.m), plainer.n = smallest(c.n), plainer.k = smallest(c.k);
    const bool is_new =
        !(plainer == c) && std::find(simpler.begin(), simpler.end(), plainer) == simpler.end();
    if (is_new) simpler.push_back(plainer);
  }
  return simpler;
}

}  // namespace

std::vector<Case> smaller_cases(const Case& c) {
  std::vector<Case> simpler = plain_but_for_some_members(c);
  const auto vary = [&](auto Case::*member, auto value) {
    Case smaller = c;
    smaller.*member = value;
    if (!(smaller == c)) simpler.push_back(smaller);
  };
  for (auto size : {&Case::m, &Case::n, &Case::k}) {
    for (std::int64_t value : sizes_below(c.*size)) vary(size, value);
  }
  vary(&Case::lda, Gap{}), vary(&Case::ldb, Gap{}), vary(&Case::ldc, Gap{});
  vary(&Case::offset, Offsets{});
  vary(&Case::beta, 0.0f);
  vary(&Case::alpha, 1.0f);
  if (c.beta != 0 && c.beta != 1) vary(&Case::beta, 1.0f);
  if (c.fill >= Fill::special) vary(&Case::fill, Fill::uniform);
  vary(&Case::fill, plain(c.fill));
  for (auto gap : {&Case::lda, &Case::ldb, &Case::ldc}) {
    for (std::int64_t floats : {1, 4}) {
      if (floats < (c.*gap).floats) vary(gap, Gap{floats});
    }
  }
  for (std::size_t i = 0; i < 3; ++i) {
    Offsets offset = c.offset;
    offset.floats[i] = 0;
    vary(&Case::offset, offset);
  }
  for (std::uint64_t seed = 0; seed < std::min<std::uint64_t>(c.seed, 4); ++seed)
    vary(&Case::seed, seed);
  return simpler;
}

std::vector<Case> smaller_cases(const Case& c, const Claim& claim, const Entry& entry) {
  const Needs needs = claim.inside_needs ? entry.variant.needs : Needs{};
  std::vector<Case> smaller;
  for (const Case& any : smaller_cases(c)) {
    const Case fit = fitted(any, needs);
    const bool is_new =
        !(fit == c) && std::find(smaller.begin(), smaller.end(), fit) == smaller.end();
    if (is_new && claim.excludes_case(fit).empty()) smaller.push_back(fit);
  }
  return smaller;
}

Failure shrink(const Case& c, const Verdict& verdict, double watchdog_seconds,
               const std::function<std::vector<Case>(const Case&)>& smaller_cases,
               const std::function<Verdict(const Case&, double)>& judge, const Allowance& left) {
  using Clock = std::chrono::steady_clock;
  const Failure unshrunk{.original = c,
                         .shrunk = c,
                         .original_verdict = verdict,
                         .verdict = verdict,
                         .shrunk_fully = false};
  const bool hung = verdict.status == TrialStatus::hung;
  const double patience = std::min(watchdog_seconds, shrink_watchdog_seconds);
  const auto end =
      Clock::now() + std::chrono::duration<double>(hung ? shrink_seconds_of_hung : shrink_seconds);
  Failure failure = unshrunk;
  bool is_cut = false;
  // Moves on to the first smaller case that still fails; false if there is none.
  const auto take_step = [&] {
    for (const Case& smaller : smaller_cases(failure.shrunk)) {
      is_cut = left.is_spent() || Clock::now() > end;
      if (is_cut) return false;
      const Verdict of_smaller = judge(smaller, patience);
      if (of_smaller.status != verdict.status || !still_shows(verdict.finding, of_smaller.finding))
        continue;
      failure.shrunk = smaller;
      failure.verdict = of_smaller;
      ++failure.shrink_steps;
      return true;
    }
    return false;
  };
  while (take_step()) {
  }
  failure.shrunk_fully = !is_cut;
  if (!hung || failure.shrink_steps == 0) return failure;
  // A smaller case that seems to hang may only be slower than `patience`: the last one gets all its
  // time, and is dropped if it ends.
  failure.verdict = judge(failure.shrunk, watchdog_seconds);
  return failure.verdict.status == TrialStatus::hung ? failure : unshrunk;
}

std::vector<Case> richer_cases(const Case& c, const Claim& claim, const Entry& entry) {
  std::vector<Case> richer;
  const auto add = [&](const auto& change) {
    Case any = c;
    any.fill = Fill::uniform;
    change(any);
    const Case fit = nearest_case(any, claim, entry);
    const bool is_new = !(fit == c) && std::find(richer.begin(), richer.end(), fit) == richer.end();
    if (is_new && claim.excludes_case(fit).empty()) richer.push_back(fit);
  };
  const std::int64_t slice = std::max(1, entry.variant.tile.k);
  add([](Case&) {});
  add([](Case& x) { x.n += 4; });
  add([](Case& x) { x.m += 3; });
  add([](Case& x) { x.m += 3, x.n += 4; });
  add([](Case& x) { x.k += 1; });
  add([&](Case& x) { x.k += slice; });
  add([&](Case& x) { x.m += 3, x.n += 4, x.k += slice; });
  add([](Case& x) { x.seed = 4; });  // ordinary numbers around the matrices
  add([](Case& x) { x.m += 3, x.n += 4, x.seed = 4; });
  return richer;
}

Failure with_a_name(Failure failure, double watchdog_seconds, const std::vector<Case>& richer,
                    const std::function<Verdict(const Case&, double)>& judge) {
  const Finding known = failure.verdict.finding;
  if (!may_be_named_better(known) || failure.verdict.status != TrialStatus::wrong) return failure;
  for (const Case& c : richer) {
    const Verdict verdict = judge(c, watchdog_seconds);
    if (verdict.status != TrialStatus::wrong || !names_better(known, verdict.finding)) continue;
    failure.shrunk = c, failure.verdict = verdict, failure.made_richer = true;
    break;
  }
  return failure;
}

}  // namespace assay
