// Tells the registry which kernel files there are: the build writes their list.
#include "kernels/registry.h"

namespace {

constexpr assay::KernelFile listed[] = {
#include "kernels/listed_files.inc"
};

[[maybe_unused]] const bool told = [] {
  assay::expect_variants_of(listed);
  return true;
}();

}  // namespace
