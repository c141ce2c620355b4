// Which arrays and texture objects are made, and which refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "ptx/runtime/graph/graphs.h"
#include "ptx/runtime/tests/hand_made.h"

namespace ptx::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace rt = ptx::runtime;
using rt::ChannelFormat;
using rt::TextureRequest;
using Of = TextureRequest::Of;

constexpr ChannelFormat floats{{32}, 2}, quads{{32, 32, 32, 32}, 2}, bytes{{8}, 1};

// 1 KiB of device memory, and what it takes to read it.
class Textures : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(rt::allocate(&memory_, 1024, rt::Use::device), Error::success);
  }
  void TearDown() override {
    rt::release(memory_, rt::Use::device);
    rt::take_last_error();
  }
  TextureRequest linear(std::size_t width = 1024, const ChannelFormat& format = floats) const {
    return {.of = Of::linear, .memory = memory_, .format = format, .width = width};
  }
  TextureRequest rows(std::size_t width = 8, std::size_t height = 4, std::size_t pitch = 64) const {
    return {.of = Of::rows,
            .memory = memory_,
            .format = floats,
            .width = width,
            .height = height,
            .pitch = pitch};
  }
  template <class Spoil>
  static TextureRequest but(TextureRequest asked, const Spoil& spoil) {
    spoil(asked);
    return asked;
  }
  static Error made(const TextureRequest& asked) {
    unsigned long long handle = 0;
    const Error error = rt::create_texture(handle, asked);
    EXPECT_EQ(handle != 0, error == Error::success);
    if (handle != 0) rt::destroy_texture(handle);
    return error;
  }

  void* memory_ = nullptr;
};

TEST_F(Textures, OfMemoryBeginAtMultiplesOf512) {
  EXPECT_EQ(made(linear()), Error::success);
  for (const std::size_t off : {4, 128, 256}) {
    const auto move = [&](TextureRequest& t) { t.memory = static_cast<char*>(memory_) + off; };
    EXPECT_EQ(made(but(linear(), move)), Error::invalid_value) << off;
    EXPECT_EQ(made(but(rows(), move)), Error::invalid_value) << off;
  }
  EXPECT_EQ(made(but(linear(), [](TextureRequest& t) { t.memory = nullptr; })),
            Error::invalid_value);
}

TEST_F(Textures, HaveLimits) {
  constexpr std::size_t most_bytes = std::size_t{1} << 32;
  EXPECT_EQ(rt::most_linear_texels(floats), std::size_t{1} << 30);
  EXPECT_EQ(rt::most_linear_texels(bytes), std::size_t{1} << 30);
  EXPECT_EQ(rt::most_linear_texels(quads), std::size_t{1} << 28);
  EXPECT_EQ(made(linear(most_bytes)), Error::success);
  EXPECT_EQ(made(linear(most_bytes + 4)), Error::invalid_value);
  EXPECT_EQ(made(linear(most_bytes, quads)), Error::success);
  EXPECT_EQ(made(linear(most_bytes + 16, quads)), Error::invalid_value);
  EXPECT_EQ(made(linear(6)), Error::success) << "what is left of it is not read";
  EXPECT_EQ(made(rows(131072, 65000, 524288)), Error::success);
  EXPECT_EQ(made(rows(131073, 4, 524320)), Error::invalid_value);
  EXPECT_EQ(made(rows(8, 65001)), Error::invalid_value);
  EXPECT_EQ(made(rows(8, 4, 2097120)), Error::success);
  EXPECT_EQ(made(rows(8, 4, 2097152)), Error::invalid_value);
  EXPECT_EQ(made(rows(8, 4, 48)), Error::invalid_value);
}

