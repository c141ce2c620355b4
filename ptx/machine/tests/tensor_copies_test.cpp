// Copies of boxes of a tensor, by a map.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "ptx/machine/async/tensor_map.h"
#include "ptx/machine/tests/async_pieces.h"

namespace ptx::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// A tensor of 6 rows of 8 words, 16 words apart, and its boxes of 4 rows of 8 words. The map lies
// at word 960 of the kernel's memory, or up to 15 behind it, at a multiple of 64 bytes.
class TensorCopy : public testing::Test {
 protected:
  TensorMap map{.mark = TensorMap::our_mark,
                .strides = {64},
                .last = {7, 5},
                .box = {8, 4},
                .element_bytes = 4,
                .dimensions = 2};
  std::uint64_t first_word = 0;

  static constexpr const char* acquire_map =
      "fence.proxy.tensormap::generic.acquire.gpu [%rd5], 128;";

  // Thread 0 copies the box at column x and row y, and every thread stores its word of it.
  static std::string load(int x, int y, int to = 0, const std::string& wait = wait_for(0),
                          int map_off = 0, const std::string& acquire = acquire_map) {
    return make(1) + places +
           fmt::format(
               "setp.ne.u32 %p1, %t, 0; @%p1 bra $started; add.s64 %rd5, %out, 3903;"
               "and.b64 %rd5, %rd5, -64; add.s64 %rd5, %rd5, {};"
               "{} mov.u32 %r40, {}; mov.u32 %r41, {};"
               "mbarrier.arrive.expect_tx.shared.b64 %rd30, [%r20], 128;"
               "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%r9+{}], [%rd5, {{%r40, %r41}}], [%r20]; $started:",
               map_off, acquire, x, y, to) +
           wait + fmt::format("ld.shared.u32 %r1, [%r3+{}]; st.global.u32 [%rd2+2048], %r1;", to);
  }
  // Every thread writes 1000 + its number to the tile, and the first `lanes` of them copy that to
  // the box.
  static std::string store(int x, int y, const char* wait = "cp.async.bulk.wait_group.read 0;",
                           int lanes = 1) {
    return places +
           fmt::format(
               "add.u32 %r5, %t, 1000; st.shared.u32 [%r3], %r5; fence.proxy.async; bar.sync 0;"
               "setp.ge.u32 %p1, %t, {}; @%p1 bra $out; add.s64 %rd5, %out, 3903;"
               "and.b64 %rd5, %rd5, -64; {}"
               "mov.u32 %r40, {}; mov.u32 %r41, {};"
               "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd5, {{%r40, %r41}}], "
               "[%r9]; cp.async.bulk.commit_group; {} $out: bar.sync 0; st.shared.u32 [%r3], 7;",
               lanes, acquire_map, x, y, wait);
  }

  std::string found(const std::string& body,
                    const std::function<void(const WrittenKernel&)>& check = {}) {
    std::string text;
    for (const Settings& settings : all_orders()) {
      WrittenKernel kernel(body);
      for (unsigned n = 0; n < kernel.words.size(); ++n) kernel.words[n] = n;
      map.address = reinterpret_cast<std::uint64_t>(kernel.words.data() + first_word);
      const auto place = reinterpret_cast<std::uintptr_t>(kernel.words.data() + 960) + 63;
      std::memcpy(reinterpret_cast<void*>(place / 64 * 64), &map, sizeof map);
      text = text_of(kernel.run(32, settings));
      if (text.empty() && check) check(kernel);
    }
    return text;
  }
  // What the tensor has at a column and row; 0 outside.
  static unsigned element(int x, int y) {
    return x < 0 || x > 7 || y < 0 || y > 5 ? 0 : static_cast<unsigned>(y * 16 + x);
  }
};

TEST_F(TensorCopy, reads_zeros_outside_of_its_tensor) {
  for (const auto& [x, y] :
       {std::pair(0, 0), {0, 1}, {-4, 4}, {4, -2}, {8, 0}, {0, 6}, {0, -9}, {-8, 0}, {96, 99}}) {
    const auto check = [x = x, y = y](const WrittenKernel& kernel) {
      for (int t = 0; t < 32; ++t)
        EXPECT_EQ(kernel.words[static_cast<std::size_t>(512 + t)], element(x + t % 8, y + t / 8))
            << "word " << t << " of the box at " << x << ", " << y;
    };
    EXPECT_EQ(found(load(x, y), check), "");
  }
}

TEST_F(TensorCopy, swizzles) {
  map.swizzle = 1;  // 32 bytes: in the second 128 bytes the pieces of 16 are exchanged
  EXPECT_EQ(found(load(0, 1, 128),
                  [](const WrittenKernel& kernel) {
                    for (int t = 0; t < 32; ++t)
                      EXPECT_EQ(kernel.words[static_cast<std::size_t>(512 + t)],
                                element(t % 8 ^ 4, 1 + t / 8));
                  }),
            "");
}

