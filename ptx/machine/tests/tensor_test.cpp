// Matrices of a warp. Elements are small integers, so that every sum is exact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "ptx/machine/halves.h"
#include "ptx/machine/reals.h"
#include "ptx/machine/tests/eight_bits.h"
#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {
namespace {

using std::uint32_t;
using testing::HasSubstr;
using testing::StartsWith;

int a_of(int i, int p) { return (i * 7 + p * 3) % 11 - 5; }
int b_of(int p, int j) { return (p * 5 + j * 2) % 9 - 4; }
int sum_of(int i, int j, int k) {
  int sum = 0;
  for (int p = 0; p < k; ++p) sum += a_of(i, p) * b_of(p, j);
  return sum;
}

// Puts elements into words, as one of the formats.
void put(std::vector<uint32_t>& words, int at, int element, const std::string& type, int value) {
  auto* bytes = reinterpret_cast<std::byte*>(words.data() + at);
  const auto write = [&](auto v) {
    std::memcpy(bytes + static_cast<std::size_t>(element) * sizeof v, &v, sizeof v);
  };
  if (type == "f16") write(half_of(value, to_nearest));
  if (type == "bf16") write(bfloat_of(value, to_nearest));
  if (type == "tf32" || type == "f32") write(static_cast<float>(value));
  if (type == "f64") write(static_cast<double>(value));
  if (type == "s8") write(static_cast<std::int8_t>(value));
  if (type == "e4m3" || type == "e5m2") write(real_of_eight_bits(value, type == "e4m3" ? 3 : 2));
}
double get(const std::vector<uint32_t>& words, int at, int element, const std::string& type) {
  const auto* bytes = reinterpret_cast<const std::byte*>(words.data() + at);
  const auto read = [&](auto v) {
    std::memcpy(&v, bytes + static_cast<std::size_t>(element) * sizeof v, sizeof v);
    return v;
  };
  if (type == "f16") return float_of_half(read(std::uint16_t{}));
  if (type == "f64") return read(double{});
  if (type == "s32") return read(std::int32_t{});
  return read(float{});
}

// Words 0 to 127 become 16 rows of A, 128 to 191 16 rows of B, both in shared memory.
const std::string to_shared = R"(
mov.u32 %r20, tile; mul.lo.u32 %r21, %t, 4; add.s32 %r21, %r20, %r21;
mul.wide.u32 %rd1, %t, 4; add.s64 %rd2, %out, %rd1;
ld.global.u32 %r22, [%rd2]; st.shared.u32 [%r21], %r22;
ld.global.u32 %r22, [%rd2+128]; st.shared.u32 [%r21+128], %r22;
ld.global.u32 %r22, [%rd2+256]; st.shared.u32 [%r21+256], %r22;
ld.global.u32 %r22, [%rd2+384]; st.shared.u32 [%r21+384], %r22;
ld.global.u32 %r22, [%rd2+512]; st.shared.u32 [%r21+512], %r22;
ld.global.u32 %r22, [%rd2+640]; st.shared.u32 [%r21+640], %r22;
)";
const std::string load_both = R"(
and.b32 %r23, %t, 15; shr.u32 %r24, %t, 4; mul.lo.u32 %r25, %r23, 32; mul.lo.u32 %r26, %r24, 16;
add.s32 %r25, %r25, %r26; add.s32 %r25, %r25, %r20;
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r25];
mul.lo.u32 %r27, %r23, 16; add.s32 %r27, %r27, %r20;
ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r5, %r6}, [%r27+512];
)";
// Row t / 4 and t / 4 + 8, columns 2 (t % 4) and the next, of a matrix of 8 columns at word 256.
const std::string store_sums = R"(
shr.u32 %r30, %t, 2; and.b32 %r31, %t, 3; mul.lo.u32 %r30, %r30, 32; mul.lo.u32 %r31, %r31, 8;
add.s32 %r30, %r30, %r31; cvt.u64.u32 %rd3, %r30; add.s64 %rd3, %out, %rd3;
st.global.v2.f32 [%rd3+1024], {%f1, %f2}; st.global.v2.f32 [%rd3+1280], {%f3, %f4};
)";
const std::string zeros =
    "mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;";

void fill(WrittenKernel& kernel, const std::string& type) {
  for (int i = 0; i < 16; ++i)
    for (int p = 0; p < 16; ++p) put(kernel.words, 0, i * 16 + p, type, a_of(i, p));
  for (int p = 0; p < 16; ++p)
    for (int j = 0; j < 8; ++j) put(kernel.words, 128, p * 8 + j, type, b_of(p, j));
}

