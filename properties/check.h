// Puts variants to the test: for each claim so many cases, past failures first, and the smallest
// case that fails.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "properties/calibration.h"
#include "properties/claims.h"
#include "properties/corpus.h"
#include "properties/worker.h"

namespace assay {

struct Budget {
  int cases = 100;                                     // judged, for each claim about each variant
  std::uint64_t seed = 0;                              // of what is drawn
  int jobs = 0;                                        // at once; 0 means one for each core
  double watchdog_seconds = default_watchdog_seconds;  // of a trial; while shrinking 1 at most
  // Trials run in processes started so; in this process if there are no arguments.
  WorkerCommand worker = {};
};

// A case for which a claim does not hold.
struct Failure {
  Case original, shrunk;
  Verdict original_verdict, verdict;  // of each of the two
  int shrink_steps = 0;
  bool shrunk_fully = true;  // false where the time for shrinking ran out, or a simpler case that
                             // seemed to hang is only slow
};

// What was found out about one claim for one variant on one backend.
struct ClaimResult {
  Entry entry;
  const Claim* claim = nullptr;
  std::string exempt;                // why the claim does not apply; then nothing else is set
  int cases = 0;                     // judged: at least one element was looked at
  int empty = 0;                     // run, but there was nothing in C to judge
  std::vector<std::string> refused;  // the reasons, of given cases only
  std::int64_t elements = 0;         // judged
  double worst_gulps = 0;            // the largest error seen, in gulps,
  double allowed_gulps = 0;          // and what was allowed there
  double seconds = 0;
  double watchdog_seconds = default_watchdog_seconds;  // of each trial
  std::optional<Failure> failure;
  std::string harness_error;  // why it could not be judged to the end; no word about the entry
};

// Called from several threads, one call at a time: after every case with the number done and an
// estimate of the whole.
using Progress = std::function<void(int done, int expected)>;

// Every claim about every entry, in that order. Cases are drawn, aimed at the entry. Before the
// first of a program, the references are compared with each other on every backend that is used;
// throws OracleDisagrees where they differ.
std::vector<ClaimResult> check(const std::vector<Entry>&, const std::vector<const Claim*>&,
                               const Budget&, const std::vector<CorpusLine>& corpus = {},
                               const Progress& = {});

// The same for exactly the case given, shrunk if it fails. A case that a claim says nothing about,
// or that the variant refuses, is in `refused` with the reason.
std::vector<ClaimResult> check_case(const std::vector<Entry>&, const std::vector<const Claim*>&,
                                    const Case&, const Budget&);

// The line that replays a failure, such as: assay check tiled_32 --backend simt --claim beta_zero
// --case "m=1 ..."
std::string replay_line(const ClaimResult&, const Case&);

}  // namespace assay
