// Products of warpgroups: what they compute.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/machine/tests/warpgroup_kernel.h"

namespace ptx::tests {
namespace {

using std::uint32_t;
using testing::HasSubstr;

int c_of(int i, int j) { return (i + 3 * j) % 13 - 6; }

struct Form {
  Element a, b;
  std::string sum;
  int n = 8;
  int together = 1;  // pieces that are swizzled
  bool a_across_k = false, b_across_k = false, a_in_registers = false;
  bool adds = true;
  int scale_a = 1, scale_b = 1;
  bool is_told_by_a_number = false;  // whether it adds

  int registers() const { return sum == "f16" ? n / 4 : n / 2; }
  std::string text() const {
    return fmt::format("n {} of {} and {} into {}, {} together, {}{}{}", n, a.name, b.name, sum,
                       together, a_across_k ? "A across, " : "", b_across_k ? "B across, " : "",
                       a_in_registers ? "A in registers" : "");
  }
  int least_a = a.name == "u8" ? 0 : -5, least_b = b.name == "u8" ? 0 : -4;
  int value_a(int i, int p) const { return (i * 7 + p * 3) % 11 + least_a; }
  int value_b(int p, int j) const { return (p * 5 + j * 2) % 9 + least_b; }
  int wanted(int i, int j) const {
    int product = 0;
    for (int p = 0; p < a.k; ++p) product += value_a(i, p) * value_b(p, j);
    return scale_a * scale_b * product + (adds ? c_of(i, j) : 0);
  }
};

// A lies at byte 0, B at 16384; then, in words, registers of A, and those of the sums, before and
// behind.
constexpr int b_at = 16384, image_words = 16384, a_words = image_words, c_words = a_words + 4 * 128;

class Product {
 public:
  explicit Product(const Form& f)
      : form_(f),
        a_(Placing::tight(f.together, f.a_across_k, 64, 16 / f.a.bytes)),
        b_(Placing::tight(f.together, f.b_across_k, f.n, 16 / f.b.bytes)),
        kernel_(body(), big_array) {
    kernel_.words.assign(static_cast<std::size_t>(c_words + 128 * f.registers()), 0);
    for (int i = 0; i < 64; ++i)
      for (int p = 0; p < f.a.k; ++p) {
        f.a.put(image() + a_.place(i, p, f.a.bytes), f.value_a(i, p));
        f.a.put(image() + a_words * 4 + in_register(i, p), f.value_a(i, p));
      }
    for (int j = 0; j < f.n; ++j)
      for (int p = 0; p < f.b.k; ++p)
        f.b.put(image() + b_at + b_.place(j, p, f.b.bytes), f.value_b(p, j));
    for (int i = 0; i < 64; ++i)
      for (int j = 0; j < f.n; ++j) put_sum(i, j, c_of(i, j));
  }

  void expect_right() {
    ASSERT_EQ(text_of(kernel_.run(threads_of_group)), "") << form_.text();
    for (int i = 0; i < 64; ++i)
      for (int j = 0; j < form_.n; ++j)
        ASSERT_EQ(get_sum(i, j), form_.wanted(i, j)) << form_.text() << ": " << i << " " << j;
  }

 private:
  std::byte* image() { return reinterpret_cast<std::byte*>(kernel_.words.data()); }

  // Each lane has words of rows i and i + 8, of 4 bytes along k, then of those 16 bytes farther.
  int in_register(int i, int p) const {
    const int byte = p * form_.a.bytes;
    const int thread = i / 16 * 32 + i % 8 * 4 + byte % 16 / 4, r = i % 16 / 8 + 2 * (byte / 16);
    return (thread * 4 + r) * 4 + byte % 4;
  }
  // Byte of the sum in row i and column j.
  int of_sum(int i, int j) const {
    const int bytes = form_.sum == "f16" ? 2 : 4;
    const int thread = i / 16 * 32 + i % 8 * 4 + j % 8 / 2;
    const int element = j / 8 * 4 + i % 16 / 8 * 2 + j % 2;
    return c_words * 4 + thread * form_.registers() * 4 + element * bytes;
  }
  void put_sum(int i, int j, int value) {
    if (form_.sum == "s32")
      std::memcpy(image() + of_sum(i, j), &value, 4);
    else
      Element{form_.sum == "f16" ? "f16" : "tf32"}.put(image() + of_sum(i, j), value);
  }
  int get_sum(int i, int j) {
    const std::byte* const from = image() + of_sum(i, j);
    std::uint16_t half = 0;
    float real = 0;
    int whole = 0;
    std::memcpy(&half, from, 2);
    std::memcpy(&real, from, 4);
    std::memcpy(&whole, from, 4);
    return form_.sum == "f16"   ? static_cast<int>(float_of_half(half))
           : form_.sum == "s32" ? whole
                                : static_cast<int>(real);
  }

