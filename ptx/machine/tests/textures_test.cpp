// Texels by texture objects: which are read, what becomes of them, and what is seen of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "ptx/machine/tests/written_kernel.h"
#include "ptx/machine/texture/texture.h"

namespace ptx::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Edge = Texture::Edge;
using Kind = Texture::Kind;

constexpr std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

// 4 rows of 10 texels, at 0, 4, 8, ... of each row of 64 bytes from 512 on.
Texture rows_of(Edge edge, bool is_normalised) {
  return {.address = 512,
          .pitch = 64,
          .width = 10,
          .height = 4,
          .is_normalised = is_normalised,
          .edges = {edge, edge},
          .border = {7, 8, 9, 10}};
}
// The column that a coordinate names; -1: none, -2: the border.
int column(const Texture& t, float x, float y = 0) {
  const NamedTexel texel = texel_at(t, {.count = 2, .bits = {bits(x), bits(y)}});
  if (texel.place == NamedTexel::Place::inside) return static_cast<int>(texel.address % 64 / 4);
  return texel.place == NamedTexel::Place::border ? -2 : -1;
}
int column_of_integers(const Texture& t, int x, int y) {
  const NamedTexel texel =
      texel_at(t, {.are_integers = true,
                   .count = 2,
                   .bits = {static_cast<unsigned>(x), static_cast<unsigned>(y)}});
  return texel.place == NamedTexel::Place::inside ? static_cast<int>(texel.address % 64 / 4) : -1;
}

constexpr float infinite = std::numeric_limits<float>::infinity(),
                no_number = std::numeric_limits<float>::quiet_NaN();

// All of these as an H100 had them.
TEST(Texels, AreCutOffAtTheEdgeOrAreTheBorder) {
  for (const Edge edge : {Edge::wrap, Edge::clamp, Edge::mirror}) {
    const Texture t = rows_of(edge, false);
    EXPECT_EQ(column(t, -0.51f), 0);
    EXPECT_EQ(column(t, 0.99f), 0);
    EXPECT_EQ(column(t, 3.7f), 3);
    EXPECT_EQ(column(t, std::nextafter(3.0f, 0.0f)), 2);
    EXPECT_EQ(column(t, 12.5f), 9);
    EXPECT_EQ(column(t, infinite), 9);
    EXPECT_EQ(column(t, no_number), 0);
  }
  const Texture t = rows_of(Edge::border, false);
  EXPECT_EQ(column(t, -0.01f), -2);
  EXPECT_EQ(column(t, 9.6f), 9);
  EXPECT_EQ(column(t, 10), -2);
  EXPECT_EQ(column(t, 3, 4), -2);
  EXPECT_EQ(column(t, no_number), 0);
  EXPECT_THAT(border_of(t), ElementsAre(7, 0, 0, 0));
}

TEST(Texels, HaveCoordinatesFromZeroToOne) {
  const Texture wrapped = rows_of(Edge::wrap, true), mirrored = rows_of(Edge::mirror, true),
                clamped = rows_of(Edge::clamp, true), bordered = rows_of(Edge::border, true);
  EXPECT_EQ(column(wrapped, -0.51f), 4);
  EXPECT_EQ(column(wrapped, -0.01f), 9);
  EXPECT_EQ(column(wrapped, 1.2f), 1);
  EXPECT_EQ(column(wrapped, 12.5f), 5);
  EXPECT_EQ(column(wrapped, infinite), 0);
  EXPECT_EQ(column(wrapped, 0.2f), 1) << "of a coordinate 21 bits count";
  EXPECT_EQ(column(mirrored, -0.51f), 5);
  EXPECT_EQ(column(mirrored, 1.2f), 8);
  EXPECT_EQ(column(mirrored, 3.7f), 3);
  EXPECT_EQ(column(mirrored, 9.6f), 3);
  EXPECT_EQ(column(mirrored, 1), 9);
  EXPECT_EQ(column(clamped, -0.01f), 0);
  EXPECT_EQ(column(clamped, 0.99f), 9);
  EXPECT_EQ(column(clamped, 1.2f), 9);
  EXPECT_EQ(column(bordered, 0.99f), 9);
  EXPECT_EQ(column(bordered, 1), -2);
  EXPECT_EQ(column(bordered, -0.01f), -2);
}

