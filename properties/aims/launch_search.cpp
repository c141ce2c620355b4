#include "properties/aims/launch_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "oracle/watched/dry_launches.h"
#include "properties/aims/inputs.h"
#include "properties/aims/launch_draws.h"
#include "properties/fitting.h"
#include "properties/judging/variables.h"

namespace assay {
namespace {

// Of problems that are cheap to judge, then of all: in calls of the watch, of which a launch of no
// comparison counts as some 150.
constexpr std::uint64_t budget_of_settled = 3'000'000, budget_of_unequal = 20'000'000,
                        budget_of_open = 60'000'000;
constexpr int launches_of_a_round = 2048, most_too_long = 64, most_dear_paths = 4;
constexpr std::int64_t largest_unit = 256, side_of_squares = 64;
constexpr std::size_t most_paths = 40, most_sequences = 20, most_before = 32;
constexpr int pairs = 3000;  // of small problems, and of any
constexpr double products_of_a_pair = 1e5;
constexpr double cheap_products = 1e7, most_products = 3e10,  // of a case to judge
    many_products = 0x1p29, most_products_whole = 1.1e10;
constexpr std::size_t most_large_paths = 2, most_refused = 8;

// What no problem has any influence on, as the status that a call of the runtime returns, hardly
// waits for a rare one.
bool varies(const Comparison& c) {
  return c.least < c.greatest || c.least_other < c.greatest_other;
}

using Launches = std::vector<DryLaunch>;  // one after the other: the last counts

class LaunchSearch {
 public:
  LaunchSearch(Knowledge& know, const std::function<Constants()>& constants)
      : know_(know),
        constants_(constants),
        needs_(know.entry().variant.needs),
        dry_(know.entry(), know.hints()),
        draws_(needs_),
        other_{fitted({.m = 3, .n = 5, .k = 2, .alpha = 1.5f, .beta = 0.5f}, needs_)} {}

  LaunchFindings findings() {
    const std::uint64_t before = variables();
    if (launch(other_).at_fault) return {};
    for (const Case& c : know_.news()) {
      if (c.multiply_adds() < cheap_products) paths_.insert(launch({fitted(c, needs_)}).path);
    }
    news_.clear();
    for (const double products : {cheap_products, double{INFINITY}}) {
      draws_.limit_products(products);
      spent_ = 0;
      while (spent_ < budget() && too_long_ < most_too_long) try_some();
    }
    keeps_state_ = variables() != before;
    if (keeps_state_) {
      try_pairs();
      try_repeats();
    }
    return std::move(found_);
  }

 private:
  Dry launch(const DryLaunch& d) {
    const Dry dry = dry_.launch(d);
    spent_ += dry.cost;
    before_[count_++ % most_before] = d;
    if (dry.took_new_side && !dry.too_long) news_.push_back(latest());
    return dry;
  }

  // The last launches, the latest last.
  Launches latest() const {
    Launches all;
    for (std::size_t i = std::min<std::size_t>(most_before, count_); i > 0; --i)
      all.push_back(before_[(count_ - i) % most_before]);
    return all;
  }

  std::uint64_t budget() const {
    bool any_unequal = false;
    for (const Comparison& c : dry_.comparisons()) {
      const auto known = know_.comparisons().find(c.where);
      if (known == know_.comparisons().end()) continue;
      const auto place = know_.places().find(c.where);
      if (place != know_.places().end() && !is_of_the_author(place->second)) continue;
      const bool is_open = known->second.decides && !known->second.is_settled();
      if (is_open && varies(known->second.seen)) return budget_of_open;
      any_unequal |= is_open || (!known->second.decides && !known->second.seen.equal);
    }
    return any_unequal ? budget_of_unequal : budget_of_settled;
  }

  void try_some() {
    Constants constants = constants_();
    draws_.use(std::move(constants.whole), std::move(constants.floats));
    for (int i = 0; i < launches_of_a_round; ++i) try_one(draws_.draw());
  }

  void try_one(const DryLaunch& d) {
    const Dry dry = launch(d);
    if (!dry.accepted) return;
    if (dry.too_long && ++too_long_ % 8 == 0) draws_.limit_sizes();
    if (news_.empty() && !dry.too_long && paths_.size() < most_paths &&
        paths_.insert(dry.path).second)
      examine(latest(), false);
    // To examine one may show others.
    for (std::size_t i = 0; i < news_.size(); ++i) examine(Launches(news_[i]), true);
    news_.clear();
  }