  std::string body() const {
    const Form& f = form_;
    std::string text = fmt::format("{{ .reg .b32 %s<{}>; .reg .b32 %a<4>;\n", f.registers());
    text += copy_to_big(image_words) + descriptor_of(10, a_, 0) + descriptor_of(11, b_, b_at);
    text += "mul.wide.u32 %rd1, %t, 16; add.s64 %rd2, %out, %rd1;\n";
    for (int r = 0; r < 4; ++r)
      text += fmt::format("ld.global.b32 %a{}, [%rd2+{}];\n", r, a_words * 4 + r * 4);
    text +=
        fmt::format("mul.wide.u32 %rd1, %t, {}; add.s64 %rd2, %out, %rd1;\n", f.registers() * 4);
    for (int r = 0; r < f.registers(); ++r)
      text += fmt::format("ld.global.b32 %s{}, [%rd2+{}];\n", r, c_words * 4 + r * 4);
    text += fmt::format("setp.eq.u32 %p2, 1, {};\nwgmma.fence.sync.aligned;\n", f.adds ? 1 : 0);
    text += fmt::format("wgmma.mma_async.sync.aligned.m64n{}k{}.{}.{}.{} {}, {}, %rd11, {}", f.n,
                        f.a.k, f.sum, f.a.name, f.b.name, numbered("s", f.registers()),
                        f.a_in_registers ? "{%a0, %a1, %a2, %a3}" : "%rd10",
                        !f.is_told_by_a_number ? "%p2"
                        : f.adds               ? "1"
                                               : "0");
    if (f.sum != "s32") text += fmt::format(", {}, {}", f.scale_a, f.scale_b);
    if (f.a.bytes == 2 && !f.a_in_registers) text += fmt::format(", {}", f.a_across_k ? 1 : 0);
    if (f.a.bytes == 2) text += fmt::format(", {}", f.b_across_k ? 1 : 0);
    text += ";\nwgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n";
    return text + store_sums_at(c_words, f.registers(), "b32") + "}\n";
  }

