#include "assay.h"
#include "tensor_cores.cu"
ASSAY_VARIANT(tensor_cores, "A warp for 16 by 16 of C.", Arithmetic::tf32, Tile{16, 16, 8},
              Needs{.m_multiple = 16, .n_multiple = 16, .k_multiple = 8, .m_most = 65535 * 16, .lda_multiple = 4, .ldb_multiple = 4, .ldc_multiple = 4, .a_alignment = 32, .b_alignment = 32, .c_alignment = 32, .compute_capability = 80}) {
  gemm_wmma<<<dim3(n / 16, m / 16), 32, 0, stream>>>(a, b, c, m, n, k, lda, ldb, ldc, alpha, beta);
}
