#include "assay.h"
#include "split_k.cu"
ASSAY_VARIANT(split_k, "Four parts of k meet in C by atomics.", Needs{.m_most = 65535 * 16}, Bits::may_differ) {
  const dim3 grid((n + 15) / 16, (m + 15) / 16), block(16, 16);
  scale<<<grid, block, 0, stream>>>(c, m, n, ldc, beta);
  add_parts<<<dim3(grid.x, grid.y, 4), block, 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha);
}
