// What the results of `assay check` amount to: where each claim stands, and the verdict on all. A
// claim about which too little was judged never counts as held.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/out/conclusion.h"
#include "cli/selection.h"
#include "properties/check.h"

namespace assay {

enum class Standing {
  holds,
  fails,
  exempt,         // the claim does not apply to the variant
  left_out,       // the claim says nothing about the given case
  refused,        // the variant does not accept the given case
  empty,          // the given case has an empty C
  too_few,        // fewer cases were judged than were asked for
  harness_error,  // the harness itself failed, which says nothing about the variant
};

// One claim about one variant on one backend.
struct Line {
  ClaimResult result;
  Standing standing;
  std::string reason;  // of anything but `holds`

  bool counts_against() const {
    return standing == Standing::fails || standing == Standing::too_few;
  }
};

// All that any view of a check shows.
struct CheckReport {
  std::vector<std::string> arguments;
  Budget budget;
  std::optional<Case> given;  // judged instead of drawn cases
  std::vector<BackendState> backends;
  Selection selection;
  std::vector<Line> lines;  // all claims about the first entry, then about the next
  double seconds = 0;
};

Line stand(ClaimResult, const Budget&, bool given_case);
Conclusion conclude(const CheckReport&);

// The name of a variant, with its backend where the check is about several of them.
std::string name_of(const Entry&, const std::vector<Entry>& all);
bool same_entry(const Entry&, const Entry&);

// The lines of one standing that have variants and reason in common, or claims and reason: told
// once for all of them.
struct Remark {
  std::vector<const Claim*> claims;  // none where the reason is the variant's own
  std::vector<Entry> entries;
  std::string reason;
};
std::vector<Remark> remarks(const CheckReport&, Standing);

// "naive, eigen", or shorter where these are all that there are.
std::string names_of(const std::vector<Entry>& some, const std::vector<Entry>& all);

}  // namespace assay