TEST(Mma, takes_what_ldmatrix_loads) {
  for (const std::string type : {"f16", "bf16"}) {
    WrittenKernel kernel(
        to_shared + "bar.warp.sync -1;" + load_both + zeros +
        fmt::format("mma.sync.aligned.m16n8k16.row.col.f32.{0}.{0}.f32 {{%f1, %f2, %f3, "
                    "%f4}}, {{%r1, %r2, %r3, %r4}}, {{%r5, %r6}}, {{%f1, %f2, "
                    "%f3, %f4}};",
                    type) +
        store_sums);
    fill(kernel, type);
    ASSERT_EQ(text_of(kernel.run(32)), "");
    for (int i = 0; i < 16; ++i)
      for (int j = 0; j < 8; ++j)
        EXPECT_EQ(get(kernel.words, 256, i * 8 + j, "f32"), sum_of(i, j, 16)) << i << " " << j;
  }
}

TEST(Mma, sums_in_halves_of_eight_k) {
  WrittenKernel kernel(to_shared + "bar.warp.sync -1;" + load_both + R"(
mov.b32 %r10, 0; mov.b32 %r11, 0;
mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r10, %r11}, {%r1, %r2}, {%r5}, {%r10, %r11};
mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r10, %r11}, {%r3, %r4}, {%r6}, {%r10, %r11};
{ .reg .b16 %h<4>; mov.b32 {%h0, %h1}, %r10; mov.b32 {%h2, %h3}, %r11; cvt.f32.f16 %f1, %h0;
cvt.f32.f16 %f2, %h1; cvt.f32.f16 %f3, %h2; cvt.f32.f16 %f4, %h3; }
)" + store_sums);
  fill(kernel, "f16");
  ASSERT_EQ(text_of(kernel.run(32)), "");
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j)
      EXPECT_EQ(get(kernel.words, 256, i * 8 + j, "f32"), sum_of(i, j, 16)) << i << " " << j;
}

// A 16 x 8 and B 8 x 8 of tf32, each lane loads what the ISA gives it.
TEST(Mma, of_tf32_ignores_the_low_bits) {
  WrittenKernel kernel(R"(
shr.u32 %r1, %t, 2; and.b32 %r2, %t, 3; mad.lo.u32 %r3, %r1, 8, %r2; mul.wide.u32 %rd1, %r3, 4;
add.s64 %rd1, %out, %rd1; ld.global.b32 %r10, [%rd1]; ld.global.b32 %r11, [%rd1+256];
ld.global.b32 %r12, [%rd1+16]; ld.global.b32 %r13, [%rd1+272];
mad.lo.u32 %r4, %r2, 8, %r1; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd2, %out, %rd2;
ld.global.b32 %r14, [%rd2+512]; ld.global.b32 %r15, [%rd2+640]; or.b32 %r14, %r14, 0x1fff;
)" + zeros + R"(
mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, {%r10, %r11, %r12, %r13},
{%r14, %r15}, {%f1, %f2, %f3, %f4};
)" + store_sums);
  for (int i = 0; i < 16; ++i)
    for (int p = 0; p < 8; ++p) put(kernel.words, 0, i * 8 + p, "tf32", a_of(i, p));
  for (int p = 0; p < 8; ++p)
    for (int j = 0; j < 8; ++j) put(kernel.words, 128, p * 8 + j, "tf32", b_of(p, j));
  ASSERT_EQ(text_of(kernel.run(32)), "");
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j)
      EXPECT_EQ(get(kernel.words, 256, i * 8 + j, "f32"), sum_of(i, j, 8)) << i << " " << j;
}

