#include "assay.h"
#include "object.cu"
static Sgemm sgemm;
ASSAY_VARIANT(object, "Keeps B transposed.", Needs{.packed = true}, Order::one_fma_chain) {
  return sgemm(m, n, k, alpha, a, b, beta, c, stream);
}
