#include "assay.h"
#include "columns.cu"
ASSAY_VARIANT(columns, "A thread for each element, columns first.", Layout::column_major, Needs{.n_most = 65535}) {
  sgemm_nn<<<dim3((m + 63) / 64, n), 64, 0, stream>>>(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
