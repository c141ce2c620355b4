#include "assay.h"
#include "clusters.cu"
ASSAY_VARIANT(clusters, "Four blocks share B.", Needs{.m_most = 65532 * 16, .packed = true, .compute_capability = 90}) {
  run_gemm_cluster(a, b, c, m, n, alpha == 0 ? 0 : k, alpha, beta, stream);
}
