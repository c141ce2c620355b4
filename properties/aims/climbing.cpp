#include "properties/aims/climbing.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>

#include "properties/aims/inputs.h"
#include "properties/fitting.h"

namespace assay {
namespace {

constexpr std::uint64_t most_calls_of_a_climb = 40'000'000, most_calls_of_a_run = 800'000;
constexpr std::size_t most_constants = 12, most_rounds = 8;

void make_distances_equal(Case& c) {
  const std::int64_t longest = std::max(c.n, c.k);
  for (const Input& input : inputs) {
    if (!input.is_size) input.set(c, longest);
  }
}

// All cases that differ from one in a single thing.
class Steps {
 public:
  Steps(const Case& base, const Constants& constants) : base_(base) {
    change_scalars(constants.floats);
    change_sizes(constants.whole);
    change_distances(constants.whole);
    change_offsets();
  }
  const std::vector<Case>& all() const { return all_; }

 private:
  template <class Change>
  void add(const Change& change) {
    Case c = base_;
    change(c);
    if (!(c == base_)) all_.push_back(c);
  }

  void change_scalars(std::vector<float> values) {
    values.resize(std::min(values.size(), 2 * most_constants));
    for (const float usual : {1.0f, -1.0f, 0.0f, 2.0f}) values.push_back(usual);
    for (const float value : values) {
      add([&](Case& c) { c.alpha = value; });
      add([&](Case& c) { c.beta = value; });
    }
    add([](Case& c) { c.alpha = c.beta; });
    add([](Case& c) { c.beta = -c.alpha; });
  }

  void change_sizes(const std::vector<std::int64_t>& constants) {
    for (const auto size : {&Case::m, &Case::n, &Case::k}) {
      for (const auto other : {&Case::m, &Case::n, &Case::k})
        add([&](Case& c) { c.*size = c.*other; });
      for (const std::int64_t multiple : {4, 8, 32, 128})
        add([&](Case& c) { c.*size = round_up(c.*size, static_cast<int>(multiple)); });
      add([&](Case& c) { c.*size += 1; });
      add([&](Case& c) { c.*size *= 2; });
      for (std::size_t i = 0; i < std::min(most_constants, constants.size()); ++i) {
        add([&](Case& c) { c.*size = constants[i]; });
        add([&](Case& c) { c.*size = constants[i] + 1; });
      }
    }
    add([](Case& c) { c.m = c.n = c.k; });
  }

  void change_distances(const std::vector<std::int64_t>& constants) {
    std::vector<const Input*> distances;
    for (const Input& input : inputs) {
      if (!input.is_size) distances.push_back(&input);
    }
    for (const Input* const distance : distances) {
      for (const Input* const other : distances)
        add([&](Case& c) { distance->set(c, other->get(c)); });
      for (const int multiple : {4, 32})
        add([&](Case& c) { distance->set(c, round_up(distance->get(c), multiple)); });
      add([&](Case& c) { distance->set(c, 0); });
      add([&](Case& c) { distance->set(c, distance->get(c) + 1); });
      for (std::size_t i = 0; i < std::min(most_constants, constants.size()); ++i)
        add([&](Case& c) { distance->set(c, constants[i]); });
    }
    add([](Case& c) { make_distances_equal(c); });
  }

  void change_offsets() {
    add([](Case& c) { c.offset = {}; });
    for (std::size_t operand = 0; operand < 3; ++operand)
      add([&](Case& c) { c.offset.floats[operand] = (c.offset.floats[operand] + 1) % 4; });
  }

  const Case base_;
  std::vector<Case> all_;
};

// In rows that lie where they lay, as far as they fit.
void add_columns(Case& c, std::int64_t more) {
  const std::int64_t ldb = inputs[4].get(c), ldc = inputs[5].get(c);
  c.n = std::max<std::int64_t>(1, c.n + more);
  inputs[4].set(c, ldb), inputs[5].set(c, ldc);
}

class Climb {
 public:
  Climb(Knowledge& know, const void* where, const Constants& constants)
      : know_(know), where_(where), constants_(constants), usual_(known().seen.ways[0]) {
    best_ = known().from;
    calls_for_a_slice_ = 2 * known().seen.first_call / slices(best_) + 10'000;
    tried_.insert(to_string(best_));
    nearest_ = outcome_of(best_).value_or(Outcome{}).distance;
  }