  // No bisecting makes two problems smaller together: small ones are tried though a dear pair has
  // shown their path.
  void try_pairs() {
    draws_.limit_products(products_of_a_pair);
    for (int i = 0; i < pairs; ++i) try_pair(judged_paths_);
    draws_.limit_products(INFINITY);
    for (int i = 0; i < pairs; ++i) try_pair(paths_);
  }

  // It may do something else for a problem that it has met often enough: at another address, where
  // the search has not yet met it.
  void try_repeats() {
    constexpr std::size_t most_repeated = 24;
    const std::vector<Case> cases = found_.cases;
    for (std::size_t i = 0; i < std::min(cases.size(), most_repeated); ++i) try_repeat(cases[i]);
  }
  void try_repeat(const Case& c) {
    constexpr int most_times = 300, few_times = 2, floats_beside = 32;
    DryLaunch d{c};
    if (d.c.offset == Offsets{}) d.c.offset.floats.fill(floats_beside);
    std::set<std::uint64_t> paths;
    launch(other_);
    for (int times = 0; times < most_times; ++times) {
      const Dry dry = launch(d);
      if (!dry.accepted || dry.too_long) return;
      if (paths.insert(dry.path).second && times > few_times) return keep_repeated(c, times + 1);
    }
  }
  // Then the same operands hold something else.
  void keep_repeated(const Case& c, int times) {
    if (found_.sequences.size() >= most_sequences) return;
    std::vector<Case> sequence(static_cast<std::size_t>(times), c);
    sequence.push_back(c);
    sequence.back().seed += 2;
    found_.sequences.push_back(std::move(sequence));
  }

  // Where it keeps a plan, say, for every problem with as many elements, no comparison goes another
  // way than where a problem is repeated, but what it launches differs.
  void try_pair(std::set<std::uint64_t>& known_paths) {
    const DryLaunch first = draws_.draw();
    const Launches pair = {first, draws_.draw_after(first)};
    const Dry last = last_of(pair);
    if (last.accepted && launched_alone(pair.back()) != last.launched &&
        known_paths.insert(path_of(pair)).second)
      examine(pair, false);
  }

  // Finds out what it takes to see the last of them again, makes it cheaper, and keeps it.
  void examine(const Launches& all, bool is_new_side) {
    const std::uint64_t path = path_of(all);
    paths_.insert(path);
    for (std::size_t length = 1; length <= all.size(); length *= 2) {
      Launches launches(all.end() - static_cast<std::ptrdiff_t>(length), all.end());
      if (path_of(launches) != path) continue;
      while (launches.size() > 1) {  // without those that it does not take
        const Launches fewer(launches.begin() + 1, launches.end());
        if (path_of(fewer) != path) break;
        launches = fewer;
      }
      cheapen(launches, path);
      keep(launches, path, is_new_side);
      return;
    }
  }

  std::uint64_t path_of(const Launches& launches) {
    constexpr std::uint64_t otherwise = 0x9e3779b97f4a7c15u;
    const Dry last = last_of(launches);
    if (!last.accepted) return 0;
    const bool differs = keeps_state_ && launched_alone(launches.back()) != last.launched;
    return last.path + (differs ? otherwise : 0);
  }
  Dry last_of(const Launches& launches) {
    launch(other_);
    Dry last;
    for (const DryLaunch& d : launches) last = launch(d);
    return last;
  }
  std::uint64_t launched_alone(const DryLaunch& d) {
    launch(other_);
    return launch(d).launched;
  }
  std::uint64_t variables() const {
    const Entry& entry = know_.entry();
    return variables_beside(
        (entry.watched_launch == nullptr ? entry.variant.launch : entry.watched_launch).address());
  }

  template <class Change>
  bool try_change(Launches& launches, std::uint64_t path, const Change& change) {
    Launches changed = launches;
    for (DryLaunch& d : changed) {
      change(d);
      d.c = fitted(d.c, needs_);
    }
    if (changed == launches || path_of(changed) != path) return false;
    launches = std::move(changed);
    return true;
  }

