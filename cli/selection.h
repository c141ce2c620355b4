// Which variants, backends and claims a command is about. Refuses, with BadInput, an unknown name
// (and suggests the nearest) and a choice that leaves a named variant without a backend.
#pragma once

#include <string>
#include <vector>

#include "oracle/case.h"
#include "properties/claims.h"
#include "regress/cell.h"

namespace assay {

class JsonValue;

// A backend of this build, and whether it can be used here.
struct BackendState {
  Backend backend;
  int variants = 0;     // that are compiled for it
  std::string why_not;  // empty if it can be used
};
std::vector<BackendState> backend_states();
inline constexpr const char* no_kernels_of_nvcc =
    "this build has no kernels of nvcc: run ci/get-nvcc, and configure with the preset ptx";
inline constexpr const char* no_kernels =
    "assay has no kernels of its own here: name a FILE, as in `assay check mine.cu`";
JsonValue json_of(const std::vector<BackendState>&);
JsonValue json_of(const Variant&);

struct Selection {
  std::vector<Entry> entries;  // that can run here
  std::vector<const Claim*> claims;
  std::vector<std::string> left_out;  // backends that cannot be used here, and why
};

// Empty lists stand for everything; `about_one_case` leaves out the claims that cannot be about a
// given case. Throws BadInput. If a backend is named but cannot be used, there are no entries at
// all: judging half of what was asked for is not a pass.
Selection select(const std::vector<std::string>& variants, const std::vector<std::string>& backends,
                 const std::vector<std::string>& claims, bool about_one_case);

// Throws BadInput for a variant that no backend of this build has.
void refuse_unknown(const std::vector<std::string>& variants);

// The named variants, or all, that are compiled for a GPU. Throws BadInput for a named one that is
// not.
std::vector<std::string> variants_for_gpu(const std::vector<std::string>& named);

// The words that name the files of these variants, or of all, with a blank behind; empty for the
// ladder, which needs none.
std::string files_of(const std::vector<std::string>& variants);

// Reads a case. Throws BadInput that begins with `flag`.
Case problem_named(const char* flag, const std::string& text);

// Reads a cell of a known variant. Throws BadInput that begins with `flag`.
Cell cell_named(const char* flag, const std::string& text);

// Throws UnfitEnvironment if ASSAY_REQUIRE_GPU demands a GPU and none can be used.
void refuse_missing_gpu();

}  // namespace assay
