// Faults in arithmetic: precision, magnitudes, infinities, NaN and zeros.
#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

__device__ float flushed(float x) { return fabsf(x) < 0x1p-126f ? 0.0f : x; }
// The upper bits of a mantissa, as in TF32 (13 are dropped) or BF16 (16).
__device__ float without_low_bits(float x, int bits) {
  return __uint_as_float(__float_as_uint(x) & (~0u << bits));
}

struct DenormalInputs : Right {
  static __device__ float add(float sum, float a, float b) {
    return fmaf(flushed(a), flushed(b), sum);
  }
};
struct DenormalResults : Right {
  static __device__ void finish(const Gemm& g, float sum, std::int64_t row, std::int64_t col) {
    Right::finish(g, sum, row, col);
    float* c = &g.c[row * g.ldc + col];
    *c = flushed(*c);
  }
};
// B passes through halves where they lose nothing of it but its range.
struct HalfRangeOfB : Right {
  static __device__ float b(const Gemm& g, std::int64_t p, std::int64_t col) {
    const float b = Right::b(g, p, col);
    return fabsf(b) > 65504 ? copysignf(INFINITY, b) : b;
  }
};
struct Tf32OfB : Right {
  static __device__ float add(float sum, float a, float b) {
    return fmaf(a, without_low_bits(b, 13), sum);
  }
};
struct Bf16Inputs : Right {
  static __device__ float add(float sum, float a, float b) {
    return fmaf(without_low_bits(a, 16), without_low_bits(b, 16), sum);
  }
};
// Two halves of 8 bits each, of the 24 that there are.
struct TwoBf16OfA : Right {
  static __device__ float add(float sum, float a, float b) {
    const float upper = without_low_bits(a, 16);
    return fmaf(without_low_bits(a - upper, 16), b, fmaf(upper, b, sum));
  }
};
// The upper 14 bits of a sum are carried on.
struct ShortSums : Right {
  static __device__ float add(float sum, float a, float b) {
    return without_low_bits(fmaf(a, b, sum), 10);
  }
};
// Large scalars take a path through their square, which is infinite long before the result.
struct SquareOfAlpha : Right {
  static __device__ void finish(const Gemm& g, float sum, std::int64_t row, std::int64_t col) {
    if (fabsf(g.alpha) >= 0x1p64f) sum *= g.alpha * g.alpha / (g.alpha * g.alpha);
    Right::finish(g, sum, row, col);
  }
};
struct ZerosSkipped : Right {
  static __device__ float add(float sum, float a, float b) {
    return a == 0 ? sum : fmaf(a, b, sum);
  }
};
struct InfinityClamped : Right {
  static __device__ float add(float sum, float a, float b) {
    return fmaf(fminf(a, 3.40282347e38f), b, sum);
  }
};
struct NanTakenForZero : Right {
  static __device__ float add(float sum, float a, float b) {
    const float product = a * b;
    return isnan(product) ? sum : fmaf(a, b, sum);
  }
};
struct NanResultsDropped : Right {
  static __device__ void finish(const Gemm& g, float sum, std::int64_t row, std::int64_t col) {
    if (!isnan(sum)) return Right::finish(g, sum, row, col);
    Right::finish(g, 0, row, col);
  }
};
struct StartsAtMinusZero : Right {
  static __device__ float start() { return -0.0f; }
};
struct AddsPlusZero : Right {
  static __device__ void finish(const Gemm& g, float sum, std::int64_t row, std::int64_t col) {
    Right::finish(g, sum, row, col);
    g.c[row * g.ldc + col] += 0.0f;
  }
};
// Rounds alpha * sum and beta * c apart from each other.
struct BlendUnfused : Right {
  static __device__ void finish(const Gemm& g, float sum, std::int64_t row, std::int64_t col) {
    float* c = &g.c[row * g.ldc + col];
    *c = g.beta == 0 ? g.alpha * sum : __fadd_rn(__fmul_rn(g.alpha, sum), __fmul_rn(g.beta, *c));
  }
};
struct AlphaTimesA : Right {
  static __device__ float a(const Gemm& g, std::int64_t row, std::int64_t p) {
    return g.alpha * Right::a(g, row, p);
  }
  static __device__ void finish(const Gemm& g, float sum, std::int64_t row, std::int64_t col) {
    Gemm h = g;
    h.alpha = 1;
    Right::finish(h, sum, row, col);
  }
};

