// The claims: what must hold for every problem that a variant accepts. A failing case means that
// the sentence is false.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oracle/trial.h"

namespace assay {

struct Claim {
  const char* name;      // as in `--claim within_bound`
  const char* sentence;  // "matches the reference within the bound"
  const char* heading;   // of its column, eight characters at most

  // Runs the trials that it takes. `right` with 0 judged elements means that there was nothing to
  // see.
  Verdict (*judge)(const Entry&, const Case&, int workers);

  // Whether it is about launches on a GPU, and says nothing about other backends.
  bool takes_gpu = false;
  // Why this claim says nothing about a variant, or about a case; empty if it does.
  std::string (*exempts)(const Entry&) = [](const Entry&) { return std::string(); };
  std::string (*leaves_out)(const Case&) = [](const Case&) { return std::string(); };

  // The drawn case that is nearest to `c` and that this claim speaks of.
  Case (*aim)(Case c, const Entry&) = [](Case c, const Entry&) { return c; };

  // Whether the large shapes that people use belong to it: where sizes matter more than edges.
  bool takes_large_shapes = false;
  // At most so many cases, because each takes long.
  static constexpr int as_many_as_asked_for = 1 << 30;
  int most_cases = as_many_as_asked_for;
  // Of GPU memory that one case takes, where that is more than some cards have.
  double gibibytes = 0;
  // Whether it is about problems that the variant accepts.
  bool inside_needs = true;
};

const std::vector<Claim>& claims();

// Why a claim does not apply to an entry; empty if it does.
std::string exemption(const Claim&, const Entry&);

// What is asked before any claim: that the references agree with each other. About an entry it only
// takes the backend.
const Claim& calibration();

// The claim of that name. Throws BadInput with a suggestion if there is none.
const Claim& claim_named(std::string_view name);

}  // namespace assay
