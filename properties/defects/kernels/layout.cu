// Faults in where elements lie: distances between rows, addresses, transposition.
#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

// Where banks would collide, neighbours change places, and never change back.
struct SwizzledPitch : Right {
  static __device__ float a(const Gemm& g, std::int64_t row, std::int64_t p) {
    const bool swizzled = g.lda % 2048 == 0 && (p ^ 1) < g.k;
    return g.a[row * g.lda + (swizzled ? p ^ 1 : p)];
  }
};
// A distance that 1024 divides is taken for one with a padding of 4.
struct PitchTakenForPadded : Right {
  static __device__ void misread(Gemm& g) {
    if (g.ldb % 1024 == 0 && g.ldb > g.n) g.ldb -= 4;
  }
};
struct WideBTakenForPacked : Right {
  static __device__ void misread(Gemm& g) {
    if (g.n > 256) g.ldb = g.n;
  }
};
struct PackedC : Right {
  static __device__ void misread(Gemm& g) { g.ldc = g.n; }
};
struct PitchIn16Bits : Right {
  static __device__ void misread(Gemm& g) { g.lda = static_cast<std::uint16_t>(g.lda); }
};
struct PitchOfCForB : Right {
  static __device__ void misread(Gemm& g) { g.ldb = g.ldc; }
};
struct TransposedA : Right {
  static __device__ float a(const Gemm& g, std::int64_t row, std::int64_t p) {
    return g.m == g.k ? g.a[p * g.lda + row] : g.a[row * g.lda + p];
  }
};
struct TransposedB : Right {
  static __device__ float b(const Gemm& g, std::int64_t p, std::int64_t col) {
    return g.k == g.n ? g.b[col * g.ldb + p] : g.b[p * g.ldb + col];
  }
};
// What lies before the first whole vector of A is left out.
struct PeeledWithoutSum : Right {
  static __device__ void misread(Gemm& g) {
    if (reinterpret_cast<std::uintptr_t>(g.a) % 16 == 0 || g.k <= 64) return;
    g.a += 1, g.b += g.ldb, g.k -= 1;
  }
};
// B is read by fours where it begins at 16 bytes, whatever the distance between its rows.
struct RowsOfBByFours : Right {
  static __device__ float b(const Gemm& g, std::int64_t p, std::int64_t col) {
    const float* at = &g.b[p * g.ldb + col / 4 * 4];
    if (reinterpret_cast<std::uintptr_t>(g.b) % 16 != 0 || col / 4 * 4 + 4 > g.n)
      return Right::b(g, p, col);
    const float4 four = *reinterpret_cast<const float4*>(at);
    const float floats[4] = {four.x, four.y, four.z, four.w};
    return floats[col % 4];
  }
};
// Rows of C whose distance is a multiple of 8 are written by eights.
struct StoresByEights : Right {
  static __device__ void finish(const Gemm& g, float sum, std::int64_t row, std::int64_t col) {
    Right::finish(g, sum, row, col);
    if (g.ldc % 8 != 0 || g.ldc < g.n + 8 || col != g.n - 1) return;
    for (std::int64_t j = g.n; j % 8 != 0; ++j) g.c[row * g.ldc + j] = 0;
  }
};
struct NextRowOfA : Right {
  static __device__ float a(const Gemm& g, std::int64_t row, std::int64_t p) {
    const bool last_of_tile = row % 16 == 15 && row + 1 < g.m;
    return g.a[(row + last_of_tile) * g.lda + p];
  }
};
struct Int32IndexOfA : Right {
  static __device__ float a(const Gemm& g, std::int64_t row, std::int64_t p) {
    return g.a[static_cast<int>(row) * static_cast<int>(g.lda) + static_cast<int>(p)];
  }
};
struct Int32IndexOfC : Right {
  static __device__ void finish(const Gemm& g, float sum, std::int64_t row, std::int64_t col) {
    float* c = &g.c[static_cast<int>(row) * static_cast<int>(g.ldc) + static_cast<int>(col)];
    *c = blend(g, sum, c);
  }
};
struct Uint32IndexOfC : Right {
  static __device__ void finish(const Gemm& g, float sum, std::int64_t row, std::int64_t col) {
    const auto at =
        static_cast<unsigned>(row) * static_cast<unsigned>(g.ldc) + static_cast<unsigned>(col);
    g.c[at] = blend(g, sum, &g.c[at]);
  }
};
// Sums from the end where C begins in an odd page.
struct OrderByAddressOfC : Right {
  static __device__ float a(const Gemm& g, std::int64_t row, std::int64_t p) {
    return Right::a(g, row, place(g, p));
  }
  static __device__ float b(const Gemm& g, std::int64_t p, std::int64_t col) {
    return Right::b(g, place(g, p), col);
  }
  static __device__ std::int64_t place(const Gemm& g, std::int64_t p) {
    return reinterpret_cast<std::uintptr_t>(g.c) / 4096 % 2 == 0 ? p : g.k - 1 - p;
  }
};
// A path for operands as an allocation gives them takes eight steps of k at a time.
struct TailLostAt256Bytes : Right {
  static __device__ void misread(Gemm& g) {
    const auto addresses = reinterpret_cast<std::uintptr_t>(g.a) |
                           reinterpret_cast<std::uintptr_t>(g.b) |
                           reinterpret_cast<std::uintptr_t>(g.c);
    if (addresses % 256 == 0 && (g.n | g.lda | g.ldb | g.ldc) % 32 == 0) g.k -= g.k % 8;
  }
};

const Registrar registrars[] = {
    in_plain<SwizzledPitch>("lda_of_2048_swizzled"),
    in_plain<PitchTakenForPadded>("ldb_of_1024_taken_for_padded"),
    in_plain<WideBTakenForPacked>("wide_b_taken_for_packed"),
    in_plain<PackedC>("c_taken_for_packed"),
    in_plain<PitchIn16Bits>("lda_in_16_bits"),
    in_plain<PitchOfCForB>("ldc_for_ldb"),
    in_plain<TransposedA>("transposed_square_a"),
    in_plain<TransposedB>("transposed_square_b"),
    in_plain<PeeledWithoutSum>("peeled_element_lost"),
    in_plain<RowsOfBByFours>("rows_of_b_by_fours"),
    in_plain<StoresByEights>("stores_by_eights"),
    in_plain<NextRowOfA>("last_row_of_tile_shifted"),
    in_plain<Int32IndexOfA>("int32_index_of_a"),
    in_plain<Int32IndexOfC>("int32_index_into_c"),
    in_plain<Uint32IndexOfC>("uint32_index_into_c"),
    in_plain<OrderByAddressOfC>("order_by_address_of_c"),
    in_plain<TailLostAt256Bytes>("tail_lost_at_256_bytes"),
};

}  // namespace
}  // namespace assay::faulty
