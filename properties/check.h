// Checks variants: for each claim a number of cases, past failures first, until one fails; a
// failing case is shrunk to the smallest one that fails the same way, and confirmed in a fresh
// process.
#pragma once

#include <functional>
#include <vector>

#include "properties/claim_result.h"
#include "properties/corpus.h"
#include "properties/draws/cost.h"
#include "properties/worker.h"

namespace assay {

struct Budget {
  int cases = usual_cases;                             // judged, for each claim about each variant
  std::uint64_t seed = 0;                              // of the drawn cases
  int jobs = 0;                                        // at once; 0 means one for each core
  double watchdog_seconds = default_watchdog_seconds;  // of a trial; while shrinking 1 at most
  // One claim after the other, and none after the first that fails; that case stays as it is.
  bool first_failure = false;
  bool cases_are_given = false;  // by somebody, who waits for them
  // Small drawn cases and no others: for tools under which a case takes a thousand times as long.
  bool small_alone = false;
  // Starts the processes that run the trials; without arguments they run in this process.
  WorkerCommand worker = {};
};

// Called after every case with the number done and an estimate of the whole, from several threads,
// one call at a time.
using Progress = std::function<void(int done, int expected)>;

// Every claim about every entry, in that order. Before the first claim on a backend, compares the
// references there with each other; throws OracleDisagrees where they differ.
std::vector<ClaimResult> check(const std::vector<Entry>&, const std::vector<const Claim*>&,
                               const Budget&, const std::vector<CorpusLine>& corpus = {},
                               const Progress& = {});

// The same for exactly the given cases, one after the other in one process where there are workers.
std::vector<ClaimResult> check_case(const std::vector<Entry>&, const std::vector<const Claim*>&,
                                    const std::vector<Case>&, const Budget&);

}  // namespace assay