TEST(Texels, OfIntegersAreNothingOutside) {
  for (const Edge edge : {Edge::clamp, Edge::border}) {
    const Texture t = rows_of(edge, true);
    EXPECT_EQ(column_of_integers(t, 2, 2), 2);
    EXPECT_EQ(column_of_integers(t, 11, 0), -1);
    EXPECT_EQ(column_of_integers(t, -1, 0), -1);
    EXPECT_EQ(column_of_integers(t, 0, -1), -1);
  }
}

TEST(Texels, BecomeNumbersOf32Bits) {
  const std::uint32_t word = 0x4000bf80;  // of bytes 80 bf 00 40
  const auto read = [&](Texture t) {
    return channels_of(t, reinterpret_cast<const std::byte*>(&word));
  };
  EXPECT_THAT(read({}), ElementsAre(word, 0, 0, 0));
  EXPECT_THAT(read({.channels = 4, .bits = 8, .kind = Kind::without_sign}),
              ElementsAre(0x80, 0xbf, 0, 0x40));
  EXPECT_THAT(read({.channels = 2, .bits = 8, .kind = Kind::with_sign}),
              ElementsAre(0xffffff80, 0xffffffbf, 0, 0));
  EXPECT_THAT(read({.channels = 2, .bits = 16, .kind = Kind::real}),
              ElementsAre(bits(-1.875f), bits(2), 0, 0));
  EXPECT_THAT(read({.channels = 2, .bits = 8, .kind = Kind::with_sign, .reads_fractions = true}),
              ElementsAre(bits(-1), bits(-65.0f / 127), 0, 0));
  EXPECT_THAT(
      read({.channels = 2, .bits = 16, .kind = Kind::without_sign, .reads_fractions = true}),
      ElementsAre(bits(0xbf80 / 65535.0f), bits(0x4000 / 65535.0f), 0, 0));
}

// Reads texel %t, or as `body` says, of plain memory of 8 words: 100, 101, ...
class Fetching {
 public:
  explicit Fetching(
      const std::string& body = "tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {%t}];",
      bool is_written = true)
      : kernel("mov.b64 %rd1, 1;" + body + store_r1) {
    first = static_cast<std::uint32_t*>(kernel.memory().allocate(32, "texels"));
    for (std::uint32_t i = 0; i < 8; ++i) first[i] = 100 + i;
    if (is_written) kernel.memory().mark_written(address(), 32);
  }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(first); }
  void add(std::uint64_t width) {
    kernel.memory().add_texture(
        {.address = address(), .width = width, .height = 1, .is_linear = true});
  }

  WrittenKernel kernel;
  std::uint32_t* first = nullptr;
};

// 3 layers of 2 rows of 4 words, in rows of 4 and layers of 8: 100, 101, ...
class Layers {
 public:
  explicit Layers(const std::string& body, bool is_surface = true, bool is_layered = true)
      : kernel("mov.b64 %rd1, 1;" + body + store_r1) {
    words = static_cast<std::uint32_t*>(kernel.memory().allocate(96, "the array"));
    for (std::uint32_t i = 0; i < 24; ++i) words[i] = 100 + i;
    kernel.memory().mark_written(reinterpret_cast<std::uint64_t>(words), 96);
    kernel.memory().add_texture({.address = reinterpret_cast<std::uint64_t>(words),
                                 .pitch = 16,
                                 .width = 4,
                                 .height = 2,
                                 .slice = 32,
                                 .depth = 3,
                                 .is_layered = is_layered,
                                 .edges = {Edge::clamp, Edge::clamp, Edge::clamp},
                                 .is_surface = is_surface});
  }
  std::string run(unsigned threads = 1) { return text_of(kernel.run(threads)); }
  WrittenKernel kernel;
  std::uint32_t* words = nullptr;
};

