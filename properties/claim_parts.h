// What several claims are made of.
#pragma once

#include "properties/claims.h"

namespace assay {

// The claims that take a GPU.
std::vector<Claim> gpu_claims();

Verdict judge_plan(const Entry&, const Case&, Plan, int workers);

// Why a claim leaves out a case, or says nothing about a variant; empty if it does not.
std::string unless_bound_holds(const Case&);
std::string unless_finite(const Case&);
std::string unless_fma_chain(const Entry&);

Case without_special(Case, const Entry&);

// Whether a run came to its end. A result that is wrong, but the same each time, is for other
// claims to see.
bool has_output(const Verdict&, const Output&);

struct NamedOutput {
  const char* name;  // "with threads in ascending order"
  const Output& output;
};

// `right` if both have the same bits, any NaN being as good as another.
Verdict compare_outputs(const Case&, const NamedOutput& first, const NamedOutput& second);

}  // namespace assay
