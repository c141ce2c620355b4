// Floating point, rounded to nearest. Other roundings, flushing and saturation:
// rounded_handlers.cpp.
#include <bit>
#include <cmath>
#include <cstdint>

#include "base/denormals.h"
#include "ptx/machine/approximations.h"
#include "ptx/machine/handlers.h"
#include "ptx/machine/lanes.h"
#include "ptx/machine/reals.h"
#include "ptx/machine/shapes/eight.h"

namespace ptx {
namespace {

using u32 = std::uint32_t;

struct FAdd {
  template <class T>
  static T of(T a, T b) {
    return as_gpu(a + b, a, b);
  }
};
struct FSub {
  template <class T>
  static T of(T a, T b) {
    return as_gpu(a - b, a, b);
  }
};
struct FMul {
  template <class T>
  static T of(T a, T b) {
    return as_gpu(a * b, a, b);
  }
};
struct FDiv {
  template <class T>
  static T of(T a, T b) {
    return as_gpu(a / b);
  }
};
struct FFma {
  static float of(float a, float b, float c) { return as_gpu(__builtin_fmaf(a, b, c)); }
  static double of(double a, double b, double c) { return as_gpu(__builtin_fma(a, b, c), a, c, b); }
};
// All lanes at once, which is what most of the time goes by. NaNs are rare.
void multiply_add(const float* a, const float* b, const float* c, float* d) {
#ifdef __FMA__
  Eight is_nan = {};
  for (int i = 0; i < warp_size; i += 8) {
    const __m256 value =
        _mm256_fmadd_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i), _mm256_loadu_ps(c + i));
    _mm256_storeu_ps(d + i, value);
    is_nan |= (Eight)_mm256_cmp_ps(value, value, _CMP_UNORD_Q);
  }
  if (is_zero(is_nan)) return;
  for (int i = 0; i < warp_size; ++i) d[i] = passed(d[i]);
#else
  for (int i = 0; i < warp_size; ++i) d[i] = FFma::of(a[i], b[i], c[i]);
#endif
}
// The same where denormal numbers are about.
void multiply_add_denormals(const float* a, const float* b, const float* c, float* d) {
  constexpr u32 greatest = 0x7fffff;
  for (int first = 0; first < warp_size; first += 8) {
    const auto are_denormal = [&](const float* values) {
      return (Eight)((vector_at(values + first) & 0x7fffffffu) - 1 < greatest);
    };
    const auto each = [&](const auto& result) {
#pragma GCC ivdep
      for (int i = first; i < first + 8; ++i) d[i] = result(a[i], b[i], c[i]);
    };
    if (is_zero(are_denormal(a) | are_denormal(b) | are_denormal(c)))
      each([](float x, float y, float z) { return FFma::of(x, y, z); });
    else
      each([](float x, float y, float z) { return passed(assay::fused_in_double(x, y, z)); });
  }
}

// Of multiply-adds that stand one behind the other, as they do in the loops of all kernels, the
// first one goes on with the next ones.
const Op* multiply_adds(const Op* op, Warp& w) {
  constexpr int most_between_looks = 16;
  const bool is_usual = op->run == multiply_adds && w.mask == all_lanes && !w.has_taint;
  if (!is_usual) return map3<FFma, float, float, float, float>(op, w);
  for (;;) {
    if (--w.until_look < 0) {
      w.until_look = most_between_looks;
      w.meets_denormals = assay::met_denormals();
    }
    (w.meets_denormals ? multiply_add_denormals : multiply_add)(
        w.slot<float>(op->a), w.slot<float>(op->b), w.slot<float>(op->c), w.slot<float>(op->d));
    ++op;
    if (op->run != multiply_adds || w.left == 0) return op;
    --w.left;
  }
}
struct FNeg {  // an addition to -0: a NaN keeps its sign
  template <class T>
  static T of(T a) {
    return as_gpu(-a, a);
  }
};
struct FAbs {
  template <class T>
  static T of(T a) {
    return as_gpu(std::fabs(a), a);
  }
};
struct FSqrt {
  static float of(float a) { return as_gpu(__builtin_sqrtf(a)); }
  static double of(double a) { return as_gpu(__builtin_sqrt(a)); }
};
struct FRcp {
  template <class T>
  static T of(T a) {
    return as_gpu(T{1} / a);
  }
};
struct FRsqrt {
  static float of(float a) {
    return as_gpu(static_cast<float>(1 / std::sqrt(static_cast<double>(a))));
  }
  static double of(double a) { return as_gpu(1 / std::sqrt(a)); }
};
struct FExp2 {
  static float of(float a) { return passed(static_cast<float>(power_of_two(a))); }
};
struct FLog2 {
  static float of(float a) { return as_gpu(static_cast<float>(std::log2(static_cast<double>(a)))); }
};
struct FSin {
  static float of(float a) { return sine<0>(a); }
};
struct FCos {
  static float of(float a) { return sine<1>(a); }
};
struct FTanh {
  static float of(float a) { return passed(static_cast<float>(hyperbolic_tangent(a))); }
};
template <bool full>
struct FQuotient {
  static float of(float a, float b) { return quotient<full>(a, b); }
};
struct CopySign {  // copysign d, a, b: the sign of a, the value of b
  template <class T>
  static T of(T a, T b) {
    return std::copysign(b, a);
  }
};

