// Gives the registry the lists of kernel files, which the build writes.
#include "kernels/left_out.h"
#include "kernels/registry.h"

namespace {

constexpr assay::KernelFile listed[] = {
#include "kernels/listed_files.inc"
};
constexpr assay::LeftOutFile left_out[] = {
#include "kernels/left_out_files.inc"
    {}};

[[maybe_unused]] const bool expected = [] {
  assay::expect_variants_of(listed);
  assay::leave_out(left_out);
  return true;
}();

}  // namespace