TEST_F(TensorCopy, writes_what_lies_in_its_tensor) {
  const auto check = [](const WrittenKernel& kernel) {
    for (int y = 0; y < 6; ++y)
      for (int x = 0; x < 16; ++x) {
        const bool copied = x >= 4 && x < 8 && y >= 3;  // the box begins at column 4 and row 3
        EXPECT_EQ(kernel.words[static_cast<std::size_t>(y * 16 + x)],
                  copied ? 1000 + (y - 3) * 8 + x - 4 : y * 16 + x)
            << "row " << y << ", column " << x;
      }
    EXPECT_EQ(kernel.words[6 * 16], 6u * 16) << "behind the last row";
  };
  EXPECT_EQ(found(store(4, 3), check), "");
  EXPECT_EQ(found(store(4, 3, "cp.async.bulk.wait_group 0;", 32), check), "") << "all lanes alike";
  map.last[0] = 5;  // hardware writes whole pieces of 16 bytes
  EXPECT_EQ(found(store(4, 3), check), "");
  EXPECT_THAT(found(store(4, 3, "")), HasSubstr("a wait for the copy is missing"));
}

TEST_F(TensorCopy, by_a_map_in_global_memory_comes_behind_a_fence_of_its_block) {
  const auto fenced_by = [](const std::string& acquire) {
    return load(0, 0, 0, wait_for(0), 0, acquire);
  };
  const testing::Matcher<std::string> lacks =
      AllOf(StartsWith("data race"), HasSubstr("by a tensor map in global memory, byte 38"),
            HasSubstr("no thread of its block has executed "
                      "fence.proxy.tensormap::generic.acquire for it"));
  EXPECT_THAT(found(fenced_by("")), lacks);
  EXPECT_THAT(found(fenced_by("fence.proxy.async; fence.acq_rel.sys;")), lacks);
  EXPECT_THAT(found(fenced_by("add.s64 %rd6, %rd5, 128;"
                              "fence.proxy.tensormap::generic.acquire.sys [%rd6], 128;")),
              lacks)
      << "of another one";
  EXPECT_THAT(found(fenced_by("fence.proxy.tensormap::generic.release.gpu;")), lacks);
  EXPECT_EQ(found(fenced_by("fence.proxy.tensormap::generic.acquire.sys [%rd5], 128;")), "");
}

TEST_F(TensorCopy, by_a_map_in_global_memory_is_fenced_by_each_block) {
  const auto found_in_two = [&](const std::string& acquire) {
    WrittenKernel kernel("mov.u32 %r50, %ctaid.x; setp.eq.u32 %p5, %r50, 0;" +
                         load(0, 0, 0, wait_for(0) + "@!%p5 ret;", 0, acquire));
    map.address = reinterpret_cast<std::uint64_t>(kernel.words.data());
    const auto place = reinterpret_cast<std::uintptr_t>(kernel.words.data() + 960) + 63;
    std::memcpy(reinterpret_cast<void*>(place / 64 * 64), &map, sizeof map);
    return text_of(kernel.run(32, {}, 2));
  };
  EXPECT_EQ(found_in_two(acquire_map), "");
  EXPECT_THAT(found_in_two(std::string("@%p5 ") + acquire_map),
              HasSubstr("of block (1,0,0) copies by a tensor map in global memory"));
}

TEST_F(TensorCopy, by_a_map_in_constant_memory_takes_no_fence) {
  WrittenKernel kernel(load(0, 0, 0, wait_for(0), 0, "mov.u64 %rd5, constant_map;"),
                       ".const .align 64 .b8 constant_map[128];");
  map.address = reinterpret_cast<std::uint64_t>(kernel.words.data());
  std::memcpy(kernel.symbol("constant_map").address, &map, sizeof map);
  EXPECT_EQ(text_of(kernel.run(32)), "");
}

TEST_F(TensorCopy, begins_where_hardware_takes_it) {
  EXPECT_THAT(found(load(-3, 0)), HasSubstr("begins at byte -12 of a row, no multiple of 16"));
  EXPECT_THAT(found(store(5, 0)), StartsWith("illegal instruction"));
  EXPECT_THAT(found(store(0, -2)), HasSubstr("begins at -2 in dimension 1, before its tensor"));
}

TEST_F(TensorCopy, is_looked_at) {
  EXPECT_THAT(found(load(0, 0, 0, "bar.sync 0;")), HasSubstr("a wait for the copy is missing"));
  EXPECT_THAT(found(load(0, 0, 64)),
              HasSubstr("copies a box of a tensor 64 bytes past a multiple of 128"));
  EXPECT_THAT(found(load(0, 0, 0, wait_for(0), 16)),
              HasSubstr("by a tensor map that lies 16 bytes past a multiple of 64"));
  first_word = 1024 - 64;
  EXPECT_THAT(found(load(0, 3)), HasSubstr("past the end of words"));
  EXPECT_THAT(found(store(0, 3)), AllOf(HasSubstr("past the end of words"),
                                        HasSubstr("writes whole pieces of 16 bytes")));
  first_word = 0, map.dimensions = 3, map.box[2] = 1;
  EXPECT_THAT(found(load(0, 0)), HasSubstr("names 2 coordinates of a tensor of 3 dimensions"));
  map.mark = 0;
  EXPECT_THAT(found(load(0, 0)), HasSubstr("that cuTensorMapEncodeTiled did not make"));
}

}  // namespace
}  // namespace ptx::tests
