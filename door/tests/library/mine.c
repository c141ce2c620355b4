/* A library in C, as somebody else would write it. The tests make wrong ones of it by -D. */
#include <assay_library.h>
#include <signal.h>
#include <unistd.h>

#ifndef SKIPPED
#define SKIPPED 0 /* elements at the end of each sum */
#endif
#ifndef SECOND_NAME
#define SECOND_NAME "by_columns"
#endif
#ifndef VERSION
#define VERSION ASSAY_LIBRARY_VERSION
#endif
#ifndef LAYOUT
#define LAYOUT ASSAY_COLUMN_MAJOR
#endif
#ifndef MEMORY
#define MEMORY ASSAY_HOST_MEMORY
#endif

static int rows(const assay_gemm *g, void *stream, void *workspace) {
  (void)stream, (void)workspace;
  for (int64_t i = 0; i < g->m; ++i) {
    for (int64_t j = 0; j < g->n; ++j) {
      float sum = 0, *c = &g->c[i * g->ldc + j];
      for (int64_t p = 0; p < g->k - SKIPPED && g->alpha != 0; ++p)
        sum += g->a[i * g->lda + p] * g->b[p * g->ldb + j];
      *c = g->alpha * sum + (g->beta == 0 ? 0 : g->beta * *c);
    }
  }
  return 0;
}

/* Sums in its workspace, a column of C at a time. */
static int64_t a_column(const assay_gemm *g) { return g->m * (int64_t)sizeof(float); }
static int columns(const assay_gemm *g, void *stream, void *workspace) {
  (void)stream;
  float *const sums = workspace;
  for (int64_t j = 0; j < g->n; ++j) {
    for (int64_t i = 0; i < g->m; ++i) sums[i] = 0;
    for (int64_t p = 0; p < g->k && g->alpha != 0; ++p) {
      for (int64_t i = 0; i < g->m; ++i) sums[i] += g->a[p * g->lda + i] * g->b[j * g->ldb + p];
    }
    for (int64_t i = 0; i < g->m; ++i) {
      float *const c = &g->c[j * g->ldc + i];
      *c = g->alpha * sums[i] + (g->beta == 0 ? 0 : g->beta * *c);
    }
  }
  return 0;
}

#ifdef CRASHES
__attribute__((constructor)) static void crash(void) { raise(SIGSEGV); }
#endif

#ifdef HANGS
__attribute__((constructor)) static void hang(void) { for (;;) sleep(1); }
#endif

static const assay_variant variants[] = {
    {.name = "by_rows", .idea = "Row by row.", .memory = MEMORY, .needs = {.m_multiple = 2}, .launch = rows},
    {.name = SECOND_NAME,
     .idea = "Column by column, in workspace.",
     .memory = ASSAY_HOST_MEMORY,
     .layout = LAYOUT,
     .needs = {.n_most = 90},
     .launch = columns,
     .workspace = a_column}};

const assay_library assay_library_table = {VERSION, 2, variants};
