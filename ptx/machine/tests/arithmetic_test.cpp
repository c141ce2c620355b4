// What instructions compute, against values worked out by hand.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {
namespace {

using std::uint32_t;

// The 32 bits that instructions leave in %r1, or in %f1 moved there.
uint32_t bits(const std::string& body) {
  WrittenKernel kernel(body + "st.global.u32 [%out], %r1;");
  EXPECT_EQ(text_of(kernel.run(1)), "") << body;
  return kernel.words[0];
}
uint32_t real_bits(const std::string& body) { return bits(body + "mov.b32 %r1, %f1;"); }
float real(const std::string& body) { return std::bit_cast<float>(real_bits(body)); }
std::string hex(float value) { return fmt::format("0f{:08x}", std::bit_cast<uint32_t>(value)); }

TEST(Integers, wrap_and_widen) {
  EXPECT_EQ(bits("add.s32 %r1, 2147483647, 1;"), 0x80000000u);
  EXPECT_EQ(bits("add.sat.s32 %r1, 2147483647, 1;"), 0x7fffffffu);
  EXPECT_EQ(bits("mul.lo.s32 %r1, -3, 5;"), static_cast<uint32_t>(-15));
  EXPECT_EQ(bits("mul.hi.u32 %r1, -1, -1;"), 0xfffffffeu);
  EXPECT_EQ(bits("mul.hi.s32 %r1, -1, -1;"), 0u);
  EXPECT_EQ(bits("mul.wide.s32 %rd1, -2, 3; shr.u64 %rd1, %rd1, 32; cvt.u32.u64 %r1, %rd1;"),
            0xffffffffu);
  EXPECT_EQ(
      bits("mad.wide.u32 %rd1, 65536, 65536, 7; shr.u64 %rd2, %rd1, 32; cvt.u32.u64 %r1, %rd2;"),
      1u);
  EXPECT_EQ(bits("mad.lo.s32 %r1, 6, 7, -2;"), 40u);
  EXPECT_EQ(bits("sad.u32 %r1, 3, 10, 100;"), 107u);
}

TEST(Integers, divide_as_a_gpu_does) {
  EXPECT_EQ(bits("div.s32 %r1, -7, 2;"), static_cast<uint32_t>(-3));
  EXPECT_EQ(bits("rem.s32 %r1, -7, 2;"), static_cast<uint32_t>(-1));
  EXPECT_EQ(bits("mov.u32 %r2, 0; div.u32 %r1, 7, %r2;"), 0xffffffffu);
  EXPECT_EQ(bits("mov.u32 %r2, 0; rem.s32 %r1, 7, %r2;"), 0xffffffffu);
  EXPECT_EQ(bits("div.s32 %r1, -2147483648, -1;"), 0x80000000u);
}

TEST(Integers, carry) {
  EXPECT_EQ(bits("add.cc.u32 %r2, -1, 1; addc.u32 %r1, 5, 6;"), 12u);
  EXPECT_EQ(bits("sub.cc.u32 %r2, 0, 1; subc.u32 %r1, 5, 6;"), static_cast<uint32_t>(-2));
  EXPECT_EQ(bits("mad.lo.cc.u32 %r2, -1, -1, -1; madc.hi.u32 %r1, -1, -1, 0;"), 0xffffffffu);
  EXPECT_EQ(bits("add.cc.u64 %rd2, -1, 1; addc.cc.u64 %rd3, -1, 0; addc.u32 %r1, 0, 0;"), 1u);
  EXPECT_EQ(bits("add.cc.u32 %r2, -1, 1; setp.eq.u32 %p1, %t, 1; @%p1 add.cc.u32 %r2, 0, 0; "
                 "addc.u32 %r1, 0, 0;"),
            1u)
      << "a guard keeps the carry";
}

TEST(Integers, work_on_parts_of_words) {
  EXPECT_EQ(bits("dp4a.s32.s32 %r1, 0x01ff0203, 0x01020304, 10;"), 10u + 1 - 2 + 6 + 12);
  EXPECT_EQ(bits("dp2a.hi.u32.u32 %r1, 0x00020003, 0x0102ffff, 1;"), 1u + 6 + 2);
  EXPECT_EQ(bits("max.s16x2 %r1, 0x7fff8000, 0x80000001;"), 0x7fff0001u);
  EXPECT_EQ(bits("szext.clamp.s32 %r1, 0xff, 8;"), 0xffffffffu);
  EXPECT_EQ(bits("fns.b32 %r1, 0x80000112, 0, 1;"), 1u);
  EXPECT_EQ(bits("fns.b32 %r1, 0x80000112, 1, 2;"), 4u);
  EXPECT_EQ(bits("fns.b32 %r1, 0x80000112, 9, 1;"), 31u);
  EXPECT_EQ(bits("fns.b32 %r1, 0x80000112, 31, -2;"), 8u);
  EXPECT_EQ(bits("fns.b32 %r1, 0x80000112, 7, -2;"), 1u);
  EXPECT_EQ(bits("fns.b32 %r1, 0x80000112, 4, 0;"), 4u);
  EXPECT_EQ(bits("fns.b32 %r1, 0x80000112, 5, 0;"), 0xffffffffu);
  EXPECT_EQ(bits("fns.b32 %r1, 0x80000112, 0, 5;"), 0xffffffffu);
  EXPECT_EQ(bits("prmt.b32.b4e %r1, 0x33221100, 0x77665544, 0;"), 0x55667700u);
}

TEST(Integers, shift_and_look_at_bits) {
  EXPECT_EQ(bits("shl.b32 %r1, 1, 32;"), 0u);
  EXPECT_EQ(bits("shr.s32 %r1, -8, 40;"), 0xffffffffu);
  EXPECT_EQ(bits("shr.u32 %r1, -8, 1;"), 0x7ffffffcu);
  EXPECT_EQ(bits("popc.b32 %r1, 0xf0f0;"), 8u);
  EXPECT_EQ(bits("clz.b32 %r1, 1;"), 31u);
  EXPECT_EQ(bits("brev.b32 %r1, 1;"), 0x80000000u);
  EXPECT_EQ(bits("bfind.u32 %r1, 0;"), 0xffffffffu);
  EXPECT_EQ(bits("bfe.u32 %r1, 0xabcd, 4, 8;"), 0xbcu);
  EXPECT_EQ(bits("bfe.s32 %r1, 0xabcd, 4, 8;"), 0xffffffbcu);
  EXPECT_EQ(bits("bfi.b32 %r1, 0xf, 0, 8, 4;"), 0xf00u);
  EXPECT_EQ(bits("lop3.b32 %r1, 0xff00, 0x0ff0, 0x00ff, 0x96;"), 0xff00u ^ 0x0ff0u ^ 0x00ffu);
  EXPECT_EQ(bits("prmt.b32 %r1, 0x33221100, 0x77665544, 0x7531;"), 0x77553311u);
  EXPECT_EQ(bits("shf.l.wrap.b32 %r1, 0x80000000, 1, 4;"), 0x18u);
}

TEST(Reals, round_once_to_nearest) {
  const float a = 1 + std::ldexp(1.0f, -23), b = 1 - std::ldexp(1.0f, -23);
  EXPECT_EQ(real(fmt::format("fma.rn.f32 %f1, {}, {}, {};", hex(a), hex(b), hex(-1.0f))),
            std::fma(a, b, -1.0f));
  EXPECT_EQ(
      real(fmt::format("mul.f32 %f2, {}, {}; add.f32 %f1, %f2, {};", hex(a), hex(b), hex(-1.0f))),
      a * b - 1.0f);
  EXPECT_EQ(
      real(fmt::format("add.rz.f32 %f1, {}, {};", hex(1.0f), hex(std::ldexp(1.0f, -24) * 1.5f))),
      1.0f);
  EXPECT_EQ(real(fmt::format("add.rp.f32 %f1, {}, {};", hex(1.0f), hex(std::ldexp(1.0f, -60)))),
            std::nextafter(1.0f, 2.0f));
  EXPECT_EQ(real(fmt::format("div.rn.f32 %f1, {}, {};", hex(1.0f), hex(3.0f))), 1.0f / 3.0f);
}

TEST(Reals, treat_special_values_as_a_gpu_does) {
  EXPECT_EQ(real_bits("mul.f32 %f1, 0f00000000, 0f7f800000;"), 0x7fffffffu) << "one NaN only";
  EXPECT_EQ(real_bits("min.f32 %f1, 0f7fc00001, 0f3f800000;"), 0x3f800000u)
      << "a number beats a NaN";
  EXPECT_EQ(real_bits("min.f32 %f1, 0f00000000, 0f80000000;"), 0x80000000u);
  EXPECT_EQ(real_bits("min.ftz.f32 %f1, 0f7f800001, 0f3f800000;"), 0x3f800000u)
      << "a signalling NaN too, and where denormals are flushed";
  EXPECT_EQ(real_bits("max.ftz.f32 %f1, 0f80000000, 0f00000001;"), 0u);
  EXPECT_EQ(real_bits("neg.f32 %f1, 0f7fc00001;"), 0x7fffffffu) << "an addition, as all others";
  EXPECT_EQ(real_bits("mul.f32 %f1, 0f00800000, 0f3f000000;"), 0x00400000u) << "denormals stay";
  EXPECT_EQ(real_bits("mul.ftz.f32 %f1, 0f00800000, 0f3f000000;"), 0u);
  EXPECT_EQ(real_bits("add.sat.f32 %f1, 0f40000000, 0f3f800000;"), 0x3f800000u);
  EXPECT_EQ(bits("setp.lt.f32 %p1, 0f7fc00000, 0f3f800000; selp.b32 %r1, 1, 0, %p1;"), 0u);
  EXPECT_EQ(bits("setp.ltu.f32 %p1, 0f7fc00000, 0f3f800000; selp.b32 %r1, 1, 0, %p1;"), 1u);
}

// Each as an H200 computes it, where the PTX ISA leaves it open or says otherwise.
TEST(Reals, are_those_of_hardware) {
  const auto wide = [](const std::string& body, const char* part) {
    return bits(body + "mov.b64 %rd1, %d1; shr.u64 %rd2, %rd1, 32; cvt.u32.u64 %r1, " + part + ";");
  };
  EXPECT_EQ(real_bits("mul.ftz.f32 %f1, 0f3f7fffff, 0f00800000;"), 0u)
      << "less than the least normal number, had the rounding left it";
  EXPECT_EQ(real_bits("mul.ftz.f32 %f1, 0f3f7ffffe, 0f00800001;"), 0x00800000u)
      << "rounded to 24 bits it is no less";
  EXPECT_EQ(real_bits("rcp.rp.ftz.f32 %f1, 0f7e800001;"), 0u);
  const std::string nans = "mov.f64 %d2, 0dfff8000000000002; mov.f64 %d3, 0d7ff0000000000003; ";
  EXPECT_EQ(wide(nans + "sub.f64 %d1, %d2, %d3;", "%rd1"), 3u) << "the second operand's";
  EXPECT_EQ(wide(nans + "sub.f64 %d1, %d2, %d3;", "%rd2"), 0x7ff80000u) << "quiet, of its sign";
  EXPECT_EQ(wide(nans + "fma.rn.f64 %d1, %d3, 0d3ff0000000000000, %d2;", "%rd1"), 2u);
  EXPECT_EQ(wide(nans + "fma.rn.f64 %d1, 0d3ff0000000000000, %d3, %d2;", "%rd1"), 3u);
  EXPECT_EQ(wide(nans + "abs.f64 %d1, %d2;", "%rd2"), 0xfff80000u);
  EXPECT_EQ(real_bits(nans + "cvt.rn.f32.f64 %f1, %d2;"), 0xffc00000u);
  EXPECT_EQ(bits("testp.normal.f32 %p1, 0f00000000; selp.b32 %r1, 1, 0, %p1;"), 1u);
  EXPECT_EQ(real_bits("sin.approx.f32 %f1, 0f56cb21c4;"), 0u);
  EXPECT_EQ(real_bits("cos.approx.f32 %f1, 0f4bafe695;"), 0u) << "a quarter, in whole quarters";
  EXPECT_NEAR(real("sin.approx.f32 %f1, 0fc8b9a731;"), -0.024541190f, 2e-7);
  EXPECT_NEAR(real("cos.approx.f32 %f1, 0f44200000;"), 0.633318007f, 2e-7);
  EXPECT_EQ(real_bits("div.approx.f32 %f1, 0f7e800000, 0f7e800001;"), 0u) << "but not div.full";
  EXPECT_EQ(real("div.full.f32 %f1, 0f7e800000, 0f7e800000;"), 1.0f);
}

TEST(Conversions, round_and_clamp) {
  EXPECT_EQ(bits("cvt.rni.s32.f32 %r1, 0f40200000;"), 2u) << "2.5, to even";
  EXPECT_EQ(bits("cvt.rzi.s32.f32 %r1, 0fc0200000;"), static_cast<uint32_t>(-2));
  EXPECT_EQ(bits("cvt.rzi.u32.f32 %r1, 0fbf800000;"), 0u) << "-1";
  EXPECT_EQ(bits("cvt.rzi.s32.f32 %r1, 0f7f000000;"), 0x7fffffffu);
  EXPECT_EQ(bits("cvt.rzi.s32.f32 %r1, 0f7fc00000;"), 0u) << "NaN";
  EXPECT_EQ(bits("cvt.rzi.u32.f64 %r1, 0d7ff8000000000000;"), 0x80000000u) << "NaN of 64 bits";
  EXPECT_EQ(bits("{ .reg .b16 %h; mov.u64 %rd1, 0x0101000000000001; cvt.rn.bf16.u64 %h, %rd1; "
                 "cvt.u32.u16 %r1, %h; }"),
            0x5b81u)
      << "a little more than a tie, which a double does not hold";
  EXPECT_EQ(real_bits("{ .reg .b16 %h; mov.b16 %h, 0x7f81; cvt.f32.bf16 %f1, %h; }"), 0x7f810000u)
      << "a shift";
  EXPECT_EQ(real("mov.u32 %r2, 16777217; cvt.rn.f32.u32 %f1, %r2;"), 16777216.0f);
  EXPECT_EQ(bits("mov.u32 %r2, 511; cvt.u8.u32 %r3, %r2; cvt.u32.u8 %r1, %r3;"), 255u);
  EXPECT_EQ(bits("mov.u32 %r2, 200; cvt.s32.s8 %r1, %r2;"), static_cast<uint32_t>(-56));
  EXPECT_EQ(bits("mov.u32 %r2, 300; cvt.sat.u8.u32 %r1, %r2;"), 255u);
  EXPECT_EQ(real("cvt.rn.f64.f32 %d1, 0f3dcccccd; cvt.rn.f32.f64 %f1, %d1;"), 0.1f);
  EXPECT_EQ(bits("{ .reg .b16 %h; cvt.rn.f16.f32 %h, 0f477ff000; cvt.u32.u16 %r1, %h; }"), 0x7c00u)
      << "65520 is infinity";
  EXPECT_EQ(bits("{ .reg .b16 %h; cvt.rn.f16.f32 %h, 0f3eaaaaab; cvt.u32.u16 %r1, %h; }"), 0x3555u)
      << "a third";
  EXPECT_EQ(bits("{ .reg .b16 %h; cvt.rn.bf16.f32 %h, 0f3f818000; cvt.u32.u16 %r1, %h; }"), 0x3f82u)
      << "a tie, to even";
}

TEST(Moves, pack_and_unpack) {
  EXPECT_EQ(
      bits("mov.u32 %r2, 5; mov.u32 %r3, 9; mov.b64 %rd1, {%r2, %r3}; mov.b64 {%r4, %r1}, %rd1;"),
      9u);
  EXPECT_EQ(bits("{ .reg .b16 %h<3>; mov.u32 %r2, 0x12345678; mov.b32 {%h1, %h2}, %r2; mov.b32 "
                 "%r1, {%h2, %h1}; }"),
            0x56781234u);
}

TEST(Predicates, combine) {
  EXPECT_EQ(bits("setp.eq.u32 %p1, %t, 0; setp.lt.and.u32 %p2|%p3, 5, 3, %p1; selp.b32 %r2, 1, 0, "
                 "%p2; selp.b32 %r3, 2, 0, %p3; add.s32 %r1, %r2, %r3;"),
            2u);
  EXPECT_EQ(bits("setp.eq.u32 %p1, %t, 1; not.pred %p2, %p1; and.pred %p3, %p2, !%p1; selp.b32 "
                 "%r1, 7, 8, %p3;"),
            7u);
  EXPECT_EQ(bits("set.lt.u32.u32 %r1, 3, 5;"), 0xffffffffu);
}

TEST(Memory, holds_vectors_and_bytes) {
  EXPECT_EQ(
      bits("st.shared.v4.u32 [tile+16], {1, 2, 3, 4}; ld.shared.v2.u32 {%r2, %r1}, [tile+24];"),
      4u);
  EXPECT_EQ(bits("st.shared.u32 [tile], -1; st.shared.u8 [tile+1], 5; ld.shared.u32 %r1, [tile];"),
            0xffff05ffu);
  EXPECT_EQ(bits("st.shared.u8 [tile], 200; ld.shared.s8 %r1, [tile];"),
            static_cast<uint32_t>(-56));
  EXPECT_EQ(bits(".local .align 8 .b8 own[16]; mov.u64 %rd1, own; cvta.local.u64 %rd2, %rd1; "
                 "st.u32 [%rd2+4], 6; ld.local.u32 %r1, [own+4];"),
            6u);
  EXPECT_EQ(bits("mov.u32 %r2, tile; cvt.u64.u32 %rd1, %r2; cvta.shared.u64 %rd1, %rd1; st.u32 "
                 "[%rd1+8], 3; ld.shared.u32 %r1, [tile+8];"),
            3u);
}

TEST(Memory, changes_atomically) {
  EXPECT_EQ(bits("st.global.u32 [%out+8], 5; atom.global.cas.b32 %r2, [%out+8], 5, 9; "
                 "ld.global.u32 %r3, [%out+8]; add.s32 %r1, %r2, %r3;"),
            14u);
  EXPECT_EQ(bits("st.shared.u32 [tile], 3; atom.shared.max.s32 %r2, [tile], -4; ld.shared.u32 %r1, "
                 "[tile];"),
            3u);
  EXPECT_EQ(bits("st.global.u32 [%out+8], 2; atom.global.inc.u32 %r2, [%out+8], 2; ld.global.u32 "
                 "%r1, [%out+8];"),
            0u);
}

}  // namespace
}  // namespace ptx::tests