  Form form_;
  Placing a_, b_;
  WrittenKernel kernel_;
};

void expect_right(const Form& form) { Product(form).expect_right(); }

constexpr int togethers[] = {1, 2, 4, 8};

TEST(Wgmma, multiplies_matrices_that_lie_along_k) {
  for (const int together : togethers)
    for (const int n : {8, 24, 64, 256})
      for (const bool in_registers : {false, true})
        for (const auto& [type, sum] :
             {std::pair{"tf32", "f32"}, {"bf16", "f32"}, {"f16", "f32"}, {"f16", "f16"}})
          expect_right({.a = {type},
                        .b = {type},
                        .sum = sum,
                        .n = n,
                        .together = together,
                        .a_in_registers = in_registers});
}

TEST(Wgmma, multiplies_matrices_that_lie_across_k) {
  for (const int together : togethers)
    for (const int n : {8, 24, 64, 256})
      for (const auto& [a, b] : {std::pair{true, true}, {true, false}, {false, true}})
        for (const char* type : {"bf16", "f16"})
          expect_right({.a = {type},
                        .b = {type},
                        .sum = "f32",
                        .n = n,
                        .together = together,
                        .a_across_k = a,
                        .b_across_k = b});
  expect_right({.a = {"f16"},
                .b = {"f16"},
                .sum = "f32",
                .n = 40,
                .together = 8,
                .b_across_k = true,
                .a_in_registers = true});
}

TEST(Wgmma, multiplies_whole_numbers) {
  for (const int together : togethers)
    for (const int n : {8, 24, 48, 256})
      for (const bool in_registers : {false, true})
        for (const auto& [a, b] : {std::pair{"s8", "s8"}, {"u8", "s8"}, {"s8", "u8"}, {"u8", "u8"}})
          expect_right({.a = {a},
                        .b = {b},
                        .sum = "s32",
                        .n = n,
                        .together = together,
                        .a_in_registers = in_registers});
}

TEST(Wgmma, multiplies_floats_of_eight_bits) {
  for (const int together : togethers)
    for (const int n : {8, 24, 256})
      for (const bool in_registers : {false, true})
        for (const auto& [a, b] :
             {std::pair{"e4m3", "e4m3"}, {"e5m2", "e4m3"}, {"e4m3", "e5m2"}, {"e5m2", "e5m2"}})
          for (const char* const sum : {"f32", "f16"})
            expect_right({.a = {a},
                          .b = {b},
                          .sum = sum,
                          .n = n,
                          .together = together,
                          .a_in_registers = in_registers});
}

TEST(Wgmma, negates_and_begins_anew) {
  for (const int scale_a : {1, -1})
    for (const int scale_b : {1, -1})
      for (const bool adds : {false, true})
        for (const char* type : {"tf32", "f16"})
          expect_right({.a = {type},
                        .b = {type},
                        .sum = "f32",
                        .n = 16,
                        .adds = adds,
                        .scale_a = scale_a,
                        .scale_b = scale_b});
}

// Four products along rows of 128 swizzled bytes: each begins 32 bytes farther.
TEST(Wgmma, may_be_told_by_a_number_whether_to_add) {
  for (const bool adds : {false, true}) {
    Form form{.a = {"bf16"}, .b = {"bf16"}, .sum = "f32", .adds = adds};
    form.is_told_by_a_number = true;
    expect_right(form);
  }
}

TEST(Wgmma, takes_slices_of_swizzled_rows) {
  const Placing rows{8, false, 16, 1024};
  const Form form{.a = {"bf16"}, .b = {"bf16"}, .sum = "f32"};
  std::string body = "{ .reg .b32 %s<4>;\n" + copy_to_big(4096) + R"(
mov.b32 %s0, 0; mov.b32 %s1, 0; mov.b32 %s2, 0; mov.b32 %s3, 0; setp.eq.u32 %p2, 0, 0;
wgmma.fence.sync.aligned;
)";
  for (int slice = 0; slice < 4; ++slice)
    body +=
        descriptor_of(10, rows, slice * 32) + descriptor_of(11, rows, 8192 + slice * 32) +
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%s0, %s1, %s2, %s3}, %rd10, %rd11, "
        "%p2, 1, 1, 0, 0;\n";
  body += "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n" +
          store_sums_at(4096, 4, "b32") + "}";
  WrittenKernel kernel(body, big_array);
  kernel.words.resize(4096 + 512);
  auto* const image = reinterpret_cast<std::byte*>(kernel.words.data());
  for (int p = 0; p < 64; ++p) {
    for (int i = 0; i < 64; ++i) form.a.put(image + rows.place(i, p, 2), form.value_a(i, p));
    for (int j = 0; j < 8; ++j) form.b.put(image + 8192 + rows.place(j, p, 2), form.value_b(p, j));
  }
  ASSERT_EQ(text_of(kernel.run(threads_of_group)), "");
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 8; ++j) {
      float wanted = 0, sum = 0;
      for (int p = 0; p < 64; ++p)
        wanted += static_cast<float>(form.value_a(i, p) * form.value_b(p, j));
      const int thread = i / 16 * 32 + i % 8 * 4 + j / 2, r = i % 16 / 8 * 2 + j % 2;
      std::memcpy(&sum, &kernel.words[static_cast<std::size_t>(4096 + thread * 4 + r)], 4);
      ASSERT_EQ(sum, wanted) << i << " " << j;
    }
}

TEST(Wgmma, that_is_not_known_is_named) {
  const auto refusal = [](const std::string& form) {
    return text_of(WrittenKernel("setp.eq.u32 %p2, 0, 0; wgmma." + form + ";", big_array)
                       .run(threads_of_group));
  };
  const std::string sums = " {%f0, %f1, %f2, %f3}, %rd1, %rd2";
  EXPECT_THAT(
      refusal("mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16" + sums +
              ", %r1, 0, %p2, 1, 1, 0, 0"),
      HasSubstr("is not supported: of matrices whole ones of f16, bf16, tf32, e4m3, e5m2, s8 "
                "and u8"));
  EXPECT_THAT(
      refusal("mma_async.sync.aligned.m64n8k16.f32.e4m3.e5m2" + sums + ", %p2, 1, 1"),
      HasSubstr(
          "wgmma.mma_async.sync.aligned.m64n8k16.f32.e4m3.e5m2 is not supported: of matrices"));
  EXPECT_THAT(
      refusal("mma_async.sync.aligned.m64n12k16.f32.bf16.bf16" + sums + ", %p2, 1, 1, 0, 0"),
      HasSubstr("is not supported"));
  EXPECT_THAT(
      refusal("mma_async.sync.aligned.m64n16k16.f32.bf16.bf16" + sums + ", %p2, 1, 1, 0, 0"),
      HasSubstr("4 registers cannot hold 256 elements of a warp"));
}

}  // namespace
}  // namespace ptx::tests
