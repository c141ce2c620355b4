#include "properties/generators.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "oracle/reference.h"
#include "properties/draws/cost.h"
#include "properties/draws/data.h"
#include "properties/draws/layout.h"
#include "properties/draws/scalars.h"
#include "properties/draws/sizes.h"
#include "properties/fitting.h"
#include "properties/scopes.h"

namespace assay {
namespace {

// How much of the large shapes and of extreme sizes there is beside the drawn cases. The PTX
// machine has other ways to judge large problems.
constexpr double large_cost_per_drawn_cost = 1.05, extreme_cost_per_drawn_cost = 6,
                 extreme_cost_on_ptx = 4;

// How many of 32 cases are of a kind, and how many parts of 32 of the cost they may take.
struct Kind {
  Sizes (*draw)(Dice&, const Tile&);
  int cases, cost;
};
constexpr std::array kinds = {
    Kind{beside_edges, 13, 7}, Kind{of_whole_tiles, 5, 3}, Kind{of_powers_of_two, 2, 1},
    Kind{of_vectors, 2, 1},    Kind{of_few_tiles, 3, 3},   Kind{of_long_k, 3, 5},
    Kind{of_long_side, 3, 7},  Kind{of_many_tiles, 1, 5},
};
constexpr std::size_t first_costly = 5;  // of the last three: those that can cost any amount

Case any_case(Dice& dice, const Kind& kind, std::uint64_t seed, const Variant& variant,
              const Hints& hints) {
  Sizes sizes = kind.draw(dice, variant.tile);
  const bool too_tall = sizes.m > variant.needs.m_most, too_wide = sizes.n > variant.needs.n_most;
  if (kind.draw == of_long_side && too_tall != too_wide) std::swap(sizes.m, sizes.n);
  Case c{.m = sizes.m, .n = sizes.n, .k = sizes.k};
  if (!hints.sizes.empty() && dice.one_in(4)) {
    c.*dice.of({&Case::m, &Case::n, &Case::k}) =
        std::max<std::int64_t>(0, dice.of(hints.sizes) + dice.between(-1, 1));
  }
  c.fill = draw_fill(dice, variant.arithmetic);
  if (c.fill == Fill::patterned && dice.one_in(3)) make_square(dice, c);
  std::tie(c.alpha, c.beta) = c.fill == Fill::balanced ? draw_extreme_scalars(dice, hints.scalars)
                                                       : draw_scalars(dice, hints.scalars);
  c.alpha = scalar_for(c.fill, c.alpha);
  draw_layout(dice, c, hints.distances);
  if (kind.draw == of_whole_tiles && !dice.one_in(3)) make_tidy(dice, c);
  c.seed = seed;
  return c;
}

// Squares hide a swap of sizes or distances, and so do equal pairs: they are rare where sizes are
// free.
bool hides_a_swap(const Case& c) {
  return c.fill != Fill::patterned && (c.m == c.n || c.n == c.k || c.m == c.k);
}

// Draws cases of all kinds in turn. Each kind saves up what it may cost, and draws again until a
// case costs no more than that. One of the costly kinds gets most of what there is for all of them,
// another one for another claim, so that each now and then reaches its largest cases.
class Drawing {
 public:
  Drawing(const Claim& claim, const Entry& entry, std::uint64_t seed, Hints hints)
      : claim_(claim), entry_(entry), dice_(seed), hints_(std::move(hints)) {
    const std::size_t favoured = first_costly + static_cast<std::size_t>(dice_.between(0, 2));
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      double parts = kinds[i].cost;
      if (i >= first_costly) parts *= i == favoured ? 7.0 / 3 : 1.0 / 3;
      income_[i] = cost_per_case(entry) * parts / 32;
      saved_[i] = cases_in_advance * income_[i];
    }
  }

  Case next() {
    for (std::size_t i = 0; i < kinds.size(); ++i) saved_[i] += income_[i];
    seed_of_case_ = (seed_of_case_ + between_seeds) % seeds;
    const std::size_t kind = next_kind();
    const auto [c, cost] = affordable(kind);
    saved_[kind] -= cost;
    return c;
  }

