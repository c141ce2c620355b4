#include "assay.h"
#include "ptx/tests/foreign/kernels/dynamic_tiles.cuh"
ASSAY_VARIANT(dynamic, "Tiles in dynamic shared memory.", Needs{.m_most = 65535 * 16, .packed = true}, Tile{16, 16, 16}) {
  gemm_dynamic<float, 16><<<dim3((n + 15) / 16, (m + 15) / 16), 256, 2 * 16 * 17 * sizeof(float), stream>>>(
      a, b, c, m, n, k, alpha, beta);
}