// Four to a register: those of k = 4 (t % 4) on, then of 16 more, in rows t / 4 and t / 4 + 8.
TEST(Mma, multiplies_floats_of_eight_bits) {
  WrittenKernel kernel(R"(
shr.u32 %r1, %t, 2; and.b32 %r2, %t, 3; mul.lo.u32 %r3, %r1, 32; mad.lo.u32 %r3, %r2, 4, %r3;
cvt.u64.u32 %rd1, %r3; add.s64 %rd1, %out, %rd1;
ld.global.b32 %r10, [%rd1]; ld.global.b32 %r11, [%rd1+256]; ld.global.b32 %r12, [%rd1+16];
ld.global.b32 %r13, [%rd1+272]; ld.global.b32 %r14, [%rd1+512]; ld.global.b32 %r15, [%rd1+528];
)" + zeros + R"(
mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%f1, %f2, %f3, %f4}, {%r10, %r11, %r12, %r13},
{%r14, %r15}, {%f1, %f2, %f3, %f4};
)" + store_sums);
  for (int p = 0; p < 32; ++p) {
    for (int i = 0; i < 16; ++i) put(kernel.words, 0, i * 32 + p, "e4m3", a_of(i, p));
    for (int j = 0; j < 8; ++j) put(kernel.words, 128, j * 32 + p, "e5m2", b_of(p, j));
  }
  ASSERT_EQ(text_of(kernel.run(32)), "");
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j)
      EXPECT_EQ(get(kernel.words, 256, i * 8 + j, "f32"), sum_of(i, j, 32)) << i << " " << j;
}

std::string registers(char prefix, int first, int count) {
  std::string text = "{";
  for (int n = 0; n < count; ++n)
    text += fmt::format("{}%{}{}", n == 0 ? "" : ", ",
                        prefix == 'r'   ? "r"
                        : prefix == 'f' ? "f"
                                        : "d",
                        first + n);
  return text + "}";
}

struct Form {
  int m, n, k;
  std::string type, sum;
  int registers_of_a, registers_of_b, registers_of_sum;
};

// Loads A and B at words 0 and 256, and stores what wmma makes of them at word 512.
void check_wmma(const Form& f, const std::string& layout_a, const std::string& layout_b,
                const std::string& layout_d) {
  const std::string shape = fmt::format("m{}n{}k{}", f.m, f.n, f.k);
  const char in = f.type == "f64" ? 'd' : 'r', out = f.sum == "f32"   ? 'f'
                                                     : f.sum == "f64" ? 'd'
                                                                      : 'r';
  const std::string d = registers(out, 50, f.registers_of_sum),
                    a = registers(in, 1, f.registers_of_a), b = registers(in, 20, f.registers_of_b);
  std::string body;
  for (int n = 0; n < f.registers_of_sum; ++n)
    body += out == 'r'   ? fmt::format("mov.b32 %r{}, 0;", 50 + n)
            : out == 'f' ? fmt::format("mov.f32 %f{}, 0f00000000;", 50 + n)
                         : fmt::format("mov.f64 %d{}, 0d0000000000000000;", 50 + n);
  const auto stride = [](const std::string& layout, int rows, int columns) {
    return layout == "row" ? columns : rows;
  };
  body += fmt::format("wmma.load.a.sync.aligned.{}.{}.global.{} {}, [%out], {};", layout_a, shape,
                      f.type, a, stride(layout_a, f.m, f.k));
  body += fmt::format("wmma.load.b.sync.aligned.{}.{}.{} {}, [%out+1024], {};", layout_b, shape,
                      f.type, b, stride(layout_b, f.k, f.n));
  const std::string types = f.type == "f16"   ? f.sum + "." + f.sum
                            : f.type == "f64" ? "f64.f64.f64.f64.rn"
                                              : f.sum + "." + f.type + "." + f.type + "." + f.sum;
  body += fmt::format("wmma.mma.sync.aligned.{}.{}.{}.{} {}, {}, {}, {};", layout_a, layout_b,
                      shape, types, d, a, b, d);
  body += fmt::format("wmma.store.d.sync.aligned.{}.{}.global.{} [%out+2048], {}, {};", layout_d,
                      shape, f.sum, d, stride(layout_d, f.m, f.n));
  WrittenKernel kernel(body);
  for (int i = 0; i < f.m; ++i)
    for (int p = 0; p < f.k; ++p)
      put(kernel.words, 0, layout_a == "row" ? i * f.k + p : p * f.m + i, f.type, a_of(i, p));
  for (int p = 0; p < f.k; ++p)
    for (int j = 0; j < f.n; ++j)
      put(kernel.words, 256, layout_b == "row" ? p * f.n + j : j * f.k + p, f.type, b_of(p, j));
  ASSERT_EQ(text_of(kernel.run(32)), "") << body;
  for (int i = 0; i < f.m; ++i)
    for (int j = 0; j < f.n; ++j)
      ASSERT_EQ(get(kernel.words, 512, layout_d == "row" ? i * f.n + j : j * f.m + i, f.sum),
                sum_of(i, j, f.k))
          << body << i << " " << j;
}

