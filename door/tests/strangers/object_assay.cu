#include <map>

#include "assay.h"
#include "object.cu"
static std::map<cudaStream_t, Sgemm> sgemms;  // each has a buffer that it keeps
ASSAY_VARIANT(object, "Keeps B transposed.", Needs{.packed = true}, Order::one_fma_chain) {
  return sgemms[stream](m, n, k, alpha, a, b, beta, c, stream);
}
