#include "properties/aims/exploration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <stdexcept>

#include "oracle/reference.h"
#include "properties/aims/explorer.h"
#include "properties/aims/launch_probes.h"
#include "properties/aims/numbers.h"
#include "properties/aims/one_way.h"
#include "properties/aims/source/named.h"
#include "properties/draws/cost.h"
#include "properties/draws/data.h"
#include "properties/fitting.h"
#include "properties/scopes.h"

namespace assay {
namespace {

constexpr std::int64_t least_driven = 32, most_drawn = 1 << 20;  // of a size
constexpr std::int64_t most_k_at_lengths = 1024;
constexpr double many_products = 1e7;
constexpr std::int64_t least_named = 128;  // of a table; less is drawn anyway

// A size may have been met where the distance between the rows of its matrix was compared.
void use_as_distance(Case& c, const Input& input, std::int64_t value) {
  for (const Input& other : inputs) {
    const bool holds_rows_of_it = !other.is_size && other.get(with(c, input, 0)) < other.get(c);
    if (holds_rows_of_it) other.set(c, value);
  }
}

// Of the tile along what the input sets.
std::int64_t side_of(const Input& input, const Tile& tile) {
  Case probe;
  probe.m = probe.n = probe.k = 0;
  input.set(probe, 1);
  const auto side = [](std::int64_t size, int of_tile) { return size > 0 ? of_tile : 1; };
  return std::max({side(probe.m, tile.m), side(probe.n, tile.n), side(probe.k, tile.k)});
}

// Farther beyond it than a tile, and beside what other sizes were driven to: where tiles are
// counted, or the last ones in a row are no whole group, less may show nothing.
Case well_beyond(const Threshold& threshold, const Tile& tile) {
  Case c = threshold.base;
  for (const auto size : {&Case::m, &Case::n, &Case::k}) {
    if (c.*size >= least_driven) c.*size += 1;
  }
  return with(c, threshold.input, threshold.value + side_of(threshold.input, tile) + 1);
}

// Where shares are rounded up, or a count gives out, nothing may be wrong yet at the edge.
Case twice(const Threshold& threshold) {
  return with(threshold.base, threshold.input, 2 * threshold.value + 1);
}

bool is_k(const Input& input) { return input.is_size && with({}, input, 1).k == 1; }

// As many elements of A, or of B, as the row beyond a threshold has, in few tiles and groups of
// these.
std::vector<Case> squares_of_inputs(const Threshold& threshold, const Tile& tile) {
  constexpr std::int64_t long_row = 1 << 16;
  if (!threshold.input.is_size || threshold.value < long_row) return {};
  const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(threshold.value))) + 1;
  return {{.m = side + 3 * tile.m + 1, .n = tile.n + 1, .k = side},
          {.m = tile.m + 1, .n = side + 3 * tile.n + 1, .k = side}};
}

// What a few large cases have to show. A fast algorithm mixes rows or columns of different scale,
// or what is so along k alone.
std::vector<Case> dear_cases_at(const Threshold& threshold, const Variant& variant) {
  const auto& [base, input, value] = threshold;
  std::vector<Case> cases = {well_beyond(threshold, variant.tile), with(base, input, value + 1),
                             with(base, input, value)};
  Case scaled = cases.back();
  scaled.fill = Fill::scaled;
  scaled.alpha = scalar_for(scaled.fill, scaled.alpha);
  cases.push_back(scaled);
  if (scaled.multiply_adds() >= many_products && keeps_inputs(variant.arithmetic))
    cases.push_back(with_opposite_slopes(with(base, input, value)));
  if (!input.is_joint) cases.push_back(twice(threshold));
  // Nothing more can be left over, whatever power of two its shares are. And a sum of that many
  // products would not show that one is lost between two shares.
  if (is_k(input)) cases.push_back(lone_products(2 * value - 1, variant.arithmetic));
  return cases;
}

