// What the gate watches and what it does not, so that no cell goes silently; and how something that
// was watched is given up: on purpose, with a reason that stays.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "regress/store/baseline.h"

namespace assay {

// Every cell that the gate watches, where it has a baseline: of each variant all problems that it
// accepts, and the host's time on the first of them. An empty list of variants stands for all.
std::vector<Cell> cells_to_watch(const std::vector<std::string>& variants);

// Whether something was accepted of a cell; else why it is not watched, where that is on record.
bool has_record(const Baseline&, const Cell&);
std::string why_not_watched(const Baseline&, const Cell&);

// Of the variants with a baseline that are here now, as "CELL" or "CELL: why".
struct Unwatched {
  std::vector<std::string> for_a_reason;    // it is on record: too long, or given up
  std::vector<std::string> without_record;  // nobody knows why: a new problem, or a lost record
  std::vector<std::string> without_anchor;  // small steps add up against nothing

  bool operator==(const Unwatched&) const = default;
};

// An empty list of variants stands for all.
Unwatched unwatched(const Baseline&, const std::vector<std::string>& variants);

// Gives up variants, or cells written as "VARIANT CASE", on every GPU that has a baseline of them.
// Returns "GPU: VARIANT" for each. Throws BadInput, and changes nothing, for one that no GPU has.
std::vector<std::string> give_up(const std::filesystem::path& baselines,
                                 const std::vector<std::string>& names, const Provenance&);

}  // namespace assay
