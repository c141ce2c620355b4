#include "assay.h"
#include "inline_ptx.cu"
ASSAY_VARIANT(inline_ptx, "Two slices in flight by cp.async.", Needs{.m_most = 65535 * 16, .packed = true, .compute_capability = 80},
              Tile{16, 16, 16}, Order::one_fma_chain) {
  sgemm_cp_async<<<dim3((n + 15) / 16, (m + 15) / 16), 64, 0, stream>>>(a, b, c, m, n, k, alpha, beta);
}
