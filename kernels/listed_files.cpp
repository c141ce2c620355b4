// Gives the registry the list of kernel files, which the build writes.
#include "kernels/registry.h"

namespace {

constexpr assay::KernelFile listed[] = {
#include "kernels/listed_files.inc"
};

[[maybe_unused]] const bool expected = [] {
  assay::expect_variants_of(listed);
  return true;
}();

}  // namespace