  // What tells little first; then sizes, each as small as can be.
  void cheapen(Launches& launches, std::uint64_t path) {
    try_change(launches, path, [](DryLaunch& d) { d.refused.reset(); });
    try_change(launches, path, [](DryLaunch& d) { d.adjoining = false; });
    try_change(launches, path, [](DryLaunch& d) { d.c.offset = {}, d.c.seed = 0; });
    try_change(launches, path, [](DryLaunch& d) { d.c.lda = d.c.ldb = d.c.ldc = {}; });
    if (!try_change(launches, path, [](DryLaunch& d) { d.c.alpha = 1.5f, d.c.beta = 0.5f; })) {
      try_change(launches, path, [](DryLaunch& d) { d.c.alpha = 1.5f; });
      try_change(launches, path, [](DryLaunch& d) { d.c.beta = 0.5f; });
    }
    for (int round = 0; round < 3; ++round) {
      for (const auto size : {&Case::k, &Case::m, &Case::n}) lessen(launches, path, size);
    }
  }

  // One size, as of the last launch; in those before it, sizes of that value change too.
  void lessen(Launches& launches, std::uint64_t path, std::int64_t Case::*size) {
    bisect(launches, path, size, 1);
    // It may have to be a multiple of something.
    for (std::int64_t unit = 2; unit <= largest_unit; unit *= 2) {
      if (launches.back().c.*size <= unit) return;
      if (set_size(launches, path, size, launches.back().c.*size - unit))
        return bisect(launches, path, size, unit);
    }
  }

  // Tries the least first, of sizes that leave the same remainder.
  void bisect(Launches& launches, std::uint64_t path, std::int64_t Case::*size, std::int64_t unit) {
    const auto now = [&] { return launches.back().c.*size; };
    const std::int64_t least = now() % unit == 0 ? unit : now() % unit;
    std::int64_t low = least - unit;
    while (now() - low > unit) {
      const std::int64_t middle = low < least ? least : low + (now() - low) / 2 / unit * unit;
      if (middle == low) return;
      const std::int64_t before = now();
      if (!set_size(launches, path, size, middle) || now() >= before) low = middle;
    }
  }

  bool set_size(Launches& launches, std::uint64_t path, std::int64_t Case::*size, std::int64_t to) {
    const std::int64_t now = launches.back().c.*size;
    return try_change(launches, path, [&](DryLaunch& d) {
      if (launches.size() == 1) {
        d.c.*size = to;
        return;
      }
      for (const auto any : {&Case::m, &Case::n, &Case::k}) {
        if (d.c.*any == now) d.c.*any = to;
      }
    });
  }

  void keep(const Launches& launches, std::uint64_t path, bool is_new_side) {
    const DryLaunch& last = launches.back();
    const Dry dry = last_of(launches);
    const bool gives_up = dry.gave_up || last.refused;
    last_of({launches.begin(), launches.end() - 1});
    know_.learn(dry_.compared_in(last), last.c, gives_up);
    draws_.keep(last);
    const bool is_one_more = launches.size() == 1 && found_.refused.size() < most_refused;
    if (dry.is_refused && is_one_more) found_.refused.push_back(last.c);
    if (last.refused || last.c.multiply_adds() > most_products) return;
    judged_paths_.insert(path);
    if (launches.size() > 1) return keep_sequence(launches);
    const bool is_cheap = last.c.multiply_adds() < cheap_products;
    if (!is_cheap && !is_new_side && dear_++ >= most_dear_paths) return;
    found_.cases.push_back(last.c);
    if (is_cheap) add_others_beside(last, path);
    const bool is_large = last.c.multiply_adds() >= many_products;
    if (is_large && is_new_side && !gives_up) keep_large_path(last, path);
  }

