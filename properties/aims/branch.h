// Names the branch behind which a fault lies: the comparison that goes a way in every failing case
// which hardly any passing case goes.
//
// Knows only the variant's own comparisons, and says nothing where not just one of them fits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/registry.h"
#include "oracle/case.h"

namespace assay {

struct Branch {
  std::string file;  // relative to the root of the sources
  int line = 0;
  std::string condition;        // "g.k >= 2048"; empty where the source cannot be read
  std::optional<bool> is_true;  // in failing cases; nothing where the source does not tell

  bool operator==(const Branch&) const = default;
};

// Such as "only where `g.k >= 2048` is true: kernels/mine.cu:41".
std::string to_string(const Branch&);

// Cases beside each other, some of which show a fault: the first failing one above all.
struct Verdicts {
  std::vector<Case> failing, passing;
};

// Runs the variant's watched build on them.
std::optional<Branch> branch_behind(const Entry&, const Verdicts&);

}  // namespace assay
