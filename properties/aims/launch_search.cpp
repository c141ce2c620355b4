#include "properties/aims/launch_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "properties/aims/dry_paths.h"
#include "properties/aims/inputs.h"
#include "properties/aims/launch_draws.h"
#include "properties/aims/launch_probes.h"
#include "properties/fitting.h"
#include "properties/judging/variables.h"

namespace assay {
namespace {

// Of problems that are cheap to judge, then of all: in calls of the watch, of which a launch of no
// comparison counts as some 150.
constexpr std::uint64_t budget_of_settled = 3'000'000, budget_of_unequal = 20'000'000,
                        budget_of_open = 60'000'000;
constexpr int launches_of_a_round = 2048, most_too_long = 64, most_dear_paths = 4;
constexpr std::int64_t side_of_squares = 64;
constexpr std::size_t most_paths = 40, most_sequences = 20;
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

bool fits_a_device(const Case& c) {
  constexpr double bytes_of_a_device = 1.3e11;
  const auto [of_a, of_b, of_c] = c.spreads();
  return sizeof(float) * (of_a + of_b + of_c) < bytes_of_a_device;
}

class LaunchSearch {
 public:
  LaunchSearch(Knowledge& know, const std::function<Constants()>& constants)
      : know_(know),
        constants_(constants),
        needs_(know.entry().variant.needs),
        dry_(know.entry(), know.hints()),
        draws_(needs_) {}

  LaunchFindings findings() {
    const std::uint64_t before = variables();
    if (dry_.launch(dry_.other()).at_fault) return {};
    for (const Case& c : know_.news()) {
      if (c.multiply_adds() < cheap_products) paths_.insert(dry_.launch({fitted(c, needs_)}).path);
    }
    found_.long_cases = long_lines(dry_, needs_);
    for (const Case& c : edges_of_parts(dry_, know_.entry().variant))
      found_.long_cases.push_back(c);
    dry_.news.clear();
    for (const double products : {cheap_products, double{INFINITY}}) {
      draws_.limit_products(products);
      dry_.spent = 0;
      while (dry_.spent < budget() && too_long_ < most_too_long) try_some();
    }
    if (variables() != before) {
      dry_.count_what_is_kept();
      try_pairs();
      try_packed_sizes();
      try_repeats();
    }
    found_.captured = launched_otherwise_where_captured(dry_, know_.entry());
    return std::move(found_);
  }

 private:
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
    const Dry dry = dry_.launch(d);
    if (!dry.accepted) return;
    if (dry.too_long && ++too_long_ % 8 == 0) draws_.limit_sizes();
    if (dry_.news.empty() && !dry.too_long) {
      const auto is_new_in = [&](std::set<std::uint64_t>& paths, std::size_t most) {
        return paths.size() < most && paths.insert(dry.path).second;
      };
      if (is_new_in(paths_, most_paths)) examine(dry_.latest(), false);
      dry_.tells_failures = dry.fails;
      if (dry.fails && is_new_in(failing_paths_, most_refused)) examine({d}, false);
      dry_.tells_failures = false;
      try_parts(d, dry);
    }
    // To examine one may show others.
    for (std::size_t i = 0; i < dry_.news.size(); ++i) examine(Launches(dry_.news[i]), true);
    dry_.news.clear();
  }

  // A sum in as many parts as no other problem had: they may stand in one entry of a table.
  void try_parts(const DryLaunch& d, const Dry& dry) {
    constexpr std::size_t most_of_kernel = 12;
    bool is_new = false;
    for (const auto& [kernel, parts] : dry_.parts_of(d, dry)) {
      std::set<std::uint64_t>& known = parts_[kernel];
      is_new |= known.size() < most_of_kernel && known.insert(parts + dry.kernels).second;
    }
    if (!is_new) return;
    dry_.tells_parts = true;
    Launches alone = {d};
    const std::uint64_t path = dry_.path_of(alone);
    dry_.cheapen(alone, path);
    found_.long_cases.push_back(alone.back().c);
    const int slice = know_.entry().variant.tile.k;
    if (dry_.try_change(alone, path, [=](DryLaunch& each) { each.c.k += slice + 1; }))
      found_.long_cases.push_back(alone.back().c);
    dry_.tells_parts = false;
  }