TEST(Wmma, multiplies_in_all_its_forms) {
  const Form forms[] = {{16, 16, 16, "f16", "f32", 8, 8, 8},  {16, 16, 16, "f16", "f16", 8, 8, 4},
                        {32, 8, 16, "f16", "f32", 8, 8, 8},   {8, 32, 16, "f16", "f32", 8, 8, 8},
                        {16, 16, 16, "bf16", "f32", 4, 4, 8}, {32, 8, 16, "bf16", "f32", 8, 2, 8},
                        {16, 16, 8, "tf32", "f32", 4, 4, 8},  {8, 8, 4, "f64", "f64", 1, 1, 2},
                        {16, 16, 16, "s8", "s32", 2, 2, 8},   {32, 8, 16, "s8", "s32", 4, 1, 8}};
  for (const Form& form : forms)
    for (const std::string a : {"row", "col"})
      for (const std::string b : {"row", "col"})
        for (const std::string d : {"row", "col"}) check_wmma(form, a, b, d);
}

TEST(Matrices, are_stored_and_transposed) {
  // Lane t holds words of row t / 4; movmatrix and stmatrix.trans turn them twice.
  WrittenKernel kernel(R"(
mul.lo.u32 %r1, %t, 0x20002; add.s32 %r1, %r1, 0x10000; movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1;
mov.u32 %r20, tile; and.b32 %r3, %t, 7; mad.lo.u32 %r3, %r3, 16, %r20;
stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r3], {%r2}; bar.warp.sync -1;
mad.lo.u32 %r4, %t, 4, %r20; ld.shared.u32 %r1, [%r4];
)" + std::string(store_r1));
  ASSERT_EQ(text_of(kernel.run(32)), "");
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(kernel.words[t], t * 0x20002 + 0x10000);
}

TEST(Matrices, that_nobody_wrote_are_found_where_they_are_used) {
  const std::string multiply =
      load_both + zeros +
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, "
      "%r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4};";
  const std::string only_a =
      "mov.u32 %r20, tile;" + to_shared.substr(0, to_shared.find("ld.global.u32 %r22, [%rd2+512]"));
  EXPECT_THAT(text_of(WrittenKernel(only_a + "bar.warp.sync -1;" + multiply + store_sums).run(32)),
              HasSubstr("leaves in memory a value that nobody wrote"));
  EXPECT_EQ(text_of(WrittenKernel(only_a + "bar.warp.sync -1;" + multiply).run(32)), "")
      << "nobody looks at the sums";
}

TEST(Matrices, need_a_wait_between_writer_and_reader) {
  EXPECT_THAT(text_of(WrittenKernel(to_shared + load_both).run(32)), StartsWith("data race"));
  EXPECT_THAT(text_of(WrittenKernel(to_shared + "bar.warp.sync -1;" + load_both +
                                    "st.shared.u32 [%r21], 1;")
                          .run(32)),
              StartsWith("data race"));
}

TEST(Matrices, lie_where_they_may) {
  EXPECT_THAT(text_of(WrittenKernel(
                          "mov.u32 %r1, 4; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];")
                          .run(32)),
              StartsWith("misaligned access"));
  EXPECT_THAT(
      text_of(
          WrittenKernel("mov.u32 %r1, 4096; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];")
              .run(32)),
      StartsWith("bad address"));
  const auto load = [](int at, int stride) {
    return fmt::format(
        "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {{%r1, %r2, %r3, %r4, %r5, "
        "%r6, %r7, %r8}}, [%out+{}], {};",
        at, stride);
  };
  EXPECT_EQ(text_of(WrittenKernel(load(4096 - 15 * 32 - 32, 16)).run(32)), "");
  EXPECT_THAT(text_of(WrittenKernel(load(4096 - 15 * 32 - 16, 16)).run(32)),
              HasSubstr("past the end of words"));
  EXPECT_THAT(text_of(WrittenKernel(load(0, 20)).run(32)), StartsWith("misaligned access"));
}

TEST(Mma, that_is_not_known_is_named) {
  const auto refusal = [](const char* body) { return text_of(WrittenKernel(body).run(32)); };
  EXPECT_THAT(refusal("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4, %f5, "
                      "%f6, %f7, %f8}, {%r1, %r2}, {%r3, %r4}, {%f1, %f2, %f3, %f4, %f5, %f6, %f7, "
                      "%f8};"),
              HasSubstr("m8n8k4.row.col.f32.f16.f16.f32 is not supported: of matrices"));
}

}  // namespace
}  // namespace ptx::tests