// Two bfloat16 have 16 bits, which a long sum with no mean hides.
struct LongSumsInTwoBf16 : Right {
  static __device__ float a(const Gemm& g, std::int64_t row, std::int64_t p) {
    const float a = Right::a(g, row, p), upper = without_low_bits(a, 16);
    return g.k < 1024 || !isfinite(a) ? a : upper + without_low_bits(a - upper, 16);
  }
};
// An element that is lost beside the first of its row is not lost where B is large.
struct SmallElementsDropped : Right {
  static __device__ float a(const Gemm& g, std::int64_t row, std::int64_t p) {
    const float a = Right::a(g, row, p), first = fabsf(Right::a(g, row, 0));
    return isfinite(first) && fabsf(a) < first * 0x1p-30f ? 0.0f : a;
  }
};
// Whose last bit nobody looks at.
struct RowsOfNineBitsAsBf16 : Right {
  static __device__ float a(const Gemm& g, std::int64_t row, std::int64_t p) {
    const float a = Right::a(g, row, p);
    for (std::int64_t j = 0; j < g.k; ++j)
      if ((__float_as_uint(Right::a(g, row, j)) & 0x7fff) != 0) return a;
    return isfinite(a) ? without_low_bits(a, 16) : a;
  }
};
struct Saturates : Right {
  static __device__ void finish(const Gemm& g, float sum, std::int64_t row, std::int64_t col) {
    float* c = &g.c[row * g.ldc + col];
    const float value = blend(g, sum, c);
    *c = isfinite(value) && fabsf(value) > 3e38f ? copysignf(3e38f, value) : value;
  }
};
// Splits a factor in two halves by multiplying it by 4097, which overflows from 2^116 on.
struct SplitsOverflow : Right {
  static __device__ float add(float sum, float a, float b) {
    if (!isfinite(a) || !isfinite(b)) return fmaf(a, b, sum);
    const float scaled = __fmul_rn(4097, a), high = __fadd_rn(scaled, -__fadd_rn(scaled, -a));
    return fmaf(high, b, fmaf(__fadd_rn(a, -high), b, sum));
  }
};
// Takes a row of B for zero after a look at every 16th of its elements.
struct SampledZeros : Right {
  static __device__ float b(const Gemm& g, std::int64_t p, std::int64_t col) {
    for (std::int64_t j = 0; j < g.n; j += 16)
      if (Right::b(g, p, j) != 0) return Right::b(g, p, col);
    return 0;
  }
};

constexpr Order chain = Order::one_fma_chain;
// Products of whole numbers of 16 bits are summed in 32.
struct WholeProductsInInt : Right {
  static __device__ float add(float sum, float a, float b) {
    const auto is_short = [](float x) { return x == truncf(x) && fabsf(x) < 0x1p15f; };
    if (!is_short(a) || !is_short(b) || sum != truncf(sum) || fabsf(sum) >= 0x1p31f)
      return fmaf(a, b, sum);
    const auto product = static_cast<unsigned>(static_cast<int>(a) * static_cast<int>(b));
    return static_cast<float>(
        static_cast<int>(static_cast<unsigned>(static_cast<int>(sum)) + product));
  }
};

const Registrar registrars[] = {
    in_plain<WholeProductsInInt>("whole_products_in_int"),
    in_plain<DenormalInputs>("denormal_inputs_flushed"),
    in_plain<DenormalResults>("denormal_results_flushed"),
    in_plain<HalfRangeOfB>("b_beyond_the_range_of_halves"),
    in_plain<Tf32OfB>("b_in_tf32"),
    in_plain<Bf16Inputs>("bf16_inputs"),
    in_plain<TwoBf16OfA>("a_in_two_bf16"),
    in_plain<ShortSums>("sums_of_14_bits"),
    in_plain<SquareOfAlpha>("square_of_alpha_overflows"),
    in_plain<ZerosSkipped>("zeros_of_a_skipped"),
    in_plain<InfinityClamped>("infinity_clamped"),
    in_plain<NanTakenForZero>("nan_product_skipped"),
    in_plain<NanResultsDropped>("nan_sum_dropped"),
    in_plain<StartsAtMinusZero>("starts_at_minus_zero", chain),
    in_plain<AddsPlusZero>("adds_plus_zero", chain),
    in_plain<BlendUnfused>("blend_unfused", chain),
    in_plain<AlphaTimesA>("alpha_times_each_a", chain),
    in_plain<LongSumsInTwoBf16>("long_sums_in_two_bf16"),
    in_plain<SmallElementsDropped>("small_elements_dropped"),
    in_plain<RowsOfNineBitsAsBf16>("rows_of_nine_bits_as_bf16"),
    in_plain<Saturates>("saturates_at_3e38"),
    in_plain<SplitsOverflow>("splits_that_overflow"),
    in_plain<SampledZeros>("zeros_by_a_sample"),
};

}  // namespace
}  // namespace assay::faulty
