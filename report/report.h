// What many results amount to: shards, machines, cards and backends put together, variant by
// variant. Nothing is lost on the way: where two results say different things of the same, the
// worse one counts, and both are named.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "report/result.h"

namespace assay::report {

// A result, the sources that say it (indices into Report::sources), and what some of them say
// against it; empty if none does.
struct MergedClaim : Claim {
  std::vector<std::size_t> sources;
  std::string contradiction;
};
struct MergedCell : Cell {
  std::vector<std::size_t> sources;
  std::string contradiction;
};

// What one gate of the past says of a variant: of its time over the anchor's.
struct Moment {
  std::string commit, card;
  std::int64_t cells = 0;
  double median = 1, slowest = 1;
  std::string slowest_problem;
};

struct VariantReport {
  About about;
  std::vector<MergedClaim> claims;  // all of a backend, then all of the next
  std::vector<MergedCell> cells;
  std::vector<Timing> timings;
  std::vector<Traffic> traffic;
  std::vector<Spread> spreads;
  std::optional<Paths> paths;
  std::vector<Moment> history;  // by the date of commits, then of runs

  std::vector<std::string> backends() const;
  const MergedClaim* claim(const std::string& backend, const std::string& name) const;
  // The failure to look at first; null if none fails.
  const MergedClaim* lead(const std::string& backend) const;
  // With its arithmetic, where that is not FP32: what beats FP32 so is in another class.
  std::string name_in_its_class() const;
  bool is_wrong() const;
  bool is_right() const;  // some claim holds, and nothing is wrong or broke off
};

struct Report {
  std::vector<Source> sources;
  std::vector<VariantReport> variants;
  std::vector<ClaimName> claims;  // that some result is about
  std::vector<Kernel> kernels;
  std::vector<Defect> defects;
  std::vector<Spread> arithmetics;  // errors of arithmetics that no variant has
  std::map<std::string, std::vector<std::string>> not_tested;  // what, and the files that say so
};

// Puts results together in the order in which they come.
Report merged(const std::vector<Result>&);

// Adds the course of times that gates of the past measured, which no verdict is about. Throws
// BadInput for results of another command.
void add_history(Report&, const std::vector<std::string>& files_and_folders);

// Reads files, and all .json in folders. Throws BadInput if there are none, or one is not as
// result.h asks.
Report read_report(const std::vector<std::string>& files_and_folders);

}  // namespace assay::report
