// Brings a kernel to assay as it is. All of a file that does so, beside the author's:
//
//   #include "assay.h"
//   #include "mine.cu"
//   ASSAY_VARIANT(mine, "One thread per element.", Needs{.packed = true}) {
//     mine<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), 0, stream>>>(m, n, k, alpha, a, b,
//     beta, c);
//   }
//
// and `assay check mine_assay.cu` judges it. The braces hold the launch. They are given the problem
//
//   C = alpha * A * B + beta * C        A is m x k, B is k x n, C is m x n
//
// as int m, n, k, lda, ldb, ldc; float alpha, beta; float *a, *b, *c; cudaStream_t stream, and as
// `g`, with 64-bit sizes (kernels/gemm.h). `ld` is the distance from one row to the next. They are
// not called where C is empty; k is 0 where alpha is, for A and B must not be read then. They
// return a cudaError_t or nothing. What the kernel does not take, and what else is to be known of
// it, comes after the sentence, in any order; kernels/gemm.h has all of it:
//
//   Needs{.m_multiple = 64, .packed = true}  problems that it takes; all others are refused
//   Tile{64, 64, 8}                          the part of C and the slice of k of a block: tests
//                                            aim at its edges
//   Arithmetic::tf32, Arithmetic::tf32x3     the bound that it is judged by, if not that of fp32
//   Order::one_fma_chain                     sums so that every bit is known
//   Layout::column_major                     all three matrices are, and `ld` is from column to
//                                            column; needs and tile are those of its own m and n
//   Offsets::of_64_bits                      matrices may have 2^31 elements and more
//   Bits::may_differ                         from one call to the next, as with atomics; then parts
//                                            of a sum below 2^-126 may be lost, too, as atomic
//                                            additions of a GPU take them for zero
//   Stream::legacy                           what the braces call takes no stream, and launches in
//                                            the default stream: that and `stream` then wait for
//                                            each other (for nvcc; such work cannot be captured)
//   Workspace{bytes_of}                      so many bytes, a function of `g`, that the braces are
//                                            given as void* workspace
#pragma once

#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/gemm.h"

namespace assay {

enum class Layout { row_major, column_major };
enum class Offsets { of_32_bits, of_64_bits };
enum class Bits { are_the_same, may_differ };
#if defined(__CUDACC__)
enum class Stream { given, legacy };
#endif
struct Workspace {
  std::int64_t (*bytes)(const Gemm&) = nullptr;
};

namespace adapter {

struct Options {
  Needs needs;
  Tile tile;
  Arithmetic arithmetic = Arithmetic::fp32;
  Order order = Order::unspecified;
  Layout layout = Layout::row_major;
  Offsets offsets = Offsets::of_32_bits;
  Bits bits = Bits::are_the_same;
  Workspace workspace;
  bool in_legacy_stream = false;

