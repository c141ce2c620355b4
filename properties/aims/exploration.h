// Finds out what makes a variant's comparisons go both ways, by watching it run: the cases that
// tried something new, those at the edge of every threshold that an input can be driven to, and the
// comparisons that nothing drove both ways.
//
// The same for the same build, on any machine: its budget is counted in calls of the watch. Where
// something depends on the elements of the matrices, it says so, and cannot aim at it.
#pragma once

#include <string>
#include <vector>

#include "properties/aims/launch_search.h"
#include "properties/generators.h"

namespace assay {

// A comparison that decides a branch and always decided it the same way.
struct OneWay {
  std::string file;  // relative to the root of the sources
  int line = 0;
  std::string source;    // the text of that line
  std::string evidence;  // "compared with 2048, only 1 to 1024 came"
  bool operator==(const OneWay&) const = default;
};

struct Exploration {
  std::vector<Case> cases;        // to judge, beside those that are drawn
  std::vector<Case> dear_cases;   // at and beyond the thresholds, for one claim, at whatever cost
  std::vector<Case> named_cases;  // of sizes that the source names together
  std::vector<Case> long_cases;  // long rows, columns and sums that launches treat in their own way
  std::vector<Case> captured;    // launched otherwise where they are captured, for one claim
  std::vector<Case> looks;       // in which it goes by the elements of the matrices
  std::vector<Case> squares;     // with an A or a B as large as beyond a threshold
  std::vector<std::vector<Case>> sequences;  // one after the other, in one process
  std::vector<LargePath> large_paths;
  std::vector<Case> refused;                // of which some launch or call fails
  Hints hints;                              // what it compares with, for cases to be drawn
  int comparisons = 0, went_both_ways = 0;  // in its own source, that were reached
  std::vector<OneWay> one_way;              // in the order of the source
  std::string unknown;  // why nothing is known of its comparisons; empty if they were watched
};

// Takes about a second of one core, two where conditions are left that no single input turns.
Exploration explore(const Entry&);

// Its cases, moved to the nearest ones that the claim says something about, without those that cost
// too much.
std::vector<Case> aimed_cases(const Exploration&, const Claim&, const Entry&);
// Its sequences likewise, for the claim that takes every size.
std::vector<std::vector<Case>> aimed_sequences(const Exploration&, const Claim&, const Entry&);
// Of the named and the dear ones those that are not among them: hardly any of most variants, and up
// to some 20 seconds of others.
std::vector<Case> dear_aimed_cases(const Exploration&, const Claim&, const Entry&);

// Those of which a launch is refused, for one claim, however many products they have.
std::vector<Case> refused_cases(const Exploration&, const Claim&, const Entry&);

// On ways that only large problems take, to be judged whole: some seconds for each claim that takes
// any, of the few variants that have such a way.
std::vector<Case> cases_on_large_paths(const Exploration&, const Claim&, const Entry&);

}  // namespace assay