 private:
  static constexpr int cases_in_advance = 30, most_attempts = 60;
  // The first are small: a variant that is wrong everywhere shows it sooner, and in fewer words.
  static constexpr int small_cases = 8;
  // Claims and fills choose by bits of a case's seed: so that each choice has its turn, its bits
  // run through all values, low ones first.
  static constexpr std::uint64_t seeds = 1 << 16, between_seeds = 40503;

  struct Priced {
    Case c;
    double cost;
  };

  std::size_t next_kind() {
    std::int64_t way = ++drawn_ <= small_cases ? 1 : dice_.between(1, 32);
    std::size_t kind = 0;
    while (way > kinds[kind].cases) way -= kinds[kind++].cases;
    return kind;
  }

  Priced draw(std::size_t kind) {
    Case c;
    do {
      c = any_case(dice_, kinds[kind], seed_of_case_, entry_.variant, hints_);
    } while (kind == 0 && c.seed % 16 != 0 && hides_a_swap(c));
    spare_denormals(c, entry_);
    return priced(nearest_case(c, claim_, entry_));
  }
  Priced priced(const Case& c) const { return {c, cost_of(c, claim_, entry_, hints_.effort)}; }

  // The cheapest of many where none is, made smaller where even that costs more than cases on
  // average.
  Priced affordable(std::size_t kind) {
    Priced cheapest = draw(kind);
    for (int i = 1; i < most_attempts && cheapest.cost > saved_[kind]; ++i) {
      const Priced other = draw(kind);
      if (other.cost < cheapest.cost) cheapest = other;
    }
    const double most = std::max(saved_[kind], cost_per_case(entry_));
    while (cheapest.cost > most) {
      const Priced smaller = priced(halved(cheapest.c));
      if (smaller.cost >= cheapest.cost) break;  // the claim is about large ones
      cheapest = smaller;
    }
    return cheapest;
  }

  // In its longest dimension.
  Case halved(Case c) const {
    std::int64_t Case::*longest = &Case::m;
    for (const auto size : {&Case::n, &Case::k}) {
      if (c.*size > c.*longest) longest = size;
    }
    c.*longest = (c.*longest + 1) / 2;
    return nearest_case(c, claim_, entry_);
  }

  const Claim& claim_;
  Entry entry_;
  Dice dice_;
  Hints hints_;
  std::uint64_t seed_of_case_ = static_cast<std::uint64_t>(dice_.between(0, seeds - 1));
  int drawn_ = 0;
  std::array<double, kinds.size()> income_, saved_;
};

// Deals out every kind of data, and begins anew.
class DataDrawing {
 public:
  DataDrawing(const Claim& claim, const Entry& entry, std::uint64_t seed, const Hints& hints)
      : claim_(claim), entry_(entry), dice_(seed), distances_(hints.distances) {
    std::copy_if(hints.sizes.begin(), hints.sizes.end(), std::back_inserter(long_k_),
                 [](std::int64_t size) { return size > 64 && size <= 4096; });
  }

  Case next() {
    if (left_.empty()) {
      left_ = cases_of_all_data(dice_, entry_.variant.arithmetic, long_k_, distances_);
      dice_.shuffle(left_);
    }
    const Case c = nearest_case(left_.back(), claim_, entry_);
    left_.pop_back();
    return c;
  }

