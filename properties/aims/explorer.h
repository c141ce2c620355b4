// Searches for the cases that drive every comparison of a variant both ways.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "properties/aims/inputs.h"
#include "properties/aims/knowledge.h"
#include "properties/aims/launch_search.h"
#include "properties/draws/dice.h"

namespace assay {

// A value of an input at which a comparison turns, in this case.
struct Threshold {
  Case base;
  Input input;
  std::int64_t value;
};

class Explorer {
 public:
  static constexpr std::uint64_t usual_budget = 60'000'000;  // calls of the watch
  Explorer(const Entry&, std::map<const void*, Place> places, std::uint64_t budget = usual_budget);
  const Knowledge& knowledge() const { return know_; }
  const std::vector<Threshold>& thresholds() const { return thresholds_; }
  // In which several conditions hold at once.
  const std::vector<Case>& joined_cases() const { return joined_cases_; }
  // On ways of its own that go by the elements of the matrices.
  const std::vector<Case>& cases_that_look() const { return cases_that_look_; }
  // What its launch function does that no run of a kernel led to.
  const LaunchFindings& launches() const { return launches_; }
  std::vector<std::int64_t> whole_constants(std::int64_t least = usual_sizes) const;
  std::vector<std::int64_t> open_constants() const;  // of comparisons that went one way only
  std::vector<float> float_constants() const;

 private:
  static constexpr std::int64_t usual_sizes = 32;  // up to here, cases come by anyway

  struct Point {
    std::int64_t value;
    double difference;
  };
  struct Sweep {
    const Case& base;
    const Input& input;
    std::uint64_t most_calls;
    std::map<const void*, std::vector<Point>> history;  // of the comparisons not settled yet
    std::set<std::int64_t> guessed = {};
  };

  void try_tiny_cases();
  void draw_small_cases(int most, bool with_nothing);
  Case draw_small_case(bool with_nothing);
  void try_constants();
  void drive();
  bool drive_from_each(std::set<std::string>& known,
                       const std::function<void(const Case&)>& sweep_from);
  void sweep(const Case& base, const Input&);
  bool step(Sweep&, std::int64_t value);
  void bisect(const Sweep&, const void* where, std::int64_t from, std::int64_t to);
  void guess(Sweep&, const void* where, const std::vector<Point>&);
  bool settles(const Sweep&, std::int64_t value);
  void note(const Case& base, const Input&, std::int64_t value);
  void try_scalars(const Case& base);
  void climb_to_the_rest();
  std::set<const void*> open() const;
  // Those greater than `least`.
  std::vector<std::int64_t> constants_of(const std::set<const void*>& comparisons,
                                         std::int64_t least) const;

  const Tile tile_;
  Knowledge know_;
  Dice dice_{1};
  std::set<std::string> scaled_, swept_, swept_jointly_;
  std::set<float> tried_scalars_;
  std::vector<Threshold> thresholds_;
  std::set<const void*> climbed_;
  std::vector<Case> joined_cases_;
  LaunchFindings launches_;
  std::vector<Case> cases_that_look_;
};

}  // namespace assay
