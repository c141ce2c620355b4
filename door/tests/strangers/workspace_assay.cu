#include "assay.h"
#include "workspace.cu"
static std::int64_t bytes_of(const assay::Gemm& g) { return g.m * g.k * sizeof(float); }
ASSAY_VARIANT(workspace_of_a, "Packs A first.", Workspace{bytes_of}, Needs{.m_most = 4096, .n_most = 4096, .k_most = 4096}) {
  float* const packed = static_cast<float*>(workspace);
  if (k > 0) pack<<<(m * k + 127) / 128, 128, 0, stream>>>(a, packed, m, k, lda);
  multiply<<<(m * n + 127) / 128, 128, 0, stream>>>(packed, b, c, m, n, k, ldb, ldc, alpha, beta);
}
