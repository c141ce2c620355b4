#include "properties/aims/explorer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "properties/aims/climbing.h"

namespace assay {
namespace {

constexpr std::uint64_t calls_of_a_run = 1'500'000;
constexpr std::int64_t largest = 1 << 20;  // that is tried of an input,
constexpr std::int64_t largest_joint = 1 << 14, largest_constant = 1 << 23;
constexpr std::size_t most_guesses = 12;  // of an input from one case

// The outcome of a comparison in one run: the way it went, or how its values compare.
std::optional<std::pair<const void*, int>> outcome(const WatchedRun& run, const void* where,
                                                   bool decides) {
  for (const Comparison& c : run.comparisons) {
    if (c.where != where) continue;
    if (decides) return std::pair(c.went_both_ways() ? nullptr : c.ways[0], 0);
    const double difference = nearest_difference(c);
    return std::pair(nullptr, difference < 0 ? -1 : difference > 0 ? 1 : 0);
  }
  return std::nullopt;
}

std::int64_t most_swept(const Input& input) { return input.is_joint ? largest_joint : largest; }
double most_guessed(const Input& input) {
  return input.is_joint ? largest_joint : 16.0 * static_cast<double>(largest);
}

}  // namespace

std::set<const void*> Explorer::open() const {
  std::set<const void*> all;
  for (const auto& [where, known] : know_.comparisons()) {
    if (known.is_settled()) continue;
    const auto place = know_.places().find(where);
    const bool helper = place != know_.places().end() && !is_of_the_author(place->second);
    if (!helper) all.insert(all.end(), where);
  }
  return all;
}

Explorer::Explorer(const Entry& entry, std::map<const void*, Place> places, std::uint64_t budget)
    : tile_(entry.variant.tile), know_(entry, std::move(places), budget) {
  try_tiny_cases();  // first: what they reach is driven from there
  draw_small_cases(80, false);
  drive();
  try_constants();
  drive();
  draw_small_cases(40, true);
  launches_ = search_launches(know_, [&] {
    return Constants{whole_constants(1), float_constants()};
  });
  know_.allow(budget);
  drive();  // what the last draws and launches have reached
  climb_to_the_rest();
  cases_that_look_ = know_.cases_that_look();
}

// Of most variants nothing is left.
void Explorer::climb_to_the_rest() {
  for (bool any = true; any && !know_.is_spent();) {
    any = false;
    for (const void* where : open()) {
      if (know_.is_spent()) break;
      if (!know_.comparisons().at(where).decides || !climbed_.insert(where).second) continue;
      // What it waits for may be small, and what others still wait for comes first.
      Constants constants{constants_of(open(), 1), float_constants()};
      for (const std::int64_t any : whole_constants(1)) constants.whole.push_back(any);
      const auto cases = climb(know_, where, constants);
      joined_cases_.insert(joined_cases_.end(), cases.begin(), cases.end());
      any |= !cases.empty();
    }
    if (any) drive();
  }
}

void Explorer::try_tiny_cases() {
  for (const std::int64_t size : {1, 2, 5})
    know_.run({.m = size, .n = size, .k = size, .alpha = 1.5f, .beta = 0.5f}, calls_of_a_run);
}

// Cases beside the edges of tiles, as long as they show something new. Those in which nothing is
// multiplied come last: in them a branch may be taken to no effect, and would not be driven.
void Explorer::draw_small_cases(int most, bool with_nothing) {
  constexpr int most_in_vain = 16;
  for (int i = 0, in_vain = 0; i < most && in_vain < most_in_vain; ++i) {
    const std::size_t before = know_.news().size();
    know_.run(draw_small_case(with_nothing), calls_of_a_run);
    in_vain = know_.news().size() > before ? 0 : in_vain + 1;
  }
}

Case Explorer::draw_small_case(bool with_nothing) {
  const auto size = [&](std::int64_t tile) {
    return dice_.of({std::int64_t{!with_nothing}, std::int64_t{1}, std::int64_t{3}, tile / 2 + 1,
                     tile - (tile > 1), tile, tile, tile + 1, 2 * tile, 2 * tile + 1});
  };
  Case c{.m = size(tile_.m), .n = size(tile_.n), .k = size(tile_.k)};
  c.alpha = dice_.of({1.5f, 1.0f, -0.5f, with_nothing ? 0.0f : 0.5f});
  c.beta = dice_.of({0.0f, 0.5f, 1.0f, -2.0f});
  const bool gaps = dice_.one_in(2), shifted = dice_.one_in(2);
  for (Gap* gap : {&c.lda, &c.ldb, &c.ldc})
    gap->floats = gaps ? dice_.of<std::int64_t>({0, 1, 4, 64}) : 0;
  for (int& offset : c.offset.floats) offset = shifted ? dice_.of({0, 1, 2, 3}) : 0;
  c.fill = dice_.of({Fill::uniform, Fill::small_ints, Fill::special});
  c.seed = static_cast<std::uint64_t>(dice_.between(0, (1 << 16) - 1));
  return c;
}

// Drives every comparison that is not settled from the case that reached it first; so the second
// half of `m == 1 && n > 1024` is driven where m is 1. Several sizes at once only where no single
// one does it: they would meet both halves, and show neither's threshold.
void Explorer::drive() {
  for (bool any = true; any && !know_.is_spent();) {
    drive_from_each(scaled_, [&](const Case& base) { try_scalars(base); });
    any = drive_from_each(swept_, [&](const Case& base) {
      for (const Input& input : inputs) sweep(base, input);
    });
    if (any) continue;
    any = drive_from_each(swept_jointly_, [&](const Case& base) {
      for (const Input& input : joint_sizes) sweep(base, input);
    });
  }
}

// Whether there was a case to start from that is not among those known.
bool Explorer::drive_from_each(std::set<std::string>& known,
                               const std::function<void(const Case&)>& sweep_from) {
  bool any = false;
  for (const void* where : open()) {
    if (know_.is_spent()) break;
    const Case base = know_.comparisons().at(where).from;
    if (!known.insert(to_string(base)).second) continue;
    sweep_from(base);
    any = true;
  }
  return any;
}

// Doubles one input. Where it drives a comparison towards equality, goes there at once.
void Explorer::sweep(const Case& base, const Input& input) {
  std::uint64_t most_calls = 0;
  for (const void* where : open()) {
    const Known& known = know_.comparisons().at(where);
    if (known.from == base) most_calls = std::max(most_calls, 2 * known.seen.first_call + 30'000);
  }
  if (most_calls == 0) return;
  Sweep sweep{base, input, std::min(most_calls, calls_of_a_run), {}};
  step(sweep, input.get(base));
  for (std::int64_t value = 1; value <= most_swept(input) && !know_.is_spent(); value *= 2) {
    if (value > input.get(base) && !step(sweep, value)) return;
  }
}

// False if nothing is left to drive.
bool Explorer::step(Sweep& sweep, std::int64_t value) {
  const auto before = open();
  const WatchedRun run = know_.run(with(sweep.base, sweep.input, value), sweep.most_calls);
  for (const Comparison& comparison : run.comparisons) {
    if (!before.contains(comparison.where)) continue;
    auto& points = sweep.history[comparison.where];
    if (know_.comparisons().at(comparison.where).is_settled()) {
      if (!points.empty()) bisect(sweep, comparison.where, points.back().value, value);
      sweep.history.erase(comparison.where);
      continue;
    }
    points.push_back({value, nearest_difference(comparison)});
  }
  for (const auto& [where, points] : sweep.history) {  // guesses settle some of them
    if (!know_.comparisons().at(where).is_settled()) guess(sweep, where, points);
  }
  std::erase_if(sweep.history, [&](const auto& entry) {
    return know_.comparisons().at(entry.first).is_settled();
  });
  return !sweep.history.empty();
}

// Finds where a comparison turns between two values of an input.
void Explorer::bisect(const Sweep& sweep, const void* where, std::int64_t from, std::int64_t to) {
  const bool decides = know_.comparisons().at(where).decides;
  const auto outcome_at = [&](std::int64_t value) {
    return outcome(know_.run(with(sweep.base, sweep.input, value), sweep.most_calls), where,
                   decides);
  };
  const auto before = outcome_at(from);
  while (to - from > 1 && !know_.is_spent()) {
    const std::int64_t middle = from + (to - from) / 2;
    const auto now = outcome_at(middle);
    (now && now != before ? to : from) = middle;
  }
  note(sweep.base, sweep.input, to);
}

// Where the last points say that the difference is 0: along the line through them, and with the
// slope of the first two, as a remainder has it.
void Explorer::guess(Sweep& sweep, const void* where, const std::vector<Point>& points) {
  if (points.size() < 2) return;
  const auto slope = [](const Point& a, const Point& b) {
    return (b.difference - a.difference) / static_cast<double>(b.value - a.value);
  };
  const Point& last = points.back();
  for (const double s : {slope(points[points.size() - 2], last), slope(points[0], points[1])}) {
    const double zero = static_cast<double>(last.value) - last.difference / s;
    if (!std::isfinite(zero) || zero < usual_sizes) continue;
    if (zero > most_guessed(sweep.input)) continue;
    const auto value = static_cast<std::int64_t>(std::round(zero));
    if (sweep.guessed.size() >= most_guesses || !sweep.guessed.insert(value).second) continue;
    if (!settles(sweep, value)) continue;
    if (!know_.comparisons().at(where).is_settled()) {  // another one
      note(sweep.base, sweep.input, value);
      continue;
    }
    bisect(sweep, where, last.value, value + 1);  // it may have turned long before
    return;
  }
}

// Whether this value of the input, or a neighbour, settles a comparison. Others may be reached then
// for the first time.
bool Explorer::settles(const Sweep& sweep, std::int64_t value) {
  const auto before = open();
  for (const std::int64_t near : {value, value + 1, value - 1})
    know_.run(with(sweep.base, sweep.input, near), sweep.most_calls);
  return std::any_of(before.begin(), before.end(),
                     [&](const void* where) { return know_.comparisons().at(where).is_settled(); });
}

void Explorer::note(const Case& base, const Input& input, std::int64_t value) {
  if (value < usual_sizes) return;
  const bool known = std::any_of(thresholds_.begin(), thresholds_.end(), [&](const Threshold& t) {
    return t.value == value && t.input.get == input.get;
  });
  if (!known) thresholds_.push_back({base, input, value});
}

// The constants that floats were compared with, as alpha and as beta, and what lies beside them.
void Explorer::try_scalars(const Case& base) {
  const auto try_one = [&](float scalar) {
    for (float Case::*which : {&Case::alpha, &Case::beta}) {
      Case c = base;
      c.*which = scalar;
      know_.run(c, calls_of_a_run);
    }
  };
  for (const float scalar : float_constants())
    if (tried_scalars_.insert(scalar).second) try_one(scalar);
  // Also one that was tried elsewhere, if a comparison was reached from here alone.
  std::set<float> compared;
  for (const void* where : open()) {
    const Known& known = know_.comparisons().at(where);
    const Comparison& c = known.seen;
    if (!(known.from == base) || c.kind != Comparison::Kind::floats) continue;
    if (c.least == c.greatest) compared.insert(static_cast<float>(c.least));
    if (c.least_other == c.greatest_other) compared.insert(static_cast<float>(c.least_other));
  }
  for (const float scalar : compared)
    if (std::isfinite(scalar)) try_one(scalar);
}

// Each constant as a size and as a distance, the other sizes tiny. The last row and column come
// first: a run ends early, and either may be what is compared.
void Explorer::try_constants() {
  constexpr std::uint64_t calls = 60'000;
  for (const std::int64_t constant : whole_constants()) {
    for (const Input& input : inputs) {
      // Where the last row is compared, the size is one more.
      const std::int64_t last = input.is_size ? constant + 2 : 2 * constant;
      for (const std::int64_t value : {constant - 1, constant, constant + 1, last}) {
        const Case tiny{.m = 2, .n = 1, .k = 3, .alpha = 1.5f, .beta = 0.5f, .seed = input.is_size};
        know_.run(with(tiny, input, value), calls);
      }
    }
  }
}

std::vector<std::int64_t> Explorer::whole_constants(std::int64_t least) const {
  std::set<const void*> all;
  for (const auto& [where, known] : know_.comparisons()) all.insert(where);
  return constants_of(all, least);
}

std::vector<std::int64_t> Explorer::open_constants() const {
  return constants_of(open(), usual_sizes);
}

std::vector<std::int64_t> Explorer::constants_of(const std::set<const void*>& comparisons,
                                                 std::int64_t least) const {
  std::set<std::int64_t> all;
  const auto add = [&](double value) {
    if (value > static_cast<double>(least) && value <= largest_constant)
      all.insert(static_cast<std::int64_t>(value));
  };
  for (const void* where : comparisons) {
    const Known& known = know_.comparisons().at(where);
    const Comparison& c = known.seen;
    if (c.kind == Comparison::Kind::floats) continue;
    for (const std::uint64_t label : c.labels) add(static_cast<double>(label));
    if (c.with_constant) add(c.constant);
    if (!c.with_constant && c.least == c.greatest) add(c.least);
    if (!c.with_constant && c.least_other == c.greatest_other) add(c.least_other);
  }
  return {all.begin(), all.end()};
}

std::vector<float> Explorer::float_constants() const {
  constexpr double smallest = 0x1p-100, greatest = 0x1p64;
  std::set<float> all;
  const auto add = [&](double low, double high) {
    if (low != high || !(std::abs(low) >= smallest && std::abs(low) <= greatest)) return;
    const auto value = static_cast<float>(low);
    for (const float near : {value, std::nextafter(value, 0.0f), std::nextafter(value, 2 * value),
                             value / 2, value * 2})
      all.insert(near), all.insert(-near);
  };
  for (const auto& [where, known] : know_.comparisons()) {
    if (known.seen.kind != Comparison::Kind::floats) continue;
    add(known.seen.least, known.seen.greatest);
    add(known.seen.least_other, known.seen.greatest_other);
  }
  return {all.begin(), all.end()};
}

}  // namespace assay
