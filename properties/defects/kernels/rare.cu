// Faults that only one problem in thousands meets: a rare size or scalar, addresses and distances
// between matrices, the call before. All of it is decided by the launch function.
#include <algorithm>

#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

cudaError_t launch_right(const Gemm& g, cudaStream_t stream) {
  return launch_plain<Right>(g, stream);
}
cudaError_t launch_without_last_product(Gemm g, cudaStream_t stream) {
  if (g.k > 0) g.k -= 1;
  return launch_right(g, stream);
}
std::uintptr_t address(const float* p) { return reinterpret_cast<std::uintptr_t>(p); }

// A table of plans, found by a hash of the sizes, has one bad entry.
cudaError_t bad_entry_of_a_hash_table(const Gemm& g, cudaStream_t stream) {
  const std::int64_t entry = (g.m * 40503 + g.n * 9973 + g.k * 601) % 16381;
  return entry == 77 ? launch_without_last_product(g, stream) : launch_right(g, stream);
}

// Scalars that were seen before are known by a hash of their bits.
cudaError_t hash_of_beta(const Gemm& g, cudaStream_t stream) {
  Gemm wrong = g;
  const bool is_known = (__float_as_uint(g.beta) * 0x9e3779b1u) >> 21 == 0x155u;
  if (is_known) wrong.beta = 2 * g.beta;
  return launch_right(wrong, stream);
}

// A call whose m and k are those of the call before, exchanged, is taken for its gradient.
cudaError_t exchanged_since_last_call(const Gemm& g, cudaStream_t stream) {
  static std::int64_t last_m = 0, last_k = 0;
  const bool is_exchanged = g.m == last_k && g.k == last_m && g.m != g.k;
  last_m = g.m, last_k = g.k;
  return is_exchanged ? launch_without_last_product(g, stream) : launch_right(g, stream);
}

// B and C in one bank of some cache.
cudaError_t unlucky_addresses(const Gemm& g, cudaStream_t stream) {
  const bool is_unlucky = (address(g.b) >> 5 & 7) == 6 && (address(g.c) >> 4 & 15) == 11;
  return is_unlucky ? launch_without_last_product(g, stream) : launch_right(g, stream);
}

// B that ends where C begins is taken for a batch, whose first matrix has no alpha.
cudaError_t c_right_behind_b(const Gemm& g, cudaStream_t stream) {
  Gemm wrong = g;
  if (g.k > 0 && g.c == g.b + (g.k - 1) * g.ldb + g.n) wrong.alpha = 1;
  return launch_right(wrong, stream);
}

// One base for both inputs, and a distance of 32 bits.
cudaError_t distance_in_32_bits(const Gemm& g, cudaStream_t stream) {
  Gemm wrong = g;
  wrong.b = g.a + static_cast<int>(g.b - g.a);
  return launch_right(wrong, stream);
}

// k is shared out, to 96 at most: what is left is nobody's.
cudaError_t at_most_96_shares(const Gemm& g, cudaStream_t stream) {
  constexpr std::int64_t share = 1024, most_shares = 96;
  const std::int64_t shares = std::min(ceil_div(g.k, share), most_shares);
  Gemm wrong = g;
  if (g.m * g.n == 1) wrong.k = std::min(g.k, shares * share);
  return launch_right(wrong, stream);
}

constexpr Variant by(const char* name, cudaError_t (*launch)(const Gemm&, cudaStream_t)) {
  return {.name = name, .idea = idea, .launch = launch, .tile = tile};
}
const Registrar registrars[] = {
    by("bad_entry_of_a_hash_table", bad_entry_of_a_hash_table),
    by("hash_of_beta", hash_of_beta),
    by("exchanged_since_last_call", exchanged_since_last_call),
    by("unlucky_addresses", unlucky_addresses),
    by("c_right_behind_b", c_right_behind_b),
    by("distance_in_32_bits", distance_in_32_bits),
    by("at_most_96_shares", at_most_96_shares),
};

}  // namespace
}  // namespace assay::faulty
