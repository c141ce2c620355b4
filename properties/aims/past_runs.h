// What the watch saw in cases that were run before: as searches come by the same case again and
// again, about a third of all runs would show what is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "oracle/watched/watched_run.h"

namespace assay {

// Of one entry. Takes no run for another where something outlived a launch: that which is kept may
// have the same case compare something else.
class PastRuns {
 public:
  explicit PastRuns(const Entry&);

  // What a run of this case, with at most `most_calls` calls of the watch, would show now, without
  // places. Nothing if that is not known.
  std::optional<WatchedRun> find(const Case&, std::uint64_t most_calls);
  // What was looked for last has been run since.
  void add(const WatchedRun&);

 private:
  struct Past {
    std::uint64_t most_calls, kept;
    WatchedRun run;
  };
  std::uint64_t kept() const;

  const void* const launch_;  // the code
  const bool on_ptx_;
  std::unordered_map<std::string, Past> runs_;
  std::string case_;  // looked for last, with what was kept before it
  std::uint64_t most_calls_ = 0, kept_ = 0;
  std::size_t comparisons_ = 0;  // of all runs together
  int changes_ = 0;              // of what is kept
};

}  // namespace assay
