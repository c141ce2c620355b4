// The kill matrix: which claims notice which planted fault, and after how many cases.
#pragma once

#include <string>
#include <vector>

#include "cli/out/conclusion.h"
#include "properties/claim_result.h"
#include "properties/defects/catalogue.h"

namespace assay {

// One defect, judged by every claim.
struct DefectRow {
  Defect defect;
  std::vector<ClaimResult> results;  // one for each of the matrix's claims, in their order

  const ClaimResult* first_killer() const;  // the one that took the fewest cases; null if none
  const ClaimResult* named_killer() const;  // by the claim that the catalogue names; null if none
};

struct KillMatrix {
  std::vector<const Claim*> claims;
  std::vector<DefectRow> rows;
  int cases_of_others = 0;  // that claims judge which a row does not name
};

// One defect, judged by the claim that must notice it for some seeds in a row.
struct SeedsOfDefect {
  Defect defect;
  std::vector<ClaimResult> results;
};

Conclusion conclude(const std::vector<SeedsOfDefect>&, std::uint64_t first_seed);
std::string seeds_text(const std::vector<SeedsOfDefect>&, std::uint64_t first_seed, const Screen&);

Conclusion conclude(const KillMatrix&);
std::string matrix_text(const KillMatrix&, const Screen&);
// For docs/: without what differs from run to run.
std::string matrix_markdown(const KillMatrix&, const std::string& command);
std::string json_of(const KillMatrix&, const std::vector<std::string>& arguments,
                    const Conclusion&);

}  // namespace assay
