// Which variants, backends and claims a command is about. A name that nobody knows is an error that
// suggests the near ones, and so is a choice that leaves a named variant without a backend.
#pragma once

#include <string>
#include <vector>

#include "oracle/case.h"
#include "properties/claims.h"
#include "regress/cell.h"

namespace assay {

class JsonValue;

// A backend of this build, and why it cannot be used here; empty if it can.
struct BackendState {
  Backend backend;
  int variants = 0;  // that are compiled for it
  std::string why_not;
};
std::vector<BackendState> backend_states();
JsonValue json_of(const std::vector<BackendState>&);

struct Selection {
  std::vector<Entry> entries;  // that can run here
  std::vector<const Claim*> claims;
  std::vector<std::string> left_out;  // what was meant too but cannot run here, and why
};

// Empty lists stand for everything; `about_one_case` leaves out the claims about other cases than
// the given one. Throws BadInput. A backend that is named but cannot be used leaves no entry at
// all: half of what was asked for is not a pass.
Selection select(const std::vector<std::string>& variants, const std::vector<std::string>& backends,
                 const std::vector<std::string>& claims, bool about_one_case);

// Throws BadInput for a variant that no backend of this build has.
void insist_on_known(const std::vector<std::string>& variants);

// The named variants that are compiled for a GPU, or all; throws BadInput for one that is not.
std::vector<std::string> variants_for_gpu(const std::vector<std::string>& named);

// Reads a case. Throws BadInput that begins with `flag`.
Case problem_named(const char* flag, const std::string& text);

// Reads a cell of a known variant. Throws BadInput that begins with `flag`.
Cell cell_named(const char* flag, const std::string& text);

// Throws UnfitEnvironment where the environment says that there must be a GPU and there is none.
void insist_on_required_gpu();

}  // namespace assay
