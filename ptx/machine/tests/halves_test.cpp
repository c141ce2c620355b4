// Arithmetic on numbers of 16 bits, against values worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ptx/machine/halves.h"
#include "ptx/machine/reals.h"
#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {
namespace {

using std::uint16_t;
using std::uint32_t;

// What a kernel leaves in %r1. It has registers %h1 to %h9 of 16 bits.
uint32_t bits(const std::string& body) {
  WrittenKernel kernel("{ .reg .b16 %h<10>; .reg .pred %q<3>; " + body +
                       " st.global.u32 [%out], %r1; }");
  EXPECT_EQ(text_of(kernel.run(1)), "") << body;
  return kernel.words[0];
}
// Of three halves, by an instruction that takes %h1, %h2, %h3 and gives %h9.
uint32_t half(const std::string& instruction, unsigned a, unsigned b = 0, unsigned c = 0) {
  return bits(
      fmt::format("mov.b16 %h1, {}; mov.b16 %h2, {}; mov.b16 %h3, {}; {} "
                  "cvt.u32.u16 %r1, %h9;",
                  a, b, c, instruction));
}
// Of words that hold two, by an instruction that takes %r2, %r3, %r4 and gives %r1.
uint32_t pair(const std::string& instruction, unsigned a, unsigned b = 0, unsigned c = 0) {
  return bits(
      fmt::format("mov.b32 %r2, {}; mov.b32 %r3, {}; mov.b32 %r4, {}; {}", a, b, c, instruction));
}

TEST(Atomics, of_vectors_change_each_element) {
  WrittenKernel kernel(
      "mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000;"
      "atom.global.add.v2.f32 {%f3, %f4}, [%out+8], {%f1, %f2};"
      "red.global.add.v4.f32 [%out+16], {%f1, %f2, %f1, %f2};"
      "st.global.f32 [%out], %f4;");
  kernel.words[3] = 0x40400000;  // 3
  ASSERT_EQ(text_of(kernel.run(1)), "");
  EXPECT_EQ(kernel.words[0], 0x40400000u) << "what the second element was";
  EXPECT_EQ(kernel.words[2], 0x3F800000u);
  EXPECT_EQ(kernel.words[3], 0x40A00000u);
  EXPECT_EQ(kernel.words[7], 0x40000000u);
  EXPECT_THAT(text_of(WrittenKernel("mov.f32 %f1, 0f3F800000;"
                                    "red.global.add.v2.f32 [%out+4], {%f1, %f1};")
                          .run(1)),
              testing::StartsWith("misaligned access"));
}

TEST(Halves, are_rounded_once) {
  EXPECT_EQ(half("add.f16 %h9, %h1, %h2;", 0x3c00, 0x1000), 0x3c00u) << "1 + 2^-11: to even";
  EXPECT_EQ(half("add.f16 %h9, %h1, %h2;", 0x3c01, 0x1000), 0x3c02u);
  EXPECT_EQ(half("mul.f16 %h9, %h1, %h2;", 0x3c01, 0x3c01), 0x3c02u);
  EXPECT_EQ(half("fma.rn.f16 %h9, %h1, %h2, %h3;", 0x3c01, 0x3c01, 0xbc02), 0x0010u)
      << "(1 + 2^-10)^2 - (1 + 2^-9) is 2^-20, which a rounded product loses";
  EXPECT_EQ(half("sub.f16 %h9, %h1, %h2;", 0x7bff, 0xfbff), 0x7c00u) << "too large";
  EXPECT_EQ(half("fma.rn.bf16 %h9, %h1, %h2, %h3;", 0x40e0, 0x4214, 0xa180), 0x4381u)
      << "7 * 37 is a tie, and 2^-60 less than it is none";
  EXPECT_EQ(half("add.bf16 %h9, %h1, %h2;", 0x3f80, 0x3b80), 0x3f80u) << "1 + 2^-8: to even";
}

TEST(Halves, treat_special_values_as_a_gpu_does) {
  EXPECT_EQ(half("mul.f16 %h9, %h1, %h2;", 0x7c00, 0), 0x7fffu) << "one NaN only";
  EXPECT_EQ(half("min.f16 %h9, %h1, %h2;", 0x7e00, 0x3c00), 0x3c00u) << "a number beats a NaN";
  EXPECT_EQ(half("max.NaN.f16 %h9, %h1, %h2;", 0x7e00, 0x3c00), 0x7fffu);
  EXPECT_EQ(half("max.f16 %h9, %h1, %h2;", 0x8000, 0x0000), 0x0000u) << "-0 is less than 0";
  EXPECT_EQ(half("min.bf16 %h9, %h1, %h2;", 0x0000, 0x8000), 0x8000u);
  EXPECT_EQ(half("neg.f16 %h9, %h1;", 0x7e01), 0x7fffu) << "ptxas makes an addition of it";
  EXPECT_EQ(half("min.xorsign.abs.f16 %h9, %h1, %h2;", 0xc000, 0x3c00), 0xbc00u);
  EXPECT_EQ(half("cvt.rni.f16.f16 %h9, %h1;", 0x3e00), 0x4000u) << "1.5, to even";
  EXPECT_EQ(half("abs.bf16 %h9, %h1;", 0xbf80), 0x3f80u);
  EXPECT_EQ(half("add.ftz.f16 %h9, %h1, %h2;", 0x03ff, 0x8000), 0x0000u);
  EXPECT_EQ(half("add.sat.f16 %h9, %h1, %h2;", 0x3c00, 0x3c00), 0x3c00u);
  EXPECT_EQ(half("fma.rn.relu.f16 %h9, %h1, %h2, %h3;", 0x3c00, 0xbc00, 0), 0x0000u);
  EXPECT_EQ(half("fma.rn.relu.f16 %h9, %h1, %h2, %h3;", 0x8000, 0x3c00, 0x8000), 0x0000u) << "-0";
}

TEST(Halves, lie_two_in_a_word) {
  EXPECT_EQ(pair("add.f16x2 %r1, %r2, %r3;", 0x3c004000, 0x3c003c00), 0x40004200u);
  EXPECT_EQ(pair("fma.rn.f16x2 %r1, %r2, %r3, %r4;", 0x40004200, 0x40004000, 0x3c00bc00),
            0x45004500u);
  EXPECT_EQ(pair("mul.bf16x2 %r1, %r2, %r3;", 0x40003f80, 0x40404040), 0x40c04040u);
  EXPECT_EQ(pair("neg.bf16x2 %r1, %r2;", 0x3f80bf80), 0xbf803f80u);
}

TEST(Halves, are_compared) {
  EXPECT_EQ(half("setp.lt.f16 %q1, %h1, %h2; selp.u16 %h9, 1, 0, %q1;", 0x3c00, 0x4000), 1u);
  EXPECT_EQ(half("setp.lt.f16 %q1, %h1, %h2; selp.u16 %h9, 1, 0, %q1;", 0x7e00, 0x4000), 0u);
  EXPECT_EQ(half("setp.ltu.bf16 %q1, %h1, %h2; selp.u16 %h9, 1, 0, %q1;", 0x7fc0, 0x4000), 1u);
  EXPECT_EQ(pair("setp.gt.f16x2 %q1|%q2, %r2, %r3; selp.b32 %r5, 1, 0, %q1; selp.b32 %r6, 2, 0, "
                 "%q2; or.b32 %r1, %r5, %r6;",
                 0x40003c00, 0x3c003c00),
            2u);
  EXPECT_EQ(pair("set.eq.f16x2.f16x2 %r1, %r2, %r3;", 0x3c004000, 0x3c003c00), 0x3c000000u);
  EXPECT_EQ(pair("set.eq.u32.f16x2 %r1, %r2, %r3;", 0x3c004000, 0x40004000), 0x0000ffffu);
  EXPECT_EQ(half("set.ne.f16.f16 %h9, %h1, %h2;", 0x3c00, 0x4000), 0x3c00u);
}

TEST(Halves, come_from_floats) {
  EXPECT_EQ(bits("cvt.rn.f16x2.f32 %r1, 0f3f800000, 0f40000000;"), 0x3c004000u);
  EXPECT_EQ(bits("cvt.rn.bf16x2.f32 %r1, 0f3f818000, 0fbf800000;"), 0x3f82bf80u);
  EXPECT_EQ(bits("cvt.rz.bf16x2.f32 %r1, 0f3f818000, 0fbf800000;"), 0x3f81bf80u);
  EXPECT_EQ(bits("cvt.rn.relu.f16x2.f32 %r1, 0fbf800000, 0f40000000;"), 0x00004000u);
  EXPECT_EQ(bits("cvt.rn.satfinite.f16x2.f32 %r1, 0f7f000000, 0fff000000;"), 0x7bfffbffu);
  EXPECT_EQ(bits("cvt.rna.tf32.f32 %r1, 0f3f801000;"), 0x3f802000u) << "a tie, away from zero";
  EXPECT_EQ(bits("cvt.rn.tf32.f32 %r1, 0f3f801000;"), 0x3f800000u) << "a tie, to even";
  EXPECT_EQ(bits("cvt.rna.tf32.f32 %r1, 0f7fc00001;"), 0x7fc00000u) << "ptxas masks a NaN";
  EXPECT_EQ(bits("cvt.rn.tf32.f32 %r1, 0f7fc00001;"), 0x7fffe000u);
}

TEST(Halves, are_cut_where_hardware_approximates) {
  EXPECT_EQ(
      bits("{ .reg .b16 %h; mov.b16 %h, 0xbc94; ex2.approx.f16 %h, %h; cvt.u32.u16 %r1, %h; }"),
      0x373cu);
  EXPECT_EQ(
      bits("{ .reg .b16 %h; mov.b16 %h, 0x4c00; ex2.approx.f16 %h, %h; cvt.u32.u16 %r1, %h; }"),
      0x7c00u);
  EXPECT_EQ(bits("mov.u32 %r2, 0x87b3ba00; ex2.approx.f16x2 %r1, %r2;"), 0x3bff38c1u);
  EXPECT_EQ(bits("mov.u32 %r2, 0xba001c07; tanh.approx.f16x2 %r1, %r2;"), 0xb9141c07u);
  EXPECT_EQ(bits("mov.u32 %r2, 0x29c64800; tanh.approx.f16x2 %r1, %r2;"), 0x29c53c00u)
      << "less, were it cut from what is exact";
}

TEST(Halves, become_the_same_floats_again) {
  for (uint32_t h = 0; h < 0x10000; ++h) {
    const auto value = static_cast<uint16_t>(h);
    const float real = float_of_half(value), brain = float_of_bfloat(value);
    if (real == real) {
      EXPECT_EQ(half_of(real, to_nearest), value);
    }
    if (brain == brain) {
      EXPECT_EQ(bfloat_of(brain, to_nearest), value);
    }
  }
}

TEST(Halves, are_the_nearest_in_each_direction) {
  for (uint32_t h = 0; h < 0x7bff; ++h) {
    const double low = float_of_half(static_cast<uint16_t>(h)),
                 high = float_of_half(static_cast<uint16_t>(h + 1));
    const double tie = (low + high) / 2, below = std::nextafter(tie, 0), above = tie + tie * 1e-15;
    EXPECT_EQ(half_of(tie, to_nearest), h + (h & 1));
    EXPECT_EQ(half_of(below, to_nearest), h);
    EXPECT_EQ(half_of(above, to_nearest), h + 1);
    EXPECT_EQ(half_of(tie, to_zero), h);
    EXPECT_EQ(half_of(tie, upwards), h + 1);
    EXPECT_EQ(half_of(-tie, downwards), 0x8000u + h + 1);
    EXPECT_EQ(half_of(-tie, upwards), 0x8000u + h);
  }
}

TEST(Halves, are_added_atomically) {
  WrittenKernel kernel(
      "{ .reg .b16 %h<4>; mov.b16 %h1, 0x3c00; red.global.add.noftz.f16 [%out], %h1; "
      "atom.global.add.noftz.bf16x2 %r1, [%out+4], 0x3f804000; mov.b16 %h2, 0; mov.b16 %h3, 7; "
      "atom.global.cas.b16 %h1, [%out+10], %h2, %h3; }");
  EXPECT_EQ(text_of(kernel.run(32)), "");
  EXPECT_EQ(kernel.words[0], 0x5000u) << "32";
  EXPECT_EQ(kernel.words[1], 0x42004280u) << "32 and 64";
  EXPECT_EQ(kernel.words[2], 7u << 16);
}

TEST(Halves, of_conversions_that_are_not_known_are_named) {
  WrittenKernel kernel("{ .reg .b16 %h; cvt.rn.satfinite.e2m3x2.f32 %h, %f1, %f2; }");
  EXPECT_NE(text_of(kernel.run(1)).find("cvt.rn.satfinite.e2m3x2.f32 is not supported"),
            std::string::npos);
}

// What becomes of two floats, the first one in the upper half of the result.
unsigned narrowed(const char* how, float a, float b) {
  WrittenKernel kernel(fmt::format("{{ .reg .b16 %h; mov.b32 %f1, 0x{:08x}; mov.b32 %f2, 0x{:08x}; "
                                   "cvt.rn.satfinite.{} %h, %f1, %f2; cvt.u32.u16 %r1, %h; }}",
                                   std::bit_cast<unsigned>(a), std::bit_cast<unsigned>(b), how) +
                       store_r1);
  EXPECT_EQ(text_of(kernel.run(1)), "");
  return kernel.words[0];
}
unsigned widened(const char* type, unsigned bytes) {
  WrittenKernel kernel(
      fmt::format("{{ .reg .b16 %h; mov.b16 %h, {}; cvt.rn.f16x2.{} %r1, %h; }}", bytes, type) +
      store_r1);
  EXPECT_EQ(text_of(kernel.run(1)), "");
  return kernel.words[0];
}

TEST(EightBitFloats, are_rounded_to_the_nearest_and_stay_finite) {
  constexpr float infinite = std::numeric_limits<float>::infinity(), not_a_number = NAN;
  EXPECT_EQ(narrowed("e4m3x2.f32", 1, -2), 0x38c0u);
  EXPECT_EQ(narrowed("e4m3x2.f32", 1.0625f, 1.1875f), 0x383au) << "halves go to the even one";
  EXPECT_EQ(narrowed("e4m3x2.f32", 0x1p-9f, 0x1.8p-9f), 0x0102u) << "denormals";
  EXPECT_EQ(narrowed("e4m3x2.f32", 0x1p-10f, 0x1.9p-7f), 0x0006u);
  EXPECT_EQ(narrowed("e4m3x2.f32", 449, -infinite), 0x7efeu);
  EXPECT_EQ(narrowed("e4m3x2.f32", not_a_number, -0.0f), 0x7f80u);
  EXPECT_EQ(narrowed("e5m2x2.f32", 1, 1e9f), 0x3c7bu);
  EXPECT_EQ(narrowed("e5m2x2.f32", 0x1p-16f, not_a_number), 0x017fu);
  EXPECT_EQ(narrowed("relu.e5m2x2.f32", -3, -infinite), 0u);
}

TEST(EightBitFloats, are_halves_without_loss) {
  EXPECT_EQ(widened("e5m2x2", 0x7cfb), 0x7c00fb00u);
  EXPECT_EQ(widened("e5m2x2", 0x7dfe), 0x7fff7fffu);
  EXPECT_EQ(widened("e4m3x2", 0x38c0), 0x3c00c000u);
  EXPECT_EQ(widened("e4m3x2", 0x0182), 0x18009c00u) << "denormals";
  EXPECT_EQ(widened("e4m3x2", 0x7efe), 0x5f00df00u);
  EXPECT_EQ(widened("e4m3x2", 0x7fff), 0x7fff7fffu);
}

}  // namespace
}  // namespace ptx::tests