  // Squares of C are the cheapest to judge whole: of some lengths of the sum the best one.
  void keep_large_path(const DryLaunch& found, std::uint64_t path) {
    if (found_.large_paths.size() >= most_large_paths) return;
    std::optional<Case> best;
    for (std::int64_t k = 256; k <= 1 << 18; k *= 2) {
      const auto c = smallest_square(found, path, k);
      if (c && (!best || cost_of_whole(*c) < cost_of_whole(*best))) best = c;
    }
    if (!best || best->multiply_adds() < many_products) return;
    Launches other = {found};
    other.back().c = *best;
    for (const std::int64_t by : {1, 2, 4, 8})  // it may have to be even, or whole vectors
      if (try_change(other, path,
                     [=](DryLaunch& d) { d.c.m += by, d.c.n += 3 * by, d.c.k += 5 * by; }))
        break;
    const LargePath both{.odd = other.back().c, .round = *best};
    auto& all = found_.large_paths;
    if (std::find(all.begin(), all.end(), both) == all.end()) all.push_back(both);
  }
  static double cost_of_whole(const Case& c) {
    constexpr double products_of_an_operand = 40, products_of_an_element = 1000;
    return c.multiply_adds() + products_of_an_operand * static_cast<double>(c.k * (c.m + c.n)) +
           products_of_an_element * static_cast<double>(c.m * c.n);
  }
  std::optional<Case> smallest_square(const DryLaunch& found, std::uint64_t path, std::int64_t k) {
    Launches square = {found};
    const auto is_on_it = [&](std::int64_t pieces) {
      const std::int64_t side = pieces * side_of_squares;
      return try_change(square, path, [&](DryLaunch& d) { d.c.m = d.c.n = side, d.c.k = k; });
    };
    const double longest = std::sqrt(most_products_whole / static_cast<double>(k));
    auto pieces =
        std::min<std::int64_t>(static_cast<std::int64_t>(longest), 4096) / side_of_squares;
    while (pieces > 0 && !is_on_it(pieces)) pieces -= pieces / 4 + 1;
    if (pieces <= 0) return std::nullopt;
    for (std::int64_t low = 0; pieces - low > 1;) {
      const std::int64_t middle = low + (pieces - low) / 2;
      (is_on_it(middle) ? pieces : low) = middle;
    }
    return square.back().c;
  }

  // What the first of two leaves may suit the other one, and not the other way round.
  void keep_sequence(const Launches& launches) {
    if (found_.sequences.size() >= most_sequences) return;
    std::vector<Case> sequence = {other_.c};
    for (const DryLaunch& d : launches) sequence.push_back(d.c);
    found_.sequences.push_back(sequence);
    if (launches.size() != 2) return;
    std::swap(sequence[1], sequence[2]);
    found_.sequences.push_back(sequence);
  }

  // The least power of 2 by which a size can grow, or 0: where it has to be a multiple of one
  // thing, it may still be none of another.
  std::int64_t unit_of(const DryLaunch& found, std::uint64_t path, std::int64_t Case::*size) {
    for (std::int64_t unit = 1; unit <= largest_unit; unit *= 2) {
      Launches other = {found};
      if (try_change(other, path, [&](DryLaunch& d) { d.c.*size += unit; })) return unit;
    }
    return 0;
  }

  // What is wrong there may need other sizes to show.
  void add_others_beside(const DryLaunch& found, std::uint64_t path) {
    const Tile& tile = know_.entry().variant.tile;
    const auto add_if_held = [&](const auto& change) {
      Launches other = {found};
      if (try_change(other, path, [&](DryLaunch& d) { change(d.c); }))
        found_.cases.push_back(other.back().c);
    };
    const std::int64_t of_m = unit_of(found, path, &Case::m), of_n = unit_of(found, path, &Case::n),
                       of_k = unit_of(found, path, &Case::k);
    add_if_held([&](Case& c) { c.k += of_k; });
    add_if_held([&](Case& c) { c.m += of_m, c.n += 3 * of_n; });
    add_if_held([&](Case& c) { c.m += tile.m + 1, c.n += tile.n + 3, c.k += tile.k; });
    add_if_held([](Case& c) {  // well beyond what it was bisected to
      for (const auto size : {&Case::m, &Case::n, &Case::k}) c.*size *= c.*size > 16 ? 2 : 1;
    });
    add_if_held([](Case& c) { c.lda.floats += 4, c.ldb.floats += 4, c.ldc.floats += 4; });
  }

  Knowledge& know_;
  const std::function<Constants()>& constants_;
  const Needs& needs_;
  DryLaunches dry_;
  LaunchDraws draws_;
  const DryLaunch other_;  // leaves nothing in mind that others ask for
  std::uint64_t spent_ = 0;
  std::size_t count_ = 0;
  int too_long_ = 0, dear_ = 0;
  bool keeps_state_ = false;    // between launches
  std::vector<Launches> news_;  // that took a new side, and are not yet examined
  std::array<DryLaunch, most_before> before_;
  std::set<std::uint64_t> paths_, judged_paths_;
  LaunchFindings found_;
};

}  // namespace

LaunchFindings search_launches(Knowledge& know, const std::function<Constants()>& constants) {
  const Entry& entry = know.entry();
  const bool is_of_machine = entry.backend == Backend::ptx && !know.hints().branches.empty();
  if (entry.watched_launch == nullptr && !is_of_machine) return {};
  if (entry.backend == Backend::host) return {};
  return LaunchSearch(know, constants).findings();
}

}  // namespace assay
