// Searches for the cases that drive every comparison of a variant both ways.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "properties/aims/inputs.h"
#include "properties/aims/knowledge.h"
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
  Explorer(const Entry&, std::map<const void*, Place> places);
  const Knowledge& knowledge() const { return know_; }
  const std::vector<Threshold>& thresholds() const { return thresholds_; }
  std::vector<std::int64_t> whole_constants() const;
  std::vector<std::int64_t> open_constants() const;  // of comparisons that went one way only
  std::vector<float> float_constants() const;

 private:
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
  void sweep_all(const Case& base);
  void sweep(const Case& base, const Input&);
  bool step(Sweep&, std::int64_t value);
  void bisect(const Sweep&, const void* where, std::int64_t from, std::int64_t to);
  void guess(Sweep&, const void* where, const std::vector<Point>&);
  bool settles(const Sweep&, std::int64_t value);
  void note(const Case& base, const Input&, std::int64_t value);
  void try_scalars(const Case& base);
  std::set<const void*> open() const;
  std::vector<std::int64_t> constants_of(const std::set<const void*>& comparisons) const;

  const Tile tile_;
  Knowledge know_;
  Dice dice_{1};
  std::set<std::string> swept_;
  std::set<float> tried_scalars_;
  std::vector<Threshold> thresholds_;
};

}  // namespace assay