 private:
  const Claim& claim_;
  Entry entry_;
  Dice dice_;
  std::vector<std::int64_t> distances_, long_k_;
  std::vector<Case> left_;
};

// The same shape with other scalars, gaps and offsets for each number.
Case varied(Case c, std::size_t number) {
  constexpr std::array alphas = {1.5f, 1.0f, -0.5f};
  constexpr std::array betas = {-0.5f, 0.0f, 1.0f, 0.0f};
  constexpr std::array<std::int64_t, 5> gaps = {0, 0, 4, 1, 3};
  c.alpha = alphas[number % alphas.size()];
  c.beta = betas[number % betas.size()];
  c.lda.floats = gaps[number % gaps.size()];
  c.ldb.floats = gaps[number / 5 % gaps.size()];
  c.ldc.floats = gaps[number / 7 % gaps.size()];
  c.offset.floats = {static_cast<int>(number / 2 % 4), static_cast<int>(number / 8 % 4),
                     static_cast<int>(number / 32 % 4)};
  return c;
}

// Large whole tiles may be computed by a fast algorithm, which mixes rows or columns of different
// scale; smaller ones tell a structure of the data apart.
Fill fill_of_shape(const Case& c) {
  const auto all = [&](std::int64_t multiple) {
    return c.m % multiple == 0 && c.n % multiple == 0 && c.k % multiple == 0;
  };
  if (all(512)) return Fill::scaled;
  return all(128) ? Fill::patterned : Fill::uniform;
}

// The first reasons to draw them come first: what they cost together is bounded.
std::vector<Sizes> extreme_sizes(Dice& dice, const Tile& tile) {
  constexpr std::int64_t beyond_16_bits = 65536, root_of_2_24 = 4096;
  const auto few = [&] { return dice.between(1, 3); };
  const auto many = [&](int side) { return beyond_16_bits + dice.between(1, 2 * side + 64); };
  const auto wide = [&] { return dice.log_between(257, 2048); };
  const auto deep = [&] { return dice.log_between(1024, 4096); };
  // Where a quotient by a rounded reciprocal is one off, or the logarithm of k in float a whole
  // number that k is not.
  const auto millions = [&] { return dice.between(1 << 21, 1 << 22); };
  constexpr std::int64_t below_a_power = (1 << 21) - 1;
  // Two rows of tiles. The number of tiles in a row, times its rounded reciprocal, falls below 1:
  // in float, in double, or in both. So does twice that number, four times, and so on.
  constexpr int of_both = 107;
  const int of_floats = dice.of({41, 47, 55, 61, 83, 97}), of_doubles = dice.of({49, 103});
  const auto pieces = [](int count, int side) {  // whose side may be a half, a quarter, ... of it
    constexpr int usual = 128;
    return std::int64_t{count} * (side > 1 ? side : usual);
  };
  const auto beyond_one = [&](int side) { return pieces(1, side) + few(); };
  std::vector<Sizes> all = {
      {many(tile.m), 1 + few(), few()},
      {1 + few(), many(tile.n), few()},
      {few(), few(), many(tile.k)},
      {root_of_2_24 + dice.between(25, 60), root_of_2_24 + dice.between(25, 60), 1},
      {1, 1, below_a_power},
      {few(), wide(), deep()},  // a path for long k that goes wrong in some column of tiles
      {wide(), few(), deep()},
      {1, millions(), 1},
      {millions(), 1, 1},
      {beyond_one(tile.m), pieces(of_both, tile.n), 1},
      {pieces(of_both, tile.m), beyond_one(tile.n), 1},
      {beyond_one(tile.m), pieces(of_floats, tile.n), 1},
      {beyond_one(tile.m), pieces(of_doubles, tile.n), 1}};
  // Tiles whose numbers take more than 8 bits both ways: of larger ones, a C of more than 2^24
  // elements has as many.
  if (std::max(tile.m, tile.n) <= 8)
    all.insert(all.begin() + 3, {256 * tile.m + few(), 256 * tile.n + few(), 1});
  return all;
}

// As people bring them: a GPU takes a second or two for each, the harness included. Shares of the
// work, indices into partial sums and counts of pieces leave 24 or 32 bits there.
std::vector<Sizes> large_sizes(Dice& dice) {
  constexpr std::int64_t side = 4096;
  const auto beside = [&](std::int64_t size) { return size + dice.between(1, 63); };
  return {{beside(side), beside(side), beside(2 * side)}, {2 * side, 2 * side, side}};
}

// By some of its blocks. Of small tiles every one is run: their numbers take more than 8 bits.
bool is_judged_as_huge(const Sizes& sizes, const Entry& entry) {
  const Tile& tile = entry.variant.tile;
  return entry.backend == Backend::ptx && std::min(tile.m, tile.n) > 16 &&
         sizes.m * sizes.n >= 1 << 24;
}

}  // namespace

std::vector<Case> curated_shapes() {
  std::vector<Case> shapes;
  const auto add_all_roles = [&](std::array<std::int64_t, 3> sizes) {
    std::sort(sizes.begin(), sizes.end());
    do {
      shapes.push_back({.m = sizes[0], .n = sizes[1], .k = sizes[2]});
    } while (std::next_permutation(sizes.begin(), sizes.end()));
  };
  add_all_roles({1001, 513, 777});
  for (std::int64_t square : {128, 256, 512, 1024}) add_all_roles({square, square, square});
  add_all_roles({1024, 512, 1024});
  // Where they cost little, on a GPU.
  add_all_roles({16384, 1024, 512});
  add_all_roles({4096, 4096, 4096});
  return shapes;
}