TEST(LayeredTextures, AreReadByLayer) {
  const auto read = [](const char* fetch, bool is_layered) {
    Layers layers(fetch, false, is_layered);
    EXPECT_EQ(layers.run(), "");
    return layers.kernel.words[0];
  };
  const char* const second =
      "mov.u32 %r9, 1; mov.f32 %f1, 0f40200000; mov.f32 %f2, 0f3F800000;"
      "tex.a2d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%r9, %f1, %f2, %f2}];";
  EXPECT_EQ(read(second, true), 100u + 8 + 4 + 2);
  const auto of_layer_7 = [&](const char* form) {
    return read(
        (std::string("mov.u32 %r9, 7; mov.f32 %f1, 0f3F800000; mov.u32 %r8, 1; tex.a2d.v4.u32.") +
         form)
            .c_str(),
        true);
  };
  EXPECT_EQ(of_layer_7("f32 {%r1, %r2, %r3, %r4}, [%rd1, {%r9, %f1, %f1, %f1}];"),
            100u + 16 + 4 + 1)
      << "the last layer comes in the place of those beyond";
  EXPECT_EQ(of_layer_7("s32 {%r1, %r2, %r3, %r4}, [%rd1, {%r9, %r8, %r8, %r8}];"), 0u)
      << "but there is none by integers";
  EXPECT_EQ(read("tex.2d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {1, 1}];", true), 100u + 4 + 1)
      << "the first layer";
  EXPECT_EQ(read("tex.3d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {1, 1, 1, 1}];", true), 0u);
  EXPECT_EQ(read("tex.2d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {1, 1}];", false), 0u);
  EXPECT_EQ(read("tex.a2d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {1, 1, 1, 1}];", false), 0u);
  EXPECT_EQ(read("tex.a1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {1, 1}];", true), 0u);
  EXPECT_EQ(read("tex.3d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {3, 1, 2, 2}];", false),
            100u + 16 + 4 + 3);
  EXPECT_EQ(read("tex.3d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {3, 1, 3, 3}];", false), 0u);
  EXPECT_EQ(read("txq.depth.b32 %r1, [%rd1];", false), 3u);
}

TEST(Surfaces, AreReadAndWrittenByBytes) {
  Layers layers(
      "shl.b32 %r9, %t, 2; suld.b.a2d.b32.trap {%r1}, [%rd1, {2, %r9, 1, 1}];"
      "add.u32 %r2, %r1, 1000; mov.u32 %r3, 7; shl.b32 %r9, %t, 3;"
      "setp.lt.u32 %p1, %t, 2; @%p1 sust.b.a2d.v2.b32.trap [%rd1, {0, %r9, 1, 1}], {%r2, %r3};");
  EXPECT_EQ(layers.run(4), "");
  EXPECT_THAT(std::vector(layers.kernel.words.begin(), layers.kernel.words.begin() + 4),
              ElementsAre(120, 121, 122, 123));
  EXPECT_THAT(std::vector(layers.words + 3, layers.words + 9),
              ElementsAre(103, 1120, 7, 1121, 7, 108));
}

TEST(Surfaces, HaveWordsOfEverySize) {
  Layers layers(
      ".reg .b16 %h; suld.b.3d.b64.trap {%rd2}, [%rd1, {8, 0, 1, 1}]; suld.b.3d.b16.trap {%h}, "
      "[%rd1, {2, 0, 0, "
      "0}];"
      "add.u64 %rd2, %rd2, 1; sust.b.3d.b64.trap [%rd1, {0, 1, 1, 1}], {%rd2};"
      "sust.b.3d.b8.trap [%rd1, {5, 0, 0, 0}], {%h}; mov.u32 %r1, 0;",
      true, false);
  layers.words[0] = 0xabcd0000;
  EXPECT_EQ(layers.run(), "");
  EXPECT_EQ(layers.words[12], 100u + 8 + 2 + 1);
  EXPECT_EQ(layers.words[13], 100u + 8 + 3);
  EXPECT_EQ(layers.words[1], 0xcd00u + 101);
}

TEST(Surfaces, AreBeyondTheirEdgesWhatTheKernelSays) {
  EXPECT_THAT(Layers("suld.b.a2d.b32.trap {%r1}, [%rd1, {0, 16, 0, 0}];").run(),
              HasSubstr("reads 4 bytes from byte 16 of a row, outside of a surface of 2 x 4"));
  EXPECT_THAT(Layers("sust.b.a2d.b32.trap [%rd1, {3, 0, 0, 0}], {%t};").run(),
              HasSubstr("outside of a surface"));
  EXPECT_THAT(Layers("suld.b.a2d.v4.b32.trap {%r1, %r2, %r3, %r4}, [%rd1, {0, 16, 0, 0}];").run(),
              HasSubstr("reads 16 bytes from byte 16 of a row, outside"));
  EXPECT_THAT(Layers("suld.b.a2d.b32.trap {%r1}, [%rd1, {0, 2, 0, 0}];").run(),
              HasSubstr("the first coordinate counts bytes"));
  Layers clamps("suld.b.a2d.b32.clamp {%r1}, [%rd1, {-1, 20, -1, -1}];");
  EXPECT_EQ(clamps.run(), "");
  EXPECT_EQ(clamps.kernel.words[0], 100u + 16 + 3);
  Layers zeros(
      "mov.u32 %r1, 5; suld.b.a2d.b32.zero {%r1}, [%rd1, {0, -4, 0, 0}];"
      "sust.b.a2d.b32.zero [%rd1, {0, 16, 0, 0}], {%t};");
  EXPECT_EQ(zeros.run(), "");
  EXPECT_EQ(zeros.kernel.words[0], 0u);
  EXPECT_EQ(zeros.words[4], 104u);
}

