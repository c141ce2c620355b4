// Which tensor maps are made, and which refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "ptx/machine/async/tensor_map.h"
#include "ptx/runtime/observe.h"
#include "ptx/runtime/runtime.h"

namespace ptx::tests {
namespace {

// A map of 100 x 50 halves, in rows of 208 bytes, and its boxes of 64 x 8.
struct Asked {
  alignas(16) std::array<std::byte, 16> memory = {};
  std::array<std::uint64_t, 5> sizes = {100, 50, 1, 1, 1};
  std::array<std::uint64_t, 4> strides = {208, 16, 16, 16};
  std::array<std::uint32_t, 5> box = {64, 8, 1, 1, 1}, steps = {1, 1, 1, 1, 1};
  runtime::Tensor tensor{.element_bytes = 2,
                         .dimensions = 2,
                         .address = memory.data(),
                         .sizes = sizes.data(),
                         .strides = strides.data(),
                         .box = box.data(),
                         .steps = steps.data(),
                         .swizzled_bytes = 128};
  std::array<std::byte, TensorMap::bytes> map = {};
  Error encode() { return runtime::encode_tensor_map(map.data(), tensor); }
};

TEST(TensorMaps, hold_what_was_asked_for) {
  Asked asked;
  ASSERT_EQ(asked.encode(), Error::success);
  TensorMap map;
  std::memcpy(&map, asked.map.data(), sizeof map);
  EXPECT_EQ(map.mark, TensorMap::our_mark);
  EXPECT_EQ(map.address, reinterpret_cast<std::uint64_t>(asked.memory.data()));
  EXPECT_EQ(map.last[0], 99u);
  EXPECT_EQ(map.last[1], 49u);
  EXPECT_EQ(map.strides[0], 208u);
  EXPECT_EQ(map.box[0], 64);
  EXPECT_EQ(map.box[1], 8);
  EXPECT_EQ(map.element_bytes, 2);
  EXPECT_EQ(map.dimensions, 2);
  EXPECT_EQ(map.swizzle, 7);
}

TEST(TensorMaps, are_refused_as_the_driver_refuses_them) {
  const auto refused = [](const char* what, const auto& spoil) {
    Asked asked;
    spoil(asked);
    EXPECT_EQ(asked.encode(), Error::invalid_value) << what;
    EXPECT_EQ(asked.map[0], std::byte{0}) << what;
  };
  refused("no dimension", [](Asked& a) { a.tensor.dimensions = 0; });
  refused("six", [](Asked& a) { a.tensor.dimensions = 6; });
  refused("no tensor", [](Asked& a) { a.tensor.address = nullptr; });
  refused("no box", [](Asked& a) { a.tensor.box = nullptr; });
  refused("no strides", [](Asked& a) { a.tensor.strides = nullptr; });
  refused("8 bytes past", [](Asked& a) { a.tensor.address = a.memory.data() + 8; });
  refused("an empty tensor", [](Asked& a) { a.sizes[1] = 0; });
  refused("a large tensor", [](Asked& a) { a.sizes[1] = (1ull << 32) + 1; });
  refused("a row of 200 bytes", [](Asked& a) { a.strides[0] = 200; });
  refused("a long row", [](Asked& a) { a.strides[0] = 1ull << 40; });
  refused("an empty box", [](Asked& a) { a.box[1] = 0; });
  refused("a large box", [](Asked& a) { a.box[1] = 257; });
  refused("no step", [](Asked& a) { a.steps[1] = 0; });
  refused("more than the swizzle", [](Asked& a) { a.box[0] = 72; });
  refused("a box of 120 bytes", [](Asked& a) { a.box[0] = 60, a.tensor.swizzled_bytes = 0; });
}

TEST(TensorMaps, that_this_machine_lacks_are_a_finding) {
  const auto finding = [](const auto& spoil) {
    const Observation seen = observe({}, [&] {
      Asked asked;
      spoil(asked);
      EXPECT_EQ(asked.encode(), Error::not_supported);
    });
    return seen.finding ? seen.finding->text : "";
  };
  using testing::HasSubstr;
  EXPECT_THAT(finding([](Asked& a) { a.tensor.element_bytes = 0; }),
              HasSubstr("cuTensorMapEncodeTiled for elements of that type"));
  EXPECT_THAT(finding([](Asked& a) { a.tensor.is_plain = false; }), HasSubstr("interleaved"));
  EXPECT_THAT(finding([](Asked& a) { a.steps[0] = 2; }), HasSubstr("every so many elements"));
  EXPECT_THAT(finding([](Asked& a) { a.box[0] = 32; }), HasSubstr("shorter than their swizzle"));
}

}  // namespace
}  // namespace ptx::tests
