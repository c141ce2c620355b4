#include "assay.h"
#include "macros.cu"
ASSAY_VARIANT(macros, "One thread per element, through a launcher.", Needs{.n_most = 65535 * 16, .packed = true}) {
  return run_sgemm_coalesced(m, n, k, alpha, a, b, beta, c, stream);
}