TEST(Surfaces, AreNoTexturesAndNotReadWhereTheSameLaunchWrote) {
  EXPECT_THAT(Layers("suld.b.a2d.b32.trap {%r1}, [%rd1, {0, 0, 0, 0}];", false).run(),
              HasSubstr("goes by surface object 1, which nobody has made"));
  EXPECT_THAT(Layers("tex.a2d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {0, 0, 0, 0}];").run(),
              HasSubstr("reads by texture object 1, which nobody has made"));
  EXPECT_THAT(Layers("sust.b.a2d.b32.trap [%rd1, {0, 0, 0, 0}], {%t}; membar.gl;"
                     "suld.b.a2d.b32.trap {%r1}, [%rd1, {0, 0, 0, 0}];")
                  .run(),
              HasSubstr("read-only cache"));
  EXPECT_THAT(Layers("sust.b.a2d.b32.trap [%rd1, {0, 0, 0, 0}], {%t};").run(2),
              HasSubstr("data race"));
}

TEST(Surfaces, TellWhatOfThemNobodyWrote) {
  Layers layers("suld.b.a2d.v2.b32.trap {%r2, %r1}, [%rd1, {0, 0, 0, 0}];");
  layers.kernel.memory().forget(reinterpret_cast<std::uint64_t>(layers.words));
  layers.kernel.memory().lend({.name = "the array",
                               .first = reinterpret_cast<std::uint64_t>(layers.words),
                               .row_bytes = 96,
                               .pitch_bytes = 96,
                               .written = false});
  layers.kernel.memory().mark_written(reinterpret_cast<std::uint64_t>(layers.words), 4);
  EXPECT_THAT(layers.run(),
              HasSubstr("leaves in memory a value that nobody wrote: byte 4 of the array"));
}

TEST(Surfaces, AreLeftBitsOfARegisterThatWereSet) {
  const auto found = [](const char* type) {
    return Layers(std::string(
                      ".reg .b16 %h<3>; shl.b16 %h1, %h2, 8; or.b16 %h1, %h1, 7; sust.b.a2d.") +
                  type + ".trap [%rd1, {0, 0, 0, 0}], {%h1}; mov.u32 %r1, 0;")
        .run();
  };
  EXPECT_EQ(found("b8"), "") << "those beside them stay in the register";
  EXPECT_THAT(found("b16"), HasSubstr("leaves in memory a value that nobody wrote"));
}

TEST(Surfaces, AreLeftNothingThatNobodyWrote) {
  EXPECT_THAT(Layers("sust.b.a2d.b32.trap [%rd1, {0, 0, 0, 0}], {%r50}; mov.u32 %r1, 0;").run(),
              HasSubstr("leaves in memory a value that nobody wrote"));
  EXPECT_THAT(Layers("sust.b.a2d.b32.trap [%rd1, {0, %r50, 0, 0}], {%t}; mov.u32 %r1, 0;").run(),
              HasSubstr("takes an address from a value that nobody wrote"));
}

TEST(TextureObjects, AreReadBy) {
  Fetching f;
  f.add(6);
  EXPECT_EQ(text_of(f.kernel.run(32)), "");
  EXPECT_THAT(std::vector(f.kernel.words.begin(), f.kernel.words.begin() + 8),
              ElementsAre(100, 101, 102, 103, 104, 105, 0, 0))
      << "there is nothing beyond its end";
}

