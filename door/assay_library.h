/* Lets a compiled library be judged, whatever language it was written in: one that exports the
 * table below. `assay check --library libmine.so` loads it. All of one in C:
 *
 *   #include <assay_library.h>
 *
 *   static int launch(const assay_gemm *g, void *stream, void *workspace) {
 *     return my_sgemm(g->m, g->n, g->k, g->alpha, g->a, g->lda, g->b, g->ldb, g->beta, g->c,
 * g->ldc);
 *   }
 *   static const assay_variant variants[] = {
 *       {.name = "mine", .idea = "One sentence.", .memory = ASSAY_HOST_MEMORY, .launch = launch}};
 *   const assay_library assay_library_table = {ASSAY_LIBRARY_VERSION, 1, variants};
 *
 * What is 0, as all is that is not named, asks for nothing. Strings and tables must last as long as
 * the library is loaded. A library is loaded into several processes, and may start its own threads
 * in `launch`, not when it is loaded. */
#ifndef ASSAY_LIBRARY_H
#define ASSAY_LIBRARY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A table of any other version is refused: a number changes with every change to what follows. */
#define ASSAY_LIBRARY_VERSION 1

/* C = alpha * A * B + beta * C: A is m x k, B is k x n, C is m x n, and each `ld` is the distance
 * in floats from one row to the next, or by columns, from one column to the next. */
typedef struct assay_gemm {
  int64_t m, n, k; /* each may be 0 */
  float alpha, beta;
  const float* a; /* A and B are only read, and not at all where alpha or k is 0 */
  int64_t lda;
  const float* b;
  int64_t ldb;
  float* c; /* only written where beta is 0; nothing between or beside the rows is touched */
  int64_t ldc;
} assay_gemm;

/* Whose memory the matrices and the workspace are in. It decides where a variant can be judged. */
enum {
  ASSAY_HOST_MEMORY = 1, /* on every computer; backend `host`. `stream` is null, and C is finished
                            when `launch` returns */
  ASSAY_GPU_MEMORY = 2   /* where there is a GPU alone; backend `cuda`. Pointers are of the device
                            that is current, `stream` is a cudaStream_t of it, and all work is put
                            on it; `launch` need not wait */
};
enum { ASSAY_FP32 = 0, ASSAY_TF32 = 1, ASSAY_TF32X3 = 2 }; /* chooses the error bound */
enum { ASSAY_ANY_ORDER = 0, ASSAY_ONE_FMA_CHAIN = 1 };     /* sum = fmaf(a, b, sum), k ascending */
enum { ASSAY_ROW_MAJOR = 0, ASSAY_COLUMN_MAJOR = 1 };      /* of all three matrices */

/* The problems that a variant takes; all others are refused before it is called. */
typedef struct assay_needs {
  int32_t m_multiple, n_multiple, k_multiple;
  int32_t lda_multiple, ldb_multiple, ldc_multiple;
  int64_t m_least, n_least, k_least;
  int64_t m_most, n_most, k_most;
  int32_t a_alignment, b_alignment, c_alignment; /* bytes, up to 256 */
  int32_t square;                                /* m == n == k */
  int32_t int_indices;        /* every matrix spreads over less than 2^31 elements */
  int32_t packed;             /* no gap between rows, or columns */
  int32_t alpha_one;          /* alpha == 1 */
  int32_t beta_zero;          /* beta == 0 */
  int32_t compute_capability; /* 80 stands for sm_80 */
} assay_needs;

typedef struct assay_variant {
  const char* name; /* letters, digits and underscores */
  const char* idea; /* one sentence */
  int32_t memory;
  int32_t arithmetic;
  int32_t order;
  int32_t layout;
  /* From one call to the next, as with atomics: parts of a sum below 2^-126 may be lost, too. */
  int32_t bits_may_differ;
  int32_t tile_m, tile_n, tile_k; /* what one block computes: tests aim at its edges */
  assay_needs needs;
  /* Computes C. Returns 0, or an error: on a GPU, a cudaError_t. */
  int (*launch)(const assay_gemm*, void* stream, void* workspace);
  /* How many bytes of memory `launch` is given as workspace; null for none. */
  int64_t (*workspace)(const assay_gemm*);
} assay_variant;

typedef struct assay_library {
  int32_t version; /* ASSAY_LIBRARY_VERSION */
  int32_t count;
  const assay_variant* variants;
} assay_library;

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
extern const assay_library assay_library_table;

#ifdef __cplusplus
}
#endif

#endif
