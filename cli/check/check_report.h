// The results of `assay check` together: what they amount to, and the reasons they share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/out/conclusion.h"
#include "cli/selection.h"
#include "properties/check.h"

namespace assay {

// All that any view of a check shows.
struct CheckReport {
  std::vector<std::string> arguments;
  Budget budget;
  std::vector<Case> given;      // judged instead of drawn cases, in this order
  bool paths_required = false;  // fails where a comparison never went both ways
  std::string model;            // that the PTX machine stands in for, if it was named
  std::vector<BackendState> backends;
  Selection selection;
  std::vector<ClaimResult> results;  // all claims about the first entry, then about the next
  double seconds = 0;
};

Conclusion conclude(const CheckReport&);

// The name of a variant, with its backend where the check is about several of them.
std::string name_of(const Entry&, const std::vector<Entry>& all);
bool same_entry(const Entry&, const Entry&);

// Claims and entries whose results share a status and a reason.
struct Remark {
  std::vector<const Claim*> claims;
  std::vector<Entry> entries;
  std::string reason;
};
std::vector<Remark> remarks(const CheckReport&, ClaimStatus);
// The results of a given case that was not judged by this decision.
std::vector<Remark> remarks(const CheckReport&, Skip::By);

// "naive, eigen", or shorter where these are all that there are.
std::string names_of(const std::vector<Entry>& some, const std::vector<Entry>& all);

}  // namespace assay