TEST_F(Textures, HaveChannelsThatThereAre) {
  for (const ChannelFormat& wrong : {ChannelFormat{{32, 32, 32}, 2}, ChannelFormat{{64}, 2},
                                     ChannelFormat{{8}, 2}, ChannelFormat{{32, 16}, 2}})
    EXPECT_EQ(made(linear(1024, wrong)), Error::invalid_channel_descriptor);
  const auto reads_fractions = [](TextureRequest& t) { t.reads_fractions = true; };
  const auto filters = [](TextureRequest& t) { t.filter = 1; };
  EXPECT_EQ(made(but(linear(), reads_fractions)), Error::invalid_norm_setting);
  EXPECT_EQ(made(but(linear(64, bytes), reads_fractions)), Error::success);
  EXPECT_EQ(made(but(linear(64, bytes), filters)), Error::invalid_filter_setting);
  EXPECT_EQ(made(but(linear(), filters)), Error::success) << "plain memory has no filter";
  EXPECT_EQ(made(but(linear(), [](TextureRequest& t) { t.edges[0] = 4; })), Error::invalid_value);
}

TEST_F(Textures, ThatThisMachineLacksAreAFinding) {
  const auto finding = [](const TextureRequest& asked) {
    const Observation seen = observe({}, [&] { EXPECT_EQ(made(asked), Error::not_supported); });
    return seen.finding ? seen.finding->text : "";
  };
  EXPECT_THAT(finding(but(rows(), [](TextureRequest& t) { t.filter = 1; })),
              HasSubstr("cudaCreateTextureObject with a linear filter"));
  EXPECT_THAT(finding({.of = Of::mipmaps}), HasSubstr("mipmaps"));
  EXPECT_THAT(finding(but(rows(), [](TextureRequest& t) { t.has_view = true; })),
              HasSubstr("another view"));
}

TEST_F(Textures, AreToldUntilTheyAreDestroyed) {
  unsigned long long handle = 0;
  const auto tell = [](TextureRequest& t) { t.told = {{std::byte{3}}, {std::byte{4}}}; };
  ASSERT_EQ(rt::create_texture(handle, but(linear(), tell)), Error::success);
  rt::TextureTold told;
  EXPECT_EQ(rt::told_of_texture(handle, told), Error::success);
  EXPECT_THAT(told.resource, ElementsAre(std::byte{3}));
  EXPECT_THAT(told.reading, ElementsAre(std::byte{4}));
  EXPECT_EQ(rt::destroy_texture(handle), Error::success);
  EXPECT_EQ(rt::destroy_texture(handle), Error::success) << "CUDA does not mind";
  EXPECT_EQ(rt::told_of_texture(handle, told), Error::invalid_value);
}

TEST_F(Textures, AreNotMadeInACapture) {
  void* const stream = stream_of_caller(0);
  void* graph = nullptr;
  observe({.streams = 1}, [&] {
    ASSERT_EQ(rt::begin_capture(stream, rt::CaptureMode::thread_local_), Error::success);
    EXPECT_EQ(made(linear()), Error::stream_capture_unsupported);
    EXPECT_EQ(rt::end_capture(stream, &graph), Error::stream_capture_invalidated);
    rt::take_last_error();
    ASSERT_EQ(rt::begin_capture(stream, rt::CaptureMode::relaxed), Error::success);
    EXPECT_EQ(made(linear()), Error::success);
    EXPECT_EQ(rt::end_capture(stream, &graph), Error::success);
  });
}

class Arrays : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(rt::allocate_array(&array_, {floats, 10, 4}), Error::success); }
  void TearDown() override {
    rt::release_array(array_);
    rt::take_last_error();
  }
  Error place(std::size_t x, std::size_t y, std::size_t width, std::size_t height,
              bool is_run = false) {
    return rt::place_in_array({array_, x, y, width, height, is_run}, place_);
  }

  void* array_ = nullptr;
  rt::PlaceInArray place_;
};