TEST(TextureObjects, TellTheirWidth) {
  Fetching f("txq.width.b32 %r1, [%rd1]; txq.height.b32 %r2, [%rd1]; add.u32 %r1, %r1, %r2;");
  f.add(6);
  EXPECT_EQ(text_of(f.kernel.run(1)), "");
  EXPECT_EQ(f.kernel.words[0], 6u);
}

TEST(TextureObjects, LieInMemoryThatIsThere) {
  Fetching f;
  f.add(9);
  EXPECT_THAT(text_of(f.kernel.run(32)),
              HasSubstr("thread (8,0,0) of block (0,0,0) reads 4 bytes"));
  EXPECT_EQ(text_of(f.kernel.run(8)), "") << "what nobody reads may lie outside";
}

TEST(TextureObjects, MustBeThere) {
  Fetching f;
  f.add(6);
  EXPECT_TRUE(f.kernel.memory().remove_texture(1));
  EXPECT_FALSE(f.kernel.memory().remove_texture(1));
  EXPECT_THAT(text_of(f.kernel.run(1)),
              HasSubstr("reads by texture object 1, which nobody has made, or which is destroyed"));
}

TEST(TextureObjects, AreNotReadThroughWhatTheSameLaunchWrote) {
  const std::string read = "tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {0}];";
  const auto run = [&](bool writes_first) {
    // Its address is a parameter: words 0 and 1 hold it.
    Fetching f("ld.global.u64 %rd5, [%out]; mov.u32 %r9, 5;" +
               (writes_first ? "st.global.u32 [%rd5], %r9; membar.gl;" + read
                             : read + "st.global.u32 [%rd5], %r9;"));
    f.add(6);
    const std::uint64_t address = f.address();
    std::memcpy(f.kernel.words.data(), &address, sizeof address);
    return text_of(f.kernel.run(1));
  };
  EXPECT_THAT(run(true), HasSubstr("data race"));
  EXPECT_THAT(run(true), HasSubstr("read-only cache"));
  EXPECT_EQ(run(false), "");
}

TEST(TextureObjects, OfValuesThatNobodyWroteAreFollowed) {
  Fetching unset("tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {%t}];", false);
  unset.add(6);
  EXPECT_THAT(text_of(unset.kernel.run(1)),
              HasSubstr("leaves in memory a value that nobody wrote: byte 0 of texels"));
  Fetching outside("tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {8}];", false);
  outside.add(6);
  EXPECT_EQ(text_of(outside.kernel.run(1)), "");
  Fetching by_unset("tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {%r50}];");
  by_unset.add(6);
  EXPECT_THAT(text_of(by_unset.kernel.run(1)),
              HasSubstr("takes an address from a value that nobody wrote"));
}

TEST(TextureObjects, AreNotCountedAsLoads) {
  Fetching f;
  f.add(6);
  const Outcome outcome = f.kernel.run(32, {.counts = true});
  ASSERT_TRUE(outcome.counts);
  EXPECT_EQ(outcome.counts->total.global_loads.requests, 0u);
  EXPECT_EQ(outcome.counts->total.classes.at("tex").threads, 32u);
  EXPECT_THAT(outcome.counts->not_counted, ElementsAre("tex.1d"));
}

TEST(TextureObjects, AreRefusedInOtherForms) {
  const auto refusal = [](const std::string& instruction) {
    return text_of(WrittenKernel("mov.b64 %rd1, 1;" + instruction).run(1));
  };
  EXPECT_THAT(
      refusal("tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6, %f7, %f8}];"),
      HasSubstr("tex.cube.v4.f32.f32 is not supported: it would need textures that are cubes"));
  EXPECT_THAT(refusal("tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}], %f7;"),
              HasSubstr("levels of detail"));
  EXPECT_THAT(refusal("tex.1d.v2.f16x2.f32 {%r1, %r2}, [%rd1, {%f5}];"),
              HasSubstr("texels of that type"));
  EXPECT_THAT(refusal("tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];"),
              HasSubstr("the same channel of four texels"));
  EXPECT_THAT(refusal("suld.b.cube.b32.trap {%r1}, [%rd1, {%r2, %r3, %r4, %r5}];"),
              HasSubstr("surfaces that are cubes"));
  EXPECT_THAT(refusal("sured.b.add.1d.u32.trap [%rd1, {%r2}], %r1;"),
              HasSubstr("atomic operations on surfaces"));
}

}  // namespace
}  // namespace ptx::tests
