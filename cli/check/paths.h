// Which comparisons of the variants went both ways, as `assay check` shows it: on every backend it
// is what the builds for the CPU executor showed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/check/check_report.h"

namespace assay {

// A variant whose watched build was run, or could not be.
struct Paths {
  Entry entry;  // on the first of its backends
  std::shared_ptr<const Exploration> exploration;

  bool is_known() const { return exploration->unknown.empty(); }
  std::string share() const;  // "41/43"; "-" where it is not known
};
std::vector<Paths> paths_of(const CheckReport&);

// A line for each comparison that always went the same way, a few of each variant, and why nothing
// is known of a variant.
std::string paths_text(const CheckReport&);

// Why `--paths-required` fails the check; nothing if it does not.
std::optional<Conclusion> unmet_paths(const CheckReport&);

}  // namespace assay
