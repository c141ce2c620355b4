// What the trials of one claim about one variant on one backend found out, and what that amounts
// to. A claim about which too little was judged never holds.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "properties/aims/branch.h"
#include "properties/aims/exploration.h"
#include "properties/claims.h"

namespace assay {

// A case for which a claim does not hold.
struct Failure {
  Case original, shrunk;
  Verdict original_verdict, verdict;  // of each of the two
  std::vector<Case> before =
      {};  // without these, judged first in its process, the shrunk one passes
  int shrink_steps = 0;
  bool shrunk_fully = true;  // false where what it may take was spent, or where a simpler case that
                             // seemed to hang was only slow
  bool made_richer = false;  // after it was shrunk, because that names the fault
  bool reproduced = true;    // in a fresh process, after `before`
  std::optional<Branch> branch = {};  // behind which the fault lies, where it is known to
  const Claim* names = nullptr;       // the claim that is not true, if it is not the one judged

  std::vector<Case> sequence() const;  // `before`, and the shrunk case
  // What the fault is, in one line. Without what differs from run to run, such as the time that a
  // thread without end took.
  std::string headline() const;
};

// A trial that ended at a fault which another claim names.
struct Interruption {
  const Claim* names = nullptr;
  Case c;
  Verdict verdict;           // of that claim
  bool is_of_whole = false;  // which would not be judged otherwise
};

enum class ClaimStatus {
  holds,
  fails,
  interrupted,    // its trials ended at a fault that another claim names
  exempt,         // the claim does not apply to the variant here
  not_judged,     // the given case was skipped
  too_few,        // fewer cases were judged than asked for
  harness_error,  // the harness itself failed, which says nothing about the variant
};

struct ClaimResult {
  Entry entry;
  const Claim* claim = nullptr;
  int wanted = 0;                                  // cases asked for
  std::shared_ptr<const Exploration> exploration;  // of the variant; null where a case was given
  std::optional<Skip> exempt;   // why the claim does not apply here; then nothing was judged
  std::optional<Skip> skipped;  // why the given case was not judged
  std::optional<Failure> failure;
  std::optional<Interruption> interruption;  // the first
  std::string harness_error;                 // why the harness could not go on
  int cases = 0;                             // judged: at least one element of each
  int looked_at = 0;                         // of them, whose every access was looked at
  int empty = 0;                             // run, but C had no element
  std::int64_t elements = 0;                 // judged
  double worst_gulps = 0;                    // the largest share of what was allowed,
  double allowed_gulps = 0;                  // and what was allowed there
  std::string remark;                        // the first of a trial: right, but worth knowing
  double seconds = 0;
  double watchdog_seconds = default_watchdog_seconds;  // of each trial

  ClaimStatus status() const;
  // The claim that its failure shows to be false: this one, or one that names the fault.
  const Claim& broken() const { return failure && failure->names ? *failure->names : *claim; }
  std::string reason() const;  // one sentence on anything but `holds`
};

// The command that replays cases, such as: assay check tiled_32 --backend simt --claim beta_zero
// --case "m=1 ..."
std::string replay_line(const ClaimResult&, const std::vector<Case>&);

// Of some results the failure that says best what to look for; null if none fails.
const ClaimResult* lead_of(std::span<const ClaimResult>);

}  // namespace assay