  std::vector<Case> cases() {
    for (std::size_t round = 0; round < most_rounds && !is_over(); ++round) {
      if (go_on()) return others_beside(best_);
      if (!std::exchange(came_closer_, false)) break;
    }
    return {};
  }

 private:
  struct Outcome {
    double distance = INFINITY;
    bool other_way = false;
  };

  // It may stand behind the loop along k.
  std::uint64_t slices(const Case& c) const {
    const int side = know_.entry().variant.tile.k;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(1, round_up(c.k, side) / side));
  }
  const Known& known() const { return know_.comparisons().at(where_); }
  bool is_over() const { return know_.is_spent() || spent_ > most_calls_of_a_climb; }

  // Nothing where the comparison is not reached.
  std::optional<Outcome> outcome_of(const Case& c) {
    const std::uint64_t calls = calls_for_a_slice_ * slices(c) + 20'000;
    const WatchedRun run = know_.run(c, std::min(most_calls_of_a_run, calls));
    spent_ += run.cost();
    for (const Comparison& seen : run.comparisons) {
      if (seen.where != where_) continue;
      const auto is_other = [&](const void* way) { return way != nullptr && way != usual_; };
      return Outcome{std::abs(nearest_difference(seen)),
                     is_other(seen.ways[0]) || is_other(seen.ways[1])};
    }
    return std::nullopt;
  }

  // Takes every step that leads closer; true once the comparison goes the other way.
  bool go_on() {
    const Case start = best_;
    const std::size_t count = Steps(start, constants_).all().size();
    for (std::size_t i = 0; i < count && !is_over(); ++i) {
      const auto steps = Steps(best_, constants_).all();  // from where the last one led
      if (i >= steps.size()) break;
      if (!tried_.insert(to_string(steps[i])).second) continue;
      const auto outcome = outcome_of(steps[i]);
      if (!outcome || (!outcome->other_way && outcome->distance >= nearest_)) continue;
      best_ = steps[i], nearest_ = outcome->distance, came_closer_ = true;
      if (outcome->other_way) return true;
    }
    return false;
  }

  // What is wrong there may need other sizes to show.
  std::vector<Case> others_beside(const Case& found) {
    std::vector<Case> cases = {found};
    const Tile& tile = know_.entry().variant.tile;
    const auto add_if_held = [&](const auto& change) {
      Case c = found;
      change(c);
      const auto outcome = outcome_of(c);
      if (outcome && outcome->other_way) cases.push_back(c);
    };
    for (const std::int64_t m : {std::int64_t{0}, std::int64_t{1}, std::int64_t{tile.m}}) {
      for (const std::int64_t n : {-3, -1, 1, 2, tile.n + 1}) {
        add_if_held([&](Case& c) { c.m += m, add_columns(c, n); });
        add_if_held([&](Case& c) { c.m += m, add_columns(c, n), make_distances_equal(c); });
      }
    }
    add_if_held([](Case& c) { c.k += 1; });
    add_if_held([&](Case& c) { c.m += tile.m + 1, c.n += tile.n + 3, c.k += tile.k; });
    return cases;
  }

  Knowledge& know_;
  const void* const where_;
  const Constants& constants_;
  const void* const usual_;  // the way that it has always gone
  std::uint64_t calls_for_a_slice_, spent_ = 0;
  Case best_;
  double nearest_ = INFINITY;
  bool came_closer_ = false;
  std::set<std::string> tried_;
};

}  // namespace

std::vector<Case> climb(Knowledge& know, const void* where, const Constants& constants) {
  return Climb(know, where, constants).cases();
}

}  // namespace assay
