// Faults in what becomes of alpha and beta.
#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

struct AlphaIn8Bits : Right {
  static __device__ void misread(Gemm& g) {
    if (g.alpha > 255) g.alpha = 255;
  }
};
struct TinyBetaDropped : Right {
  static __device__ void misread(Gemm& g) {
    if (fabsf(g.beta) < 1e-6f) g.beta = 0;
  }
};
// alpha * (sum - c) where beta is -alpha, with its sign lost.
struct OppositeScalars : Right {
  static __device__ void misread(Gemm& g) {
    if (g.beta == -g.alpha && fabsf(g.beta) != 1) g.beta = g.alpha;
  }
};
struct AlphaInHalf : Right {
  static __device__ void misread(Gemm& g) {
    g.alpha = __uint_as_float((__float_as_uint(g.alpha) + 0xfffu) & 0xffffe000u);
  }
};
struct BetaAsInt : Right {
  static __device__ void misread(Gemm& g) {
    if (fabsf(g.beta) < 100) g.beta = static_cast<float>(static_cast<int>(g.beta));
  }
};
struct AlphaTwoTwice : Right {
  static __device__ void misread(Gemm& g) {
    if (g.alpha == 2) g.alpha = 4;
  }
};
struct BetaOneForgetsAlpha : Right {
  static __device__ void misread(Gemm& g) {
    if (g.beta == 1 && g.alpha != 0) g.alpha = 1;
  }
};
struct AlphaOneForgetsBeta : Right {
  static __device__ void misread(Gemm& g) {
    if (g.alpha == 1) g.beta = 0;
  }
};
struct LargeAlphaLosesSign : Right {
  static __device__ void misread(Gemm& g) {
    if (g.alpha < -100) g.alpha = -g.alpha;
  }
};
// Compares bits: -0 is not 0.
struct MinusZeroBeta : Right {
  static __device__ void finish(const Gemm& g, float sum, std::int64_t row, std::int64_t col) {
    float* c = &g.c[row * g.ldc + col];
    *c = __float_as_uint(g.beta) == 0 ? g.alpha * sum : fmaf(g.beta, *c, g.alpha * sum);
  }
};
struct MinusZeroAlpha : Right {
  static __device__ void misread(Gemm& g) {
    if (__float_as_uint(g.alpha) == 0x80000000u) g.alpha = -0x1p-149f;
  }
};
// Scales the sum after each 256 products, with the ones from before.
struct AlphaInEveryChunk : Right {
  static __device__ void misread(Gemm& g) {
    if (g.k > 256) g.alpha *= g.alpha;
  }
};
// Scales what is added, and what was there.
struct AlphaTimesC : Right {
  static __device__ void finish(const Gemm& g, float sum, std::int64_t row, std::int64_t col) {
    float* c = &g.c[row * g.ldc + col];
    *c = g.beta == 0 ? g.alpha * sum : g.alpha * fmaf(g.beta, *c, sum);
  }
};
struct BetaTwiceAtEdges : Right {
  static __device__ void finish(const Gemm& g, float sum, std::int64_t row, std::int64_t col) {
    Gemm h = g;
    if (row / tile.m * tile.m + tile.m > g.m) h.beta *= g.beta;
    Right::finish(h, sum, row, col);
  }
};
struct AlphaAndBetaSwapped : Right {
  static __device__ void misread(Gemm& g) {
    if (g.alpha == 0 || g.beta == 0) return;
    const float alpha = g.alpha;
    g.alpha = g.beta, g.beta = alpha;
  }
};

// What is too small to matter is still a factor.
struct DenormalAlpha : Right {
  static __device__ void misread(Gemm& g) {
    if (fabsf(g.alpha) < 0x1p-126f) g.alpha = 0;
  }
};
struct DenormalBeta : Right {
  static __device__ void misread(Gemm& g) {
    if ((__float_as_uint(g.beta) >> 23 & 255) == 0) g.beta = 0;
  }
};
struct HugeAlphaLimited : Right {
  static __device__ void misread(Gemm& g) {
    if (fabsf(g.alpha) > 0x1p+110f) g.alpha = copysignf(0x1p+110f, g.alpha);
  }
};
// Begins the sum with beta / alpha * c, to multiply by alpha once: the quotient overflows before
// the result does.
struct CDividedByAlpha : Right {
  static __device__ void finish(const Gemm& g, float sum, std::int64_t row, std::int64_t col) {
    float* c = &g.c[row * g.ldc + col];
    *c = g.beta == 0 || g.alpha == 0 ? blend(g, sum, c) : g.alpha * (sum + g.beta / g.alpha * *c);
  }
};

const Registrar registrars[] = {
    in_plain<AlphaIn8Bits>("alpha_in_8_bits"),
    in_plain<TinyBetaDropped>("tiny_beta_taken_for_zero"),
    in_plain<OppositeScalars>("opposite_scalars_lose_sign"),
    in_plain<AlphaInHalf>("alpha_in_half"),
    in_plain<BetaAsInt>("beta_as_int"),
    in_plain<AlphaTwoTwice>("alpha_two_twice"),
    in_plain<BetaOneForgetsAlpha>("beta_one_forgets_alpha"),
    in_plain<AlphaOneForgetsBeta>("alpha_one_forgets_beta"),
    in_plain<LargeAlphaLosesSign>("large_alpha_loses_sign"),
    in_plain<MinusZeroAlpha>("minus_zero_alpha_multiplies"),
    in_plain<MinusZeroBeta>("minus_zero_beta_reads_c"),
    in_plain<AlphaInEveryChunk>("alpha_in_every_chunk"),
    in_plain<AlphaTimesC>("alpha_times_c"),
    in_plain<BetaTwiceAtEdges>("beta_twice_at_edges"),
    in_plain<AlphaAndBetaSwapped>("alpha_and_beta_swapped"),
    in_plain<DenormalAlpha>("denormal_alpha_taken_for_zero"),
    in_plain<DenormalBeta>("denormal_beta_taken_for_zero"),
    in_plain<HugeAlphaLimited>("huge_alpha_limited"),
    in_plain<CDividedByAlpha>("c_divided_by_alpha"),
};

}  // namespace
}  // namespace assay::faulty
