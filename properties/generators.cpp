#include "properties/generators.h"

#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace assay {
namespace {

constexpr double most_multiply_adds = 3e6;  // of a drawn case: some milliseconds

std::int64_t round_up(std::int64_t value, int to) {
  return (value + to - 1) / to * to;
}

// Sizes around the places where a tile ends.
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
bool is_to_be_of_whole_tiles(const Case& c) {
  return c.seed % 8 == 3;
}
Case of_whole_tiles(Case c, const Tile& tile) {
  const bool tall = c.m > c.n;
  c.m = std::int64_t{tile.m} * (tall ? 2 : 1);
  c.n = std::int64_t{tile.n} * (tall ? 1 : 2);
  c.k = round_up(std::max<std::int64_t>(1, c.k), tile.k);
  return c;
}

// Squares hide a swap of sizes or distances; so do equal pairs. One case in sixteen may have them
// all the same.
bool is_worth_drawing(const Case& c) {
  if (c.multiply_adds() > most_multiply_adds) return false;
  return c.seed % 16 == 0 || (c.m != c.n && c.n != c.k && c.m != c.k);
}

std::int64_t smallest(std::int64_t size) {
  return std::min<std::int64_t>(1, size);
}

Fill plain(Fill fill) {
  return fill == Fill::exact ? fill : Fill::small_ints;
}

// The few smallest, and what halves the way to them, in powers of 2: a multiple of a tile stays
// one.
std::vector<std::int64_t> sizes_below(std::int64_t size) {
  std::vector<std::int64_t> below;
  for (std::int64_t small = smallest(size); small < std::min<std::int64_t>(size, 9); ++small)
    below.push_back(small);
  const auto way = static_cast<std::uint64_t>(size - smallest(size));
  for (std::uint64_t step = std::bit_floor(way); step > 0; step /= 2)
    below.push_back(size - static_cast<std::int64_t>(step));
  return below;
}

// Every choice of what may stay as it is while all else becomes as plain as it can be; the sizes
// stay last. Whatever a failure depends on, one step leads there: where it ends a process, each
// step takes a new one.
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

Case fitted(Case c, const Needs& needs) {
  // The rows of packed matrices are as long as they lie apart.
  const bool packed = needs.packed;
  c.m = round_up(c.m, needs.m_multiple);
  c.n = round_up(
      c.n, packed ? std::lcm(needs.n_multiple, std::lcm(needs.ldb_multiple, needs.ldc_multiple))
                  : needs.n_multiple);
  c.k = round_up(c.k, packed ? std::lcm(needs.k_multiple, needs.lda_multiple) : needs.k_multiple);
  const auto fit_gap = [&](Gap& gap, std::int64_t row, int multiple) {
    gap.floats = needs.packed ? 0 : round_up(row + gap.floats, multiple) - row;
  };
  fit_gap(c.lda, c.k, needs.lda_multiple);
  fit_gap(c.ldb, c.n, needs.ldb_multiple);
  fit_gap(c.ldc, c.n, needs.ldc_multiple);
  const std::array alignment = {needs.a_alignment, needs.b_alignment, needs.c_alignment};
  for (std::size_t i = 0; i < 3; ++i) {
    int& floats = c.offset.floats[i];
    floats -= floats % (alignment[i] / static_cast<int>(sizeof(float)));
  }
  if (needs.alpha_one) c.alpha = 1;
  if (needs.beta_zero) c.beta = 0;
  return c;
}

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
  if (c.fill == Fill::special) vary(&Case::fill, Fill::uniform);
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

Case aimed(const Case& given, const Claim& claim, const Entry& entry) {
  const Needs& needs = entry.variant.needs;
  const auto aim = [&](const Case& c) {
    const Case result = claim.aim(fitted(c, needs), entry);
    return claim.inside_needs ? fitted(result, needs) : result;
  };
  Case c = given, result = aim(c);
  // Where the claim cannot speak of a fill or a size: another fill, then less and less.
  if (!claim.leaves_out(result).empty() && c.fill == Fill::exact) {
    c.fill = Fill::uniform;
    result = aim(c);
  }
  while (!claim.leaves_out(result).empty() && c.k > 1) {
    c.k /= 2;
    result = aim(c);
  }
  return result;
}

rc::Shrinkable<Case> shrinkable_case(const Case& c, const Claim& claim, const Entry& entry) {
  const Needs needs = claim.inside_needs ? entry.variant.needs : Needs{};
  return rc::shrinkable::shrinkRecur(c, [&claim, needs](const Case& larger) {
    std::vector<Case> simpler;
    for (const Case& smaller : smaller_cases(larger)) {
      const Case s = fitted(smaller, needs);
      const bool is_new =
          !(s == larger) && std::find(simpler.begin(), simpler.end(), s) == simpler.end();
      if (is_new && claim.leaves_out(s).empty()) simpler.push_back(s);
    }
    return rc::seq::fromContainer(std::move(simpler));
  });
}

rc::Gen<Case> cases_for(const Claim& claim, const Entry& entry) {
  return [draw = any_cases(entry.variant.tile), &claim, entry](const rc::Random& random, int size) {
    rc::Random drawing = random;
    Case c;
    do {
      c = draw(drawing.split(), size).value();
      if (is_to_be_of_whole_tiles(c)) c = of_whole_tiles(c, entry.variant.tile);
    } while (!is_worth_drawing(c));
    return shrinkable_case(aimed(c, claim, entry), claim, entry);
  };
}

}  // namespace assay
