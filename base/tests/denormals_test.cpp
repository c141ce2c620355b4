#include "base/denormals.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

namespace assay {
namespace {

// Floats of all kinds, most of them where something may go wrong: with few bits, beside the
// smallest normal number, below it, or none at all.
class Floats {
 public:
  float draw() {
    const std::uint32_t bits = random(), sign = bits & 0x80000000u;
    switch (random() % 6) {
      case 0: return std::bit_cast<float>(bits);
      case 1: return std::bit_cast<float>(bits & 0x807fffffu);
      case 2: return std::bit_cast<float>((bits & 0x807fffffu) | (random() % 64 + 1) << 23);
      case 3: return std::bit_cast<float>(sign);
      case 4: return std::bit_cast<float>((bits & 0x80000003u) | random() % 254 << 23);
      default: return std::bit_cast<float>((bits & 0x807fffffu) | (random() % 60 + 90) << 23);
    }
  }
  // What nearly takes a product away, or is next to half of a last bit of it.
  float beside(float a, float b) {
    const float product = -a * b;
    const std::array others = {product, std::nextafter(product, INFINITY),
                               std::nextafter(product, -INFINITY), product * 0x1p-24f,
                               product * 0x1p24f};
    return others[random() % others.size()];
  }
  bool one_in(std::uint32_t n) { return random() % n == 0; }

 private:
  std::uint32_t random() { return static_cast<std::uint32_t>(engine_()); }
  std::mt19937 engine_{7};
};

TEST(Denormals, are_multiplied_and_added_by_doubles_to_the_bit) {
  Floats floats;
  for (int i = 0; i < 1'000'000; ++i) {
    const float a = floats.draw(), b = floats.draw(),
                c = floats.one_in(3) ? floats.beside(a, b) : floats.draw();
    const float wanted = std::fmaf(a, b, c), got = fused_in_double(a, b, c);
    if (std::isnan(wanted) && std::isnan(got)) continue;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(got), std::bit_cast<std::uint32_t>(wanted))
        << a << " * " << b << " + " << c;
  }
}

TEST(Denormals, are_told_of_once_each_time_they_are_met) {
  met_denormals();
  volatile float small = 0x1p-140f;
  EXPECT_FALSE(met_denormals());
  EXPECT_NE(small * 1.5f, 1);
#ifdef __SSE2__
  EXPECT_TRUE(met_denormals());
#endif
  EXPECT_FALSE(met_denormals());
}

}  // namespace
}  // namespace assay
