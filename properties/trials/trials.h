// The trials of a claim about an entry, or of a family of claims that one run of a case judges
// together: counts what they show, and ends a claim at its first failure.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <vector>

#include "properties/allowance.h"
#include "properties/check.h"
#include "properties/draws/cost.h"

namespace assay {

// Where cases of one entry are judged: here or in a worker.
struct Bench {
  using Judge = std::function<Verdict(const Claim&, const Case&, double watchdog_seconds)>;
  Judge judge;
  Judge judge_whole;  // what `judge` may judge in parts only, or not at all; empty if none is
  std::function<void()>
      start_afresh;  // a process for the next case; empty where there is only this
};

// That judges whole what it would judge in parts.
Bench judging_whole(Bench);

// The claim itself, or those of its family that were selected.
using Claims = std::span<const Claim* const>;

class Trials {
 public:
  Trials(Claims, const Entry&, int wanted, const Budget&, const Bench&,
         const std::function<void()>& tick, const Effort& = {});

  // While fewer than `cases` are judged, and it is not in vain to go on.
  bool wants_more(int cases) const;
  bool may_go_on() const;
  int cases() const;  // judged by the claim that judged the most
  int skips() const { return skips_; }

  void run(const Case&);
  void run_whole(const std::vector<Case>&);  // the last ones
  // Cases of which blocks waited for others that come later in their grid, with room for all.
  struct Crowded {
    Case c;
    Crowd crowd;
  };
  const std::vector<Crowded>& crowded() const { return crowded_; }

  // Of each claim.
  std::vector<ClaimResult> finish() &&;

 private:
  bool is_open(const ClaimResult&) const;
  void skip(const Skip&);
  void enter(ClaimResult&, const Case&, const Verdict&);

  const Claim& claim() const { return *results_.front().claim; }
  const Entry& entry() const { return results_.front().entry; }

  Bench bench_;
  bool runs_whole_ = false;
  const std::function<void()>& tick_;
  const bool shrinks_;
  const Effort effort_;
  int skips_ = 0;
  std::vector<Case> judged_;  // before this one, in this order
  std::vector<Crowded> crowded_;
  std::vector<ClaimResult> results_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// A failing case of a claim, shrunk and confirmed in a fresh process.
Failure examined(const Claim&, const Entry&, const Case&, const Verdict&, const Bench&,
                 double watchdog_seconds, const std::vector<Case>& judged_before = {},
                 const Effort& = {});

// A fault that interrupted trials of other claims is that of the claim that names it: its failure,
// unless it has one. Where that claim was not judged, the first one that was interrupted tells it.
// Takes all results of one entry.
void hand_over_interruptions(std::span<ClaimResult>, const Bench&, bool shrinks);

}  // namespace assay
