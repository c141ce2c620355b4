#include "assay.h"
#include "vectors.cu"
ASSAY_VARIANT(vectors, "Loads four floats at a time.", Tile{64, 64, 8},
              Needs{.m_multiple = 64, .n_multiple = 64, .k_multiple = 8, .m_most = 65535 * 64, .a_alignment = 16, .b_alignment = 16, .c_alignment = 16, .packed = true}) {
  sgemm_float4<<<dim3(n / 64, m / 64), 64, 0, stream>>>(a, b, c, m, n, k, alpha, beta);
}