// Both sides of a threshold with the sizes that showed it, and with others: what is wrong behind
// `k >= 2048` may need several tiles to show, or a gap between rows.
std::vector<Case> cases_at(const Threshold& threshold, const Tile& tile) {
  const auto& [base, input, value] = threshold;
  if (input.is_joint) return {with(base, input, value + 1), with(base, input, value)};
  std::vector<Case> cases = {well_beyond(threshold, tile), twice(threshold)};
  for (const std::int64_t near : {value - 1, value, value + 1, value + 2})
    cases.push_back(with(base, input, near));
  const std::array<std::array<std::int64_t, 3>, 4> others = {
      {{3, 5, 7},
       {1, tile.n + 3, 2},
       {tile.m + 1, 2, tile.k + 1},
       {tile.m + 1, 2 * tile.n + 1, tile.k + 3}}};
  for (std::size_t i = 0; i < others.size(); ++i) {
    const auto [m, n, k] = others[i];
    Case c = {.m = m, .n = n, .k = k, .alpha = 1.5f, .beta = i % 2 == 0 ? -0.5f : 0.0f, .seed = i};
    cases.push_back(with(c, input, value + 1));
    c.lda.floats = 4, c.ldb.floats = 3, c.ldc.floats = 5;
    cases.push_back(with(c, input, value));
    if (i % 2 == 0) {
      for (Gap* gap : {&cases.back().lda, &cases.back().ldb, &cases.back().ldc}) gap->floats += 5;
    }
  }
  if (input.is_size) {
    Case c{.m = 3, .n = 5, .k = 7, .alpha = 1.5f};
    use_as_distance(c, input, value);
    cases.push_back(c);
  }
  // Nearly square, where it may be the product of m and n that counts.
  const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(value))) + 1;
  if (input.is_size) cases.push_back({.m = side, .n = side + 1, .k = 3, .alpha = 1.5f});
  return cases;
}

// A whole constant that no run came beyond, as each size. A watched run ends early, and so may
// never come to the row or the column that is compared with it.
std::vector<Case> cases_beyond(std::int64_t constant) {
  std::vector<Case> cases;
  for (const Input& input : inputs) {
    if (!input.is_size) continue;
    for (const std::int64_t value : {constant + 1, constant + 2})
      cases.push_back(with({.m = 2, .n = 1, .k = 3, .alpha = 1.5f, .beta = 0.5f}, input, value));
  }
  return cases;
}

// What an exploration makes of a search: cases to judge, and numbers to draw.
void add_aims(const Explorer& explorer, const Variant& variant, Exploration& exploration) {
  for (const auto* cases :
       {&explorer.knowledge().news(), &explorer.launches().cases, &explorer.joined_cases()})
    exploration.cases.insert(exploration.cases.end(), cases->begin(), cases->end());
  for (const Threshold& threshold : explorer.thresholds()) {
    for (const Case& c : cases_at(threshold, variant.tile)) exploration.cases.push_back(c);
    for (const Case& c : dear_cases_at(threshold, variant)) exploration.dear_cases.push_back(c);
    for (const Case& c : squares_of_inputs(threshold, variant.tile))
      exploration.squares.push_back(c);
    (threshold.input.is_size ? exploration.hints.sizes : exploration.hints.distances)
        .push_back(threshold.value);
  }
  exploration.looks = explorer.cases_that_look();
  // Some of these are dear.
  for (const auto* cases : {&explorer.launches().cases, &explorer.knowledge().news()})
    exploration.dear_cases.insert(exploration.dear_cases.end(), cases->begin(), cases->end());
  exploration.sequences = explorer.launches().sequences;
  exploration.large_paths = explorer.launches().large_paths;
  exploration.refused = explorer.launches().refused;
  exploration.long_cases = explorer.launches().long_cases;
  exploration.captured = explorer.launches().captured;
  for (const std::int64_t constant : explorer.open_constants()) {
    for (const Case& c : cases_beyond(constant)) exploration.cases.push_back(c);
  }
  for (const std::int64_t constant : explorer.whole_constants()) {
    if (constant > most_drawn) continue;
    exploration.hints.sizes.push_back(constant);
    exploration.hints.distances.push_back(constant);
  }
  for (const float scalar : explorer.float_constants()) exploration.hints.scalars.push_back(scalar);
}

// What the author wrote, in whatever files.
std::string source_behind(const std::map<const void*, Place>& places) {
  std::set<std::string> files;
  for (const auto& [where, place] : places) {
    if (is_of_the_author(place)) files.insert(place.file);
  }
  std::string source;
  for (const std::string& file : files) source += source_of(file);
  return source;
}

bool has_any(const std::string& source, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return source.find(word) != source.npos; });
}

// Those of a table that counts them in some unit, or has small ones.
std::vector<Case> tuned_sizes_in(const std::string& source, const Knowledge& know) {
  if (!can_launch_dry(know)) return {};
  DryPaths dry(know.entry(), know.hints());
  return tuned_sizes(dry, cases_in_tables(source, 2), know.entry().variant);
}

