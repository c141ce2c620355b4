#include "assay.h"
#include "templates.cuh"
ASSAY_VARIANT(templates, "Tiles of 16 by 16 in shared memory.", Needs{.m_most = 65535 * 16}, Tile{16, 16, 16}) {
  const dim3 grid((n + 15) / 16, (m + 15) / 16);
  gemm::tiled<float, 16, 16, 16><<<grid, dim3(16, 16), 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha, beta);
}