  // No bisecting makes two problems smaller together: small ones are tried though a dear pair has
  // shown their path.
  void try_pairs() {
    draws_.limit_products(products_of_a_pair);
    for (int i = 0; i < pairs; ++i) try_pair(judged_paths_);
    draws_.limit_products(INFINITY);
    for (int i = 0; i < pairs; ++i) try_pair(paths_);
  }

  // Two problems whose sizes give the same number, where one has more digits than there is room
  // for: they are lost, or carried into another size. What is kept of the first stays: that the
  // other one gets its plan shows beside one that nobody has asked for.
  void try_packed_sizes() {
    constexpr std::array sizes = {&Case::m, &Case::n, &Case::k};
    constexpr std::int64_t most_digits = 1 << 24;
    std::vector<std::int64_t> all_digits = {100, 1000, 10'000, 100'000};
    for (std::int64_t digits = 1 << 6; digits <= most_digits; digits *= 2)
      all_digits.push_back(digits);
    std::int64_t another = 0;  // each pair has a size of its own
    for (const auto& [usual, longer] : {std::pair(3, 3), std::pair(34, 1000)})
      for (const std::int64_t digits : all_digits)
        for (const auto low : sizes)
          for (const auto high : sizes) {
            Case before{.m = usual, .n = usual, .k = usual};
            before.*low = longer + 2 * ++another;
            Case c = before;
            c.*low += digits;
            if (high != low) c.*high -= 1;
            Case alone = c;
            alone.*low += 1;
            try_packed_pair(before, c, alone);
          }
  }
  void try_packed_pair(const Case& before, const Case& c, const Case& alone) {
    const auto blocks_of = [&](const Case& each) {
      return static_cast<double>(dry_.launch({each}).blocks);
    };
    const bool is_accepted = fitted(c, needs_) == c && fitted(before, needs_) == before;
    if (!is_accepted || found_.sequences.size() >= most_sequences) return;
    blocks_of(before);
    const double blocks = blocks_of(c), wanted = blocks_of(alone);
    if (blocks < 0.8 * wanted || wanted < 0.8 * blocks)
      found_.sequences.push_back({dry_.other().c, before, c});
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
    dry_.launch(dry_.other());
    for (int times = 0; times < most_times; ++times) {
      const Dry dry = dry_.launch(d);
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
    const Dry last = dry_.launch_all(pair);
    if (last.accepted && dry_.launched_alone(pair.back()) != last.launched &&
        known_paths.insert(dry_.path_of(pair)).second)
      examine(pair, false);
  }

  // Finds out what it takes to see the last of them again, makes it cheaper, and keeps it.
  void examine(const Launches& all, bool is_new_side) {
    const std::uint64_t path = dry_.path_of(all);
    paths_.insert(path);
    for (std::size_t length = 1; length <= all.size(); length *= 2) {
      Launches launches(all.end() - static_cast<std::ptrdiff_t>(length), all.end());
      if (dry_.path_of(launches) != path) continue;
      while (launches.size() > 1) {  // without those that it does not take
        const Launches fewer(launches.begin() + 1, launches.end());
        if (dry_.path_of(fewer) != path) break;
        launches = fewer;
      }
      dry_.cheapen(launches, path);
      keep(launches, path, is_new_side);
      return;
    }
  }

  std::uint64_t variables() const {
    const Entry& entry = know_.entry();
    return variables_beside(
        (entry.watched_launch == nullptr ? entry.variant.launch : entry.watched_launch).address());
  }

  void keep(const Launches& launches, std::uint64_t path, bool is_new_side) {
    const DryLaunch& last = launches.back();
    const Dry dry = dry_.launch_all(launches);
    const bool gives_up = dry.gave_up || last.refused;
    dry_.launch_all({launches.begin(), launches.end() - 1});
    know_.learn(dry_.compared_in(last), last.c, gives_up);
    draws_.keep(last);
    auto& refused = found_.refused;
    const bool is_one_more = launches.size() == 1 && refused.size() < most_refused &&
                             fits_a_device(last.c) &&
                             std::find(refused.begin(), refused.end(), last.c) == refused.end();
    if (dry.fails && is_one_more) refused.push_back(last.c);
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
      if (dry_.try_change(other, path,
                          [=](DryLaunch& d) { d.c.m += by, d.c.n += 3 * by, d.c.k += 32 - by; }))
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
      return dry_.try_change(square, path, [&](DryLaunch& d) { d.c.m = d.c.n = side, d.c.k = k; });
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
    std::vector<Case> sequence = {dry_.other().c};
    for (const DryLaunch& d : launches) sequence.push_back(d.c);
    found_.sequences.push_back(sequence);
    if (launches.size() != 2) return;
    std::swap(sequence[1], sequence[2]);
    found_.sequences.push_back(sequence);
  }

  // What is wrong there may need other sizes to show.
  void add_others_beside(const DryLaunch& found, std::uint64_t path) {
    const Tile& tile = know_.entry().variant.tile;
    const auto add_if_held = [&](const auto& change) {
      Launches other = {found};
      if (dry_.try_change(other, path, [&](DryLaunch& d) { change(d.c); }))
        found_.cases.push_back(other.back().c);
    };
    const std::int64_t of_m = dry_.unit_of(found, path, &Case::m),
                       of_n = dry_.unit_of(found, path, &Case::n),
                       of_k = dry_.unit_of(found, path, &Case::k);
    add_if_held([&](Case& c) { c.k += of_k; });
    add_if_held([&](Case& c) { c.m += of_m, c.n += 3 * of_n; });
    add_if_held([&](Case& c) { c.m += tile.m + 1, c.n += tile.n + 3, c.k += tile.k; });
    add_if_held([](Case& c) {  // well beyond what it was bisected to
      for (const auto size : {&Case::m, &Case::n, &Case::k}) c.*size *= c.*size > 16 ? 2 : 1;
    });
    add_if_held([](Case& c) { c.lda.floats += 4, c.ldb.floats += 4, c.ldc.floats += 4; });
    add_neighbours(found.c);
  }

  // A table may have the same kernel for two small sizes.
  void add_neighbours(const Case& found) {
    constexpr std::int64_t small = 16, long_one = 256;
    if (std::max({found.m, found.n, found.k}) < long_one) return;
    for (const auto size : {&Case::m, &Case::n, &Case::k})
      for (const std::int64_t by : {-1, 1}) {
        Case c = found;
        c.*size += by;
        if (c.*size > 0 && c.*size <= small) found_.cases.push_back(fitted(c, needs_));
      }
  }

  Knowledge& know_;
  const std::function<Constants()>& constants_;
  const Needs& needs_;
  DryPaths dry_;
  LaunchDraws draws_;
  int too_long_ = 0, dear_ = 0;
  std::set<std::uint64_t> paths_, judged_paths_, failing_paths_;
  std::map<const void*, std::set<std::uint64_t>> parts_;
  LaunchFindings found_;
};

}  // namespace

bool can_launch_dry(const Knowledge& know) {
  const Entry& entry = know.entry();
  const bool is_of_machine = entry.backend == Backend::ptx && !know.hints().branches.empty();
  return entry.backend != Backend::host && (entry.watched_launch != nullptr || is_of_machine);
}

LaunchFindings search_launches(Knowledge& know, const std::function<Constants()>& constants) {
  return can_launch_dry(know) ? LaunchSearch(know, constants).findings() : LaunchFindings();
}

}  // namespace assay
