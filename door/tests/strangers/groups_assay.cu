#include "assay.h"
#include "groups.cu"
ASSAY_VARIANT(groups, "A warp for each element.") {
  const auto blocks = static_cast<unsigned>((g.m * g.n + 3) / 4);
  sgemm_groups<<<blocks, 128, 0, stream>>>(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
