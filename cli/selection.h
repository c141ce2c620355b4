// Which variants, backends and claims a command is about. A name that nobody knows is an error that
// suggests the near ones, and so is a choice that leaves a named variant without a backend.
#pragma once

#include <string>
#include <vector>

#include "properties/claims.h"

namespace assay {

// A backend of this build, and why it cannot be used here; empty if it can.
struct BackendState {
  Backend backend;
  int variants = 0;  // that are compiled for it
  std::string why_not;
};
std::vector<BackendState> backend_states();

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

// Throws UnfitEnvironment where the environment says that there must be a GPU and there is none.
void insist_on_required_gpu();

}  // namespace assay
