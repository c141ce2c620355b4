#include "properties/generators.h"

#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>

#include "properties/fitting.h"

namespace assay {
namespace {

constexpr double most_multiply_adds = 3e6;            // of a drawn case: some milliseconds
constexpr double large_multiply_adds_per_case = 5e6;  // of the budget

// Sizes around the edges of tiles.
std::vector<std::int64_t> edges_of(int tile) {
  const std::int64_t t = tile;
  std::vector<std::int64_t> edges = {t - 1, t,         t + 1, t / 2 + 1, 2 * t - 1,
                                     2 * t, 2 * t + 1, 3 * t, 3 * t + 1};
  std::erase_if(edges, [](std::int64_t size) { return size < 1; });
  return edges;
}

rc::Gen<std::int64_t> sizes(int tile) {
  static const std::vector<std::int64_t> primes = {2,  3,  5,  7,  13,  17,  31,
                                                   37, 61, 67, 97, 127, 131, 257};
  static const std::vector<std::int64_t> beside_powers = {7,  8,  9,  15,  16,  31,  32, 33,
                                                          63, 64, 65, 127, 128, 129, 255};
  return rc::gen::weightedOneOf<std::int64_t>({{8, rc::gen::elementOf(edges_of(tile))},
                                               {4, rc::gen::elementOf(primes)},
                                               {3, rc::gen::elementOf(beside_powers)},
                                               {3, rc::gen::inRange<std::int64_t>(2, 100)},
                                               {1, rc::gen::inRange<std::int64_t>(258, 1100)},
                                               {1, rc::gen::just<std::int64_t>(1)},
                                               {1, rc::gen::just<std::int64_t>(0)}});
}

rc::Gen<float> scalars() {
  const auto random = rc::gen::map(rc::gen::inRange(-4000, 4001),
                                   [](int i) { return static_cast<float>(i) / 999.0f; });
  return rc::gen::weightedOneOf<float>(
      {{5, rc::gen::element(0.0f, 1.0f, -1.0f, 0.5f, 3.0f)}, {1, random}});
}

rc::Gen<Gap> gaps() {
  return rc::gen::map(
      rc::gen::weightedElement<std::int64_t>({{4, 0}, {2, 1}, {2, 3}, {2, 4}, {1, 64}}),
      [](std::int64_t floats) { return Gap{floats}; });
}

rc::Gen<Fill> fills() {
  return rc::gen::weightedElement<Fill>({{8, Fill::uniform},
                                         {2, Fill::small_ints},
                                         {1, Fill::identity},
                                         {1, Fill::one_hot},
                                         {2, Fill::special}});
}

rc::Gen<Case> any_cases(const Tile& tile) {
  const auto draw = [](const std::tuple<std::int64_t, std::int64_t, std::int64_t>& size,
                       float alpha, float beta, const std::tuple<Gap, Gap, Gap>& gap,
                       const std::array<int, 3>& offset, Fill fill, std::uint64_t seed) {
    Case c;
    std::tie(c.m, c.n, c.k) = size;
    c.alpha = alpha, c.beta = beta;
    std::tie(c.lda, c.ldb, c.ldc) = gap;
    c.offset.floats = offset;
    c.fill = fill;
    c.seed = seed;
    return c;
  };
  return rc::gen::apply(draw, rc::gen::tuple(sizes(tile.m), sizes(tile.n), sizes(tile.k)),
                        scalars(), scalars(), rc::gen::tuple(gaps(), gaps(), gaps()),
                        rc::gen::container<std::array<int, 3>>(rc::gen::inRange(0, 4)), fills(),
                        rc::gen::inRange<std::uint64_t>(0, 1 << 16));
}

// One case in eight: many kernels have a path of their own for them.
bool is_to_be_of_whole_tiles(const Case& c) { return c.seed % 8 == 3; }
Case of_whole_tiles(Case c, const Tile& tile) {
  const bool tall = c.m > c.n;
  c.m = std::int64_t{tile.m} * (tall ? 2 : 1);
  c.n = std::int64_t{tile.n} * (tall ? 1 : 2);
  c.k = round_up(std::max<std::int64_t>(1, c.k), tile.k);
  return c;
}

// Squares hide a swap of sizes or distances, and so do equal pairs: only one case in sixteen may
// have them.
bool is_worth_drawing(const Case& c) {
  if (c.multiply_adds() > most_multiply_adds) return false;
  return c.seed % 16 == 0 || (c.m != c.n && c.n != c.k && c.m != c.k);
}

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
  return shapes;
}

std::vector<Case> large_cases(const Claim& claim, const Entry& entry, int cases,
                              std::uint64_t seed) {
  std::vector<Case> chosen;
  if (!claim.takes_large_shapes) return chosen;
  const auto shapes = curated_shapes();
  const std::size_t first =
      std::hash<std::string>{}(fmt::format("{}{}{}", entry.variant.name, claim.name, seed));
  double room = cases * large_multiply_adds_per_case;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    Case c = shapes[(first + i) % shapes.size()];
    if (c.multiply_adds() > room) continue;
    room -= c.multiply_adds();
    c.seed = seed;
    chosen.push_back(nearest_case(varied(c, first + i), claim, entry));
  }
  return chosen;
}

std::function<Case()> case_generator(const Claim& claim, const Entry& entry, std::uint64_t seed) {
  return
      [draw = any_cases(entry.variant.tile), &claim, entry, random = rc::Random(seed)]() mutable {
        rc::Random drawing = random.split();
        Case c;
        do {
          c = draw(drawing.split(), rc::kNominalSize).value();
          if (is_to_be_of_whole_tiles(c)) c = of_whole_tiles(c, entry.variant.tile);
        } while (!is_worth_drawing(c));
        return nearest_case(c, claim, entry);
      };
}

}  // namespace assay
