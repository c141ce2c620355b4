// The registry: which variants there are, what each demands of a problem, and why it refuses one.
// Refuses to list variants while one of them, or a kernel file without any, could not be judged.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "kernels/gemm.h"
#include "kernels/register.h"

namespace assay {

// A variant as compiled for one backend. Each backend may have a variant of the same name.
struct Entry {
  Variant variant;
  Backend backend;
  // The launch function of the build whose comparisons can be watched, on the CPU also for a
  // variant on a GPU; null where there is none.
  Launch watched_launch = nullptr;
  // The words with which a command names the file that it comes from; empty for the ladder.
  std::string source = {};
  // Whether it is judged on the PTX machine as well, which then takes the dear cases.
  bool is_on_ptx_too = false;
};

// A variant that could never be judged; the message names it and says why.
struct BadVariant : BadInput {
  using BadInput::BadInput;
};

// A file that the build lists as a kernel, compiled for one backend. One that is compiled for the
// CPU executor may have variants for the host instead.
struct KernelFile {
  const char* path;
  int position;
  Backend backend;
};

// Makes `registered` require a variant from each of these files: one that forgets to register would
// never be judged, and nobody would know.
void expect_variants_of(std::span<const KernelFile> files);

// Forgets all that has registered. What registers from now on comes from a file that a command
// names with these words.
void forget_variants();
void coming_from(std::string source);

// Every entry, in the order in which kernels/CMakeLists.txt lists their files. Throws BadVariant if
// two entries of a backend share a name, a record cannot be true, or a file registered nothing.
std::vector<Entry> registered();

// The entry with this name for this backend. Throws std::out_of_range if there is none.
Entry entry_named(std::string_view name, Backend backend);

std::string_view to_string(Backend);
std::string_view to_string(Arithmetic);
std::string_view to_string(Order);

// Why `variant` refuses `gemm`: it is malformed, or outside the variant's needs. Empty if it
// accepts.
std::string refusal(const Variant& variant, const Gemm& gemm);

// How many bytes of workspace a launch asks for, of a problem that the variant accepts.
std::int64_t workspace_of(const Variant& variant, const Gemm& gemm);

// One phrase for each demand of `needs`, such as "lda a multiple of 4".
std::vector<std::string> describe(const Needs& needs);

}  // namespace assay