template <bool or_unordered, class F>
struct Compared {
  template <class T>
  static bool of(T a, T b) {
    return (a != a || b != b) ? or_unordered : F::of(a, b);
  }
};
struct Lt {
  template <class T>
  static bool of(T a, T b) {
    return a < b;
  }
};
struct Le {
  template <class T>
  static bool of(T a, T b) {
    return a <= b;
  }
};
struct Gt {
  template <class T>
  static bool of(T a, T b) {
    return a > b;
  }
};
struct Ge {
  template <class T>
  static bool of(T a, T b) {
    return a >= b;
  }
};
struct Eq {
  template <class T>
  static bool of(T a, T b) {
    return a == b;
  }
};
struct Ne {
  template <class T>
  static bool of(T a, T b) {
    return a != b;
  }
};
struct Yes {
  template <class T>
  static bool of(T, T) {
    return true;
  }
};
struct No {
  template <class T>
  static bool of(T, T) {
    return false;
  }
};

struct Finite {
  template <class T>
  static bool of(T a, T) {
    return std::isfinite(a);
  }
};
struct Infinite {
  template <class T>
  static bool of(T a, T) {
    return std::isinf(a);
  }
};
struct Number {
  template <class T>
  static bool of(T a, T) {
    return a == a;
  }
};
struct NotANumber {
  template <class T>
  static bool of(T a, T) {
    return a != a;
  }
};
struct Normal {
  template <class T>
  static bool of(T a, T) {
    return std::isnormal(a) || a == 0;  // as hardware has it
  }
};
struct Subnormal {
  template <class T>
  static bool of(T a, T) {
    return std::fpclassify(a) == FP_SUBNORMAL;
  }
};

template <class T>
void add_of_type(Handlers& to, const std::string& t) {
  static constexpr char letter = slot_letter<T>;
  static const char one[] = {letter, letter, 0}, two[] = {letter, letter, letter, 0},
                    three[] = {letter, letter, letter, letter, 0},
                    test[] = {'p', letter, letter, 0};
  to["add." + t] = {map2<FAdd, T, T, T>, two};
  to["sub." + t] = {map2<FSub, T, T, T>, two};
  to["mul." + t] = {map2<FMul, T, T, T>, two};
  to["fma." + t] = to["mad." + t] = {map3<FFma, T, T, T, T>, three};
  to["div." + t] = {map2<FDiv, T, T, T>, two};
  to["neg." + t] = {map1<FNeg, T, T>, one};
  to["abs." + t] = {map1<FAbs, T, T>, one};
  to["sqrt." + t] = to["sqrt.approx." + t] = {map1<FSqrt, T, T>, one};
  to["rcp." + t] = to["rcp.approx." + t] = {map1<FRcp, T, T>, one};
  to["rsqrt.approx." + t] = {map1<FRsqrt, T, T>, one};
  for_each_extreme([&]<class F>(F, const char* name) {
    to[name + ("." + t)] = {map2<F, T, T, T>, two};
  });
  to["copysign." + t] = {map2<CopySign, T, T, T>, two};
  const auto ordered = [&]<class F>(F, const char* name, const char* unordered) {
    to["setp." + std::string(name) + "." + t] = {compare<Compared<false, F>, T>, test};
    to["setp." + std::string(unordered) + "." + t] = {compare<Compared<true, F>, T>, test};
  };
  ordered(Lt{}, "lt", "ltu");
  ordered(Le{}, "le", "leu");
  ordered(Gt{}, "gt", "gtu");
  ordered(Ge{}, "ge", "geu");
  ordered(Eq{}, "eq", "equ");
  ordered(Ne{}, "ne", "neu");
  ordered(Yes{}, "num", "always");
  ordered(No{}, "never", "nan");
  const auto tested = [&]<class F>(F, const char* name) {
    to["testp." + std::string(name) + "." + t] = {compare<F, T>, test};
  };
  tested(Finite{}, "finite");
  tested(Infinite{}, "infinite");
  tested(Number{}, "number");
  tested(NotANumber{}, "notanumber");
  tested(Normal{}, "normal");
  tested(Subnormal{}, "subnormal");
}

}  // namespace

void add_real_handlers(Handlers& to) {
  add_of_type<float>(to, "f32");
  add_of_type<double>(to, "f64");
  to["fma.f32"].run = to["mad.f32"].run = multiply_adds;
  to["div.approx.f32"] = {map2<FQuotient<false>, float, float, float>, "www"};
  to["div.full.f32"] = {map2<FQuotient<true>, float, float, float>, "www"};
  to["ex2.approx.f32"] = {map1<FExp2, float, float>, "ww"};
  to["lg2.approx.f32"] = {map1<FLog2, float, float>, "ww"};
  to["sin.approx.f32"] = {map1<FSin, float, float>, "ww"};
  to["cos.approx.f32"] = {map1<FCos, float, float>, "ww"};
  to["tanh.approx.f32"] = {map1<FTanh, float, float>, "ww"};
}

}  // namespace ptx