  void take(const Needs& value) { needs = value; }
  void take(const Tile& value) { tile = value; }
  void take(Arithmetic value) { arithmetic = value; }
  void take(Order value) { order = value; }
  void take(Layout value) { layout = value; }
  void take(Offsets value) { offsets = value; }
  void take(Bits value) { bits = value; }
  void take(const Workspace& value) { workspace = value; }
#if defined(__CUDACC__)
  void take(Stream value) { in_legacy_stream = value == Stream::legacy; }
#endif
};

// C = A * B by columns is C^T = B^T * A^T by rows: the same memory, with A and B, m and n changed
// over.
inline Needs by_rows(Needs needs) {
  std::swap(needs.m_multiple, needs.n_multiple);
  std::swap(needs.m_least, needs.n_least);
  std::swap(needs.m_most, needs.n_most);
  std::swap(needs.lda_multiple, needs.ldb_multiple);
  std::swap(needs.a_alignment, needs.b_alignment);
  return needs;
}
inline Tile by_rows(const Tile& tile) { return {tile.n, tile.m, tile.k}; }
inline Gemm by_columns(const Gemm& g) {
  return {g.n, g.m, g.k, g.alpha, g.beta, g.b, g.ldb, g.a, g.lda, g.c, g.ldc};
}

template <class Tag>
Options options_of;

template <class Tag>
Gemm own(const Gemm& by_row) {
  return options_of<Tag>.layout == Layout::column_major ? by_columns(by_row) : by_row;
}

#if defined(__CUDACC__)
// What `later` does from now on comes after all that `earlier` was given until now.
inline cudaError_t order(cudaEvent_t event, cudaStream_t earlier, cudaStream_t later) {
  const cudaError_t error = cudaEventRecord(event, earlier);
  return error != cudaSuccess ? error : cudaStreamWaitEvent(later, event, 0);
}
// Between two streams, with an event that is there before anything is launched: what is under way
// can then be waited for.
template <class Call>
cudaError_t call_in(cudaStream_t inner, cudaStream_t outer, const Call& call) {
  cudaEvent_t event;
  cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  if (error != cudaSuccess) return error;
  const auto keep = [&](cudaError_t other) { error = error != cudaSuccess ? error : other; };
  keep(order(event, outer, inner));
  if (error == cudaSuccess) {
    keep(call());
    keep(order(event, inner, outer));
  }
  keep(cudaEventDestroy(event));
  return error;
}
#endif

// `assay_launch` is found by its tag, where the author's braces define it.
template <class Tag>
cudaError_t call_launch(const Gemm& g, cudaStream_t stream, void* workspace) {
  const auto call = [&] {
    return assay_launch(static_cast<Tag*>(nullptr), g, static_cast<int>(g.m), static_cast<int>(g.n),
                        g.alpha == 0 ? 0 : static_cast<int>(g.k), g.alpha, const_cast<float*>(g.a),
                        static_cast<int>(g.lda), const_cast<float*>(g.b), static_cast<int>(g.ldb),
                        g.beta, g.c, static_cast<int>(g.ldc), stream, workspace);
  };
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    return cudaGetLastError();
  } else {
    return call();
  }
}

template <class Tag>
cudaError_t launch_in(const Gemm& by_row, cudaStream_t stream, void* workspace) {
  if (by_row.m == 0 || by_row.n == 0) return cudaSuccess;
  const Gemm g = own<Tag>(by_row);
#if defined(__CUDACC__)
  if (options_of<Tag>.in_legacy_stream)
    return call_in(cudaStreamLegacy, stream,
                   [&] { return call_launch<Tag>(g, stream, workspace); });
#endif
  return call_launch<Tag>(g, stream, workspace);
}

template <class Tag>
cudaError_t launch(const Gemm& by_row, cudaStream_t stream) {
  return launch_in<Tag>(by_row, stream, nullptr);
}
template <class Tag>
std::int64_t workspace(const Gemm& by_row) {
  return options_of<Tag>.workspace.bytes(own<Tag>(by_row));
}

template <class Tag, class... Values>
Registrar variant(const char* name, const char* idea, const Values&... values) {
  Options& options = options_of<Tag>;
  (options.take(values), ...);
  const bool columns = options.layout == Layout::column_major;
  const bool in_workspace = options.workspace.bytes != nullptr;
  Needs needs = columns ? by_rows(options.needs) : options.needs;
  for (std::int64_t* most : {&needs.m_most, &needs.n_most, &needs.k_most})
    *most = *most < std::numeric_limits<int>::max() ? *most : std::numeric_limits<int>::max();
  needs.int_indices |= options.offsets == Offsets::of_32_bits;
  return Registrar({.name = name,
                    .idea = idea,
                    .launch = in_workspace ? Launch(&launch_in<Tag>) : Launch(&launch<Tag>),
                    .needs = needs,
                    .arithmetic = options.arithmetic,
                    .order = options.order,
                    .tile = columns ? by_rows(options.tile) : options.tile,
                    .deterministic = options.bits == Bits::are_the_same,
                    .workspace = in_workspace ? &workspace<Tag> : nullptr,
                    .column_major = columns,
                    .in_legacy_stream = options.in_legacy_stream});
}

}  // namespace adapter
}  // namespace assay

#define ASSAY_LAUNCH_OF(NAME)                                                                      \
  static auto assay_launch(assay_variant_##NAME*, [[maybe_unused]] const assay::Gemm& g,           \
                           [[maybe_unused]] int m, [[maybe_unused]] int n, [[maybe_unused]] int k, \
                           [[maybe_unused]] float alpha, [[maybe_unused]] float* a,                \
                           [[maybe_unused]] int lda, [[maybe_unused]] float* b,                    \
                           [[maybe_unused]] int ldb, [[maybe_unused]] float beta,                  \
                           [[maybe_unused]] float* c, [[maybe_unused]] int ldc,                    \
                           [[maybe_unused]] cudaStream_t stream, [[maybe_unused]] void* workspace)

#define ASSAY_VARIANT(NAME, IDEA, ...)                                                     \
  struct assay_variant_##NAME;                                                             \
  ASSAY_LAUNCH_OF(NAME);                                                                   \
  static const assay::Registrar assay_registrar_##NAME = [] {                              \
    using namespace assay;                                                                 \
    return adapter::variant<assay_variant_##NAME>(#NAME, IDEA __VA_OPT__(, ) __VA_ARGS__); \
  }();                                                                                     \
  ASSAY_LAUNCH_OF(NAME)