std::vector<Case> large_cases(const Claim& claim, const Entry& entry, int cases, std::uint64_t seed,
                              const Hints& hints) {
  std::vector<Case> chosen;
  if (!claim.takes_large_shapes) return chosen;
  const auto shapes = curated_shapes();
  const std::size_t first =
      std::hash<std::string>{}(fmt::format("{}{}{}", entry.variant.name, claim.name, seed));
  double room = cases * cost_per_case(entry) * large_cost_per_drawn_cost;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    Case c = varied(shapes[(first + i) % shapes.size()], first / shapes.size() + i);
    c.fill = fill_of_shape(c);
    c.alpha = scalar_for(c.fill, c.alpha);
    c.seed = seed;
    spare_denormals(c, entry);
    c = nearest_case(c, claim, entry);
    const double cost = cost_of(c, claim, entry, hints.effort);
    if (cost > room) continue;
    room -= cost;
    chosen.push_back(c);
  }
  return chosen;
}

std::vector<Case> extreme_cases(const Claim& claim, const Entry& entry, int cases,
                                std::uint64_t seed, const Hints& hints) {
  std::vector<Case> chosen;
  if (!claim.takes_extreme_sizes || entry.is_on_ptx_too) return chosen;
  Dice dice(seed + std::hash<std::string>{}(entry.variant.name));
  const auto case_of = [&](const Sizes& sizes) {
    Case c{.m = sizes.m, .n = sizes.n, .k = sizes.k, .alpha = dice.of({1.0f, -1.5f}), .seed = seed};
    if (sizes.k > 1) c.beta = dice.of({0.0f, 0.5f, 1.0f});
    return nearest_case(c, claim, entry);
  };
  const double per_drawn_cost =
      entry.backend == Backend::ptx ? extreme_cost_on_ptx : extreme_cost_per_drawn_cost;
  double room = cases * cost_per_case(entry) * per_drawn_cost;
  for (const Sizes& sizes : extreme_sizes(dice, entry.variant.tile)) {
    if (is_judged_as_huge(sizes, entry)) continue;
    const Case c = case_of(sizes);
    const double cost = cost_of(c, claim, entry, hints.effort);
    if (cost > room) continue;
    room -= cost;
    chosen.push_back(c);
  }
  if (entry.backend == Backend::cuda && cases >= usual_cases)
    for (const Sizes& sizes : large_sizes(dice)) chosen.push_back(case_of(sizes));
  return chosen;
}

std::optional<Case> opening_case(const Claim& claim, const Entry& entry, const Hints& hints) {
  if (claim.most_cases < Claim::as_many_as_asked_for) return std::nullopt;
  constexpr std::int64_t usual = 1024, most = 8192, step = 64, little = 16;
  constexpr double most_cost = 6e7;
  std::int64_t large = usual;
  for (const std::int64_t size : hints.sizes)
    if (size > large && size <= most) large = size;
  large = (large + step - 1) / step * step;
  const std::array shapes = {Case{}, Case{.m = 1, .n = large, .k = little},
                             Case{.m = 2 * step, .n = 2 * step, .k = 2 * step},
                             Case{.m = large, .n = little, .k = little},
                             Case{.m = little, .n = little, .k = large}};
  const auto its = std::find_if(claims().begin(), claims().end(), [&](const Claim& c) {
    return std::string_view(c.name) == claim.name;
  });
  const auto turn = static_cast<std::size_t>(its - claims().begin());
  const Case& shape = shapes[turn % shapes.size()];
  if (shape == Case{}) return std::nullopt;
  const Case c = nearest_case(shape, claim, entry);
  if (cost_of(c, claim, entry, hints.effort) > most_cost || !claim.excludes_case(c).empty())
    return std::nullopt;
  return c;
}

std::function<Case()> case_generator(const Claim& claim, const Entry& entry, std::uint64_t seed,
                                     const Hints& hints) {
  if (claim.is_about_data)
    return [drawing = DataDrawing(claim, entry, seed, hints)]() mutable { return drawing.next(); };
  return [drawing = Drawing(claim, entry, seed, hints)]() mutable { return drawing.next(); };
}

}  // namespace assay