TEST_F(Arrays, AreCopiedWithinTheirRows) {
  EXPECT_EQ(place(8, 1, 32, 3), Error::success);
  EXPECT_EQ(place_.pitch, 40u);
  EXPECT_EQ(place(8, 1, 36, 3), Error::invalid_value);
  EXPECT_EQ(place(0, 0, 40, 5), Error::invalid_value);
  EXPECT_EQ(place(8, 1, 112, 1, true), Error::success);
  EXPECT_EQ(place(8, 1, 113, 1, true), Error::invalid_value);
  EXPECT_EQ(rt::place_in_array({}, place_), Error::invalid_resource_handle);
}

TEST_F(Arrays, HaveLayersOneBehindTheOther) {
  void* layers = nullptr;
  ASSERT_EQ(rt::allocate_array(&layers, {floats, 10, 4, 3, 1}), Error::success);
  ASSERT_EQ(rt::place_in_array({.array = layers}, place_), Error::success);
  const void* const first = place_.first;
  ASSERT_EQ(rt::place_in_array({.array = layers, .x = 4, .y = 1, .z = 2}, place_), Error::success);
  EXPECT_EQ(static_cast<const char*>(place_.first) - static_cast<const char*>(first),
            2 * 160 + 40 + 4);
  EXPECT_EQ(rt::place_in_array({.array = layers, .z = 3}, place_), Error::invalid_value);
  EXPECT_EQ(rt::release_array(layers), Error::success);
}

TEST_F(Arrays, AreSurfacesWhileTheyAreThere) {
  unsigned long long handle = 0;
  EXPECT_EQ(rt::create_surface(handle, array_, {}), Error::success);
  EXPECT_EQ(rt::destroy_texture(handle), Error::success);
  EXPECT_EQ(rt::release_array(array_), Error::success);
  EXPECT_EQ(rt::create_surface(handle, std::exchange(array_, nullptr), {}),
            Error::invalid_resource_handle);
}

TEST_F(Arrays, HaveLimits) {
  const auto error = [](const ChannelFormat& format, std::size_t width, std::size_t height,
                        unsigned flags = 0, std::size_t depth = 0) {
    void* made = nullptr;
    const Error error = rt::allocate_array(&made, {format, width, height, depth, flags});
    rt::release_array(made);
    return error;
  };
  EXPECT_EQ(error(floats, 131072, 0), Error::success);
  EXPECT_EQ(error(floats, 131073, 0), Error::invalid_value);
  EXPECT_EQ(error(floats, 8, 65536), Error::success);
  EXPECT_EQ(error(floats, 8, 65537), Error::invalid_value);
  EXPECT_EQ(error(floats, 0, 4), Error::invalid_value);
  EXPECT_EQ(error(floats, 8, 8, 1), Error::invalid_value) << "of no layers";
  EXPECT_EQ(error(floats, 8, 0, 1, 2), Error::success);
  EXPECT_EQ(error(floats, 8, 8, 1, 2049), Error::invalid_value);
  EXPECT_EQ(error(floats, 8, 8, 0, 2), Error::success);
  EXPECT_EQ(error(floats, 8, 0, 0, 2), Error::invalid_value);
  EXPECT_EQ(error(floats, 16385, 8, 0, 2), Error::invalid_value);
  EXPECT_EQ(error(floats, 8, 8, 4), Error::invalid_value) << "a cube";
  EXPECT_EQ(error({{32, 32, 32}, 2}, 8, 8), Error::invalid_channel_descriptor);
}

TEST_F(Arrays, AreTexturesWhileTheyAreThere) {
  unsigned long long handle = 0;
  const TextureRequest asked{.of = Of::array, .memory = array_};
  EXPECT_EQ(rt::create_texture(handle, asked), Error::success);
  EXPECT_EQ(rt::destroy_texture(handle), Error::success);
  EXPECT_EQ(rt::release_array(array_), Error::success);
  EXPECT_EQ(rt::create_texture(handle, asked), Error::invalid_resource_handle);
  array_ = nullptr;
}

}  // namespace
}  // namespace ptx::tests
