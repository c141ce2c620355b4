#include "assay.h"
#include "legacy_stream.cu"
ASSAY_VARIANT(legacy_stream, "Scales C, then adds to it, in the default stream.", Needs{.m_most = 65535 * 16},
              Stream::legacy) {
  return static_cast<cudaError_t>(old_sgemm(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc));
}
