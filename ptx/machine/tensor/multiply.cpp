// mma and wmma.mma.
#include <algorithm>
#include <limits>

#include "ptx/machine/block.h"
#include "ptx/machine/handlers.h"
#include "ptx/machine/tensor/cores.h"
#include "ptx/machine/tensor/elements.h"

namespace ptx {
namespace {

constexpr int most = 512;  // elements of a matrix: m32k16

template <class T>
void multiply_into(T* c, const T* a, const T* b, const MatrixOp& o) {
  const int m = o.a.rows, n = o.b.columns, k = o.a.columns;
  if constexpr (std::is_same_v<T, float>) {
    const Cores cores{o.a.type, o.b.type, o.d.type};
    if (!cores.has_eight_bits()) return multiply_in_cores(c, a, b, m, n, k, cores);
  }
  switch (n) {
    case 8: return multiply_columns<8>(c, a, b, m, 8, k);
    case 16: return multiply_columns<16>(c, a, b, m, 16, k);
    default: return multiply_columns<32>(c, a, b, m, 32, k);
  }
}

// An element of A reaches all sums of its row, one of B all of its column.
void follow(const MatrixOp& o, Warp& w) {
  bool a[most] = {}, b[most] = {}, c[most] = {};
  take_taint(o.a, w, a);
  take_taint(o.b, w, b);
  take_taint(o.c, w, c);
  const int m = o.a.rows, n = o.b.columns, k = o.a.columns;
  for (int i = 0; i < m; ++i)
    for (int p = 0; p < k; ++p)
      for (int j = 0; j < n; ++j) c[i * n + j] |= a[i * k + p] || b[p * n + j];
  give_taint(o.d, w, c);
}

template <class T>
const Op* multiply(const Op* op, Warp& w) {
  if (!is_whole(w, op)) return next_group(w);
  const MatrixOp& o = w.block->run->kernel.matrices[static_cast<std::size_t>(op->e)];
  if (w.has_taint) follow(o, w);
  T a[most], b[most], c[most];
  take(o.a, w, a);
  take(o.b, w, b);
  take(o.c, w, c);
  multiply_into(c, a, b, o);
  if constexpr (std::is_same_v<T, std::int64_t>)
    if (o.saturates)
      for (T& sum : c)
        sum = std::clamp<T>(sum, std::numeric_limits<std::int32_t>::min(),
                            std::numeric_limits<std::int32_t>::max());
  give(o.d, w, c);
  return op + 1;
}

}  // namespace

void add_multiply_handlers(Handlers& to) {
  to["mma.f32"] = {multiply<float>, ""};
  to["mma.f64"] = {multiply<double>, ""};
  to["mma.s32"] = {multiply<std::int64_t>, ""};
}

}  // namespace ptx
