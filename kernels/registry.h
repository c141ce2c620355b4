// What is registered, and whether a variant accepts a problem.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "kernels/gemm.h"

namespace assay {

// One variant as compiled for one backend. The same name may be there once for each backend.
struct Entry {
  Variant variant;
  Backend backend;
};

// What a variant says of itself cannot be; the message names it.
struct BadVariant : BadInput {
  using BadInput::BadInput;
};

// A file that the build lists as a kernel, and for which of the two compilers.
struct KernelFile {
  const char* path;
  int position;
  bool for_gpu;
};

// From now on each of these files must have registered a variant: one that forgot to would never be
// judged, and nobody would know.
void expect_variants_of(std::span<const KernelFile> files);

// Every entry, in the order of the ladder: as the kernels are listed in kernels/CMakeLists.txt.
// Throws BadVariant if two have one name, one says of itself what cannot be, or an expected file
// has registered none.
std::vector<Entry> registered();

// The entry of that name for that backend. Throws std::out_of_range if there is none.
Entry entry_named(std::string_view name, Backend backend);

std::string_view to_string(Backend);
std::string_view to_string(Arithmetic);
std::string_view to_string(Order);

// Why `gemm` is not a well-formed problem, or is outside what `variant` accepts; empty if it is
// accepted.
std::string refusal(const Variant& variant, const Gemm& gemm);

// One phrase for each thing that `needs` demands, such as "lda a multiple of 4".
std::vector<std::string> describe(const Needs& needs);

}  // namespace assay
