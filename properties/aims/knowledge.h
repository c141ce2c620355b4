// What is known of a variant's comparisons after some runs of its watched build.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "oracle/watched/watched_run.h"
#include "properties/aims/past_runs.h"
#include "properties/aims/places.h"

namespace assay {

struct Known {
  Comparison seen;  // in all runs together
  Case from;        // the first that reached it
  Case last;        // that showed something new about it
  // Of those that took each of its ways; one without elements where the launch gives up.
  std::array<std::optional<Case>, 2> cheapest = {};
  bool decides = true;  // a branch

  // Whether it has had both outcomes, as far as can be known.
  bool is_settled() const;
};

class Knowledge {
 public:
  // All runs together make at most `budget` calls of the watch. An entry for the backend `ptx` runs
  // as nvcc compiled it, and tells its places itself; any other one runs its watched build.
  Knowledge(const Entry&, std::map<const void*, Place> places, std::uint64_t budget);

  // What the watch saw in this case, moved inside the variant's needs. Nothing once the budget is
  // spent, or where the host would compute for too long.
  WatchedRun run(Case, std::uint64_t most_calls);

  // What a launch that ran no kernel compared in this case. True if any of it is new.
  bool learn(const std::vector<Comparison>&, const Case&, bool gives_up = false);

  // Of its news, those in which something is compared that follows from the elements of the
  // matrices: for each set of such comparisons the one with the fewest products.
  std::vector<Case> cases_that_look();

  bool is_spent() const { return left_ == 0; }
  void allow(std::uint64_t calls) { left_ = calls; }  // from now on
  const std::map<const void*, Known>& comparisons() const { return known_; }
  const std::map<const void*, Place>& places() const { return places_; }
  const std::vector<Case>& news() const { return news_; }  // cases that showed something new
  simt::Hints hints() const { return {in_helpers_, branches_}; }
  const Entry& entry() const { return entry_; }

 private:
  WatchedRun watched(const Case&, std::uint64_t most_calls);
  bool learn(const Comparison&, const Case&, bool gives_up);
  void learn_place_in_helper(const Comparison&);
  void learn_places(const WatchedRun&);

  const Entry entry_;
  PastRuns past_runs_;
  std::map<const void*, Place> places_;
  std::vector<const void*> in_helpers_, branches_;
  std::uint64_t left_;
  std::map<const void*, Known> known_;
  std::vector<Case> news_;
};

// Of all differences that it saw, the one nearest to 0.
double nearest_difference(const Comparison&);

}  // namespace assay