// What a source and the library made of it show may decide what no comparison does: which tile
// comes next, or what an array can hold.
void add_numbers(const std::string& source, const Code& code, const Explorer& explorer,
                 const Entry& entry, Exploration& exploration) {
  const Tile& tile = entry.variant.tile;
  const auto add = [&](const std::vector<Case>& cases) {
    exploration.dear_cases.insert(exploration.dear_cases.end(), cases.begin(), cases.end());
  };
  const auto numbers = numbers_in(source);
  add(cases_of_tiles(numbers, tile));
  for (const auto& named : {cases_in_texts(source), cases_in_tables(source, least_named),
                            tuned_sizes_in(source, explorer.knowledge())})
    exploration.named_cases.insert(exploration.named_cases.end(), named.begin(), named.end());
  if (has_table(source)) add(cases_of_cells());
  add(cases_of_long_sums(entry, exploration.hints.effort));
  add(lone_products_of(numbers, entry));
  for (const std::int64_t number : numbers)
    if (number <= most_drawn) exploration.hints.sizes.push_back(number);
  std::vector<std::int64_t> all_k = {65};
  for (const Threshold& threshold : explorer.thresholds()) {
    if (is_k(threshold.input) && threshold.value <= most_k_at_lengths)
      all_k.push_back(threshold.value + 1);
  }
  for (const std::int64_t bytes : code.variables) add(cases_at_length(bytes, all_k));
  add(cases_beyond_16_bits(tile, entry));
  if (tile.m * tile.n == 1)
    for (const int side : sides_in(source)) add(cases_beyond_16_bits({side, side, 1}, entry));
  if (code.makes_floats) add(cases_beyond_floats(tile));
  if (has_any(source, {"dp4a", "int8", "char4", "signed char", "<char>", "(char)"}))
    add({case_beyond_sums_of_bytes()});
  if (has_any(source, {"2int_", "2ll_", " rint", "(rint"})) add(cases_beyond_sums_of_ints());
  if (has_any(source, {"mulhi", "mul.hi", ">> 32"})) add(cases_beyond_reciprocals(tile, all_k));
}

// By its watched build, which also sees what its launch function compares.
Exploration explore_source(const Entry& entry, const Effort& effort) {
  Exploration exploration{.hints = {.effort = effort}};
  Code code;
  try {
    code = code_beside(entry.watched_launch.address());
  } catch (const std::runtime_error& error) {  // then it aims, but names nothing
    exploration.unknown = error.what();
  }
  const Explorer explorer(entry, code.places);
  add_aims(explorer, entry.variant, exploration);
  add_numbers(source_behind(code.places), code, explorer, entry, exploration);
  if (exploration.unknown.empty()) report_comparisons(explorer.knowledge(), exploration);
  return exploration;
}

// Of a launch function that nvcc compiled; nothing where that is not built to be watched.
Code code_of_host(const Entry& entry) try {
  return code_beside(entry.variant.launch.address());
} catch (const std::runtime_error&) {
  return {};
}

// By what nvcc made of its kernels, and by the source that it tells the place of.
Exploration explore_output(const Entry& entry, Code code, const Effort& effort,
                           std::uint64_t budget = Explorer::usual_budget) {
  Exploration exploration{.hints = {.effort = effort}};
  const Explorer explorer(entry, code.places, budget);
  std::set<std::int64_t> lengths;
  for (const Threshold& threshold : explorer.thresholds())
    if (is_k(threshold.input)) lengths.insert(threshold.value + 1);
  look_at_long_sums(lengths, entry, exploration.hints.effort);
  add_aims(explorer, entry.variant, exploration);
  code.places = explorer.knowledge().places();
  const std::string source = source_behind(code.places);
  code.makes_floats |= has_any(source, {"static_cast<float>", "(float)", "2float_", "sqrtf"});
  add_numbers(source, code, explorer, entry, exploration);
  report_comparisons(explorer.knowledge(), exploration);
  if (explorer.knowledge().comparisons().empty())
    exploration.unknown = "its kernels compare nothing";
  else if (explorer.knowledge().places().empty())
    exploration.unknown = "it was compiled without -lineinfo";
  return exploration;
}

// nvcc unrolls loops and joins conditions: it compares what the source does not.
void add_output(Entry entry, Exploration& exploration) {
  constexpr std::uint64_t little = Explorer::usual_budget / 16;
  entry.watched_launch = nullptr;
  const Exploration output = explore_output(entry, {}, exploration.hints.effort, little);
  const auto add = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  add(exploration.cases, output.cases);
  add(exploration.hints.sizes, output.hints.sizes);
  add(exploration.hints.distances, output.hints.distances);
  add(exploration.hints.scalars, output.hints.scalars);
}

}  // namespace

Exploration explore(const Entry& entry) try {
  const bool has_output = entry.backend == Backend::ptx;
  if (entry.watched_launch == nullptr) {
    if (has_output) return explore_output(entry, code_of_host(entry), effort_of(entry));
    return {.unknown = "it has no build that can be watched"};
  }
  Exploration exploration = explore_source(entry, effort_of(entry));
  if (has_output) add_output(entry, exploration);
  return exploration;
} catch (const std::exception& error) {
  return {.unknown = error.what()};
}

}  // namespace assay
