// Each rule, on addresses whose cost is known by hand.
#include "ptx/counts/rules.h"

#include <gtest/gtest.h>

#include <functional>

namespace ptx::tests {
namespace {

struct Addresses {
  std::uint64_t at[warp_size];
  explicit Addresses(const std::function<int(int)>& of_lane) {
    for (int i = 0; i < warp_size; ++i) at[i] = 4096 + static_cast<std::uint64_t>(of_lane(i));
  }
};
int sectors(const std::function<int(int)>& at, int bytes = 4, std::uint32_t lanes = all_lanes) {
  const Addresses a(at);
  return sectors_of({a.at, lanes, bytes});
}
int wavefronts(const std::function<int(int)>& at, int bytes = 4, std::uint32_t lanes = all_lanes) {
  const Addresses a(at);
  return wavefronts_of({a.at, lanes, bytes});
}
int atomic_wavefronts(const std::function<int(int)>& at) {
  const Addresses a(at);
  return atomic_wavefronts_of({a.at, all_lanes, 4});
}

TEST(Sectors, AreThePiecesThatAreTouched) {
  EXPECT_EQ(sectors([](int i) { return 4 * i; }), 4) << "coalesced";
  EXPECT_EQ(sectors([](int i) { return 4 * (31 - i); }), 4) << "in whatever order";
  EXPECT_EQ(sectors([](int i) { return 8 * i; }), 8) << "every second word";
  EXPECT_EQ(sectors([](int i) { return 128 * i; }), 32) << "a row apart";
  EXPECT_EQ(sectors([](int i) { return 4 * i + 4; }), 5) << "misaligned by one element";
  EXPECT_EQ(sectors([](int) { return 64; }), 1) << "broadcast";
  EXPECT_EQ(sectors([](int i) { return i % 2 * 512; }), 2) << "two places in turns";
  EXPECT_EQ(sectors([](int i) { return i * 7 % 32 * 4; }), 4) << "permuted";
}

TEST(Sectors, FollowTheWidth) {
  EXPECT_EQ(sectors([](int i) { return 8 * i; }, 8), 8);
  EXPECT_EQ(sectors([](int i) { return 16 * i; }, 16), 16) << "float4";
  EXPECT_EQ(sectors([](int i) { return 64 * i; }, 16), 32) << "float4, strided";
  EXPECT_EQ(sectors([](int i) { return i; }, 1), 1);
  EXPECT_EQ(sectors([](int) { return 30; }), 2) << "across the end of a piece";
}

TEST(Sectors, AreOfActiveLanesOnly) {
  EXPECT_EQ(sectors([](int i) { return 4 * i; }, 4, 0x000000ff), 1);
  EXPECT_EQ(sectors([](int i) { return 4 * i; }, 4, 0x80000001), 2);
  EXPECT_EQ(sectors([](int i) { return 128 * i; }, 4, 0x0000ffff), 16);
  EXPECT_EQ(sectors([](int i) { return 4 * i; }, 4, 0), 0);
}

int copied_sectors(int bytes, int from, int to, std::uint32_t lanes = all_lanes) {
  const Addresses read([&](int i) { return from + bytes * i; });
  const Addresses written([&](int i) { return to + bytes * i; });
  return copied_sectors_of({read.at, lanes, bytes}, {written.at, all_lanes, bytes});
}

TEST(Sectors, OfQuadsThatAreCopiedCountForEachLineOfSharedMemory) {
  EXPECT_EQ(copied_sectors(16, 0, 0), 16) << "piece by piece";
  EXPECT_EQ(copied_sectors(16, 0, 32), 16) << "lines begin between pieces";
  EXPECT_EQ(copied_sectors(16, 16, 16), 17) << "as above, and what is touched is one more";
  EXPECT_EQ(copied_sectors(16, 16, 0), 20) << "each of 4 lines begins inside a piece";
  EXPECT_EQ(copied_sectors(16, 0, 16), 20) << "as above, the other way round";
  EXPECT_EQ(copied_sectors(16, 16, 0, 0xff), 5) << "only lines that something is loaded for";
  EXPECT_EQ(copied_sectors(4, 16, 0), 5) << "single words count once";
}

TEST(Wavefronts, AreWhatTheFullestBankHolds) {
  EXPECT_EQ(wavefronts([](int i) { return 4 * i; }), 1);
  EXPECT_EQ(wavefronts([](int i) { return 8 * i; }), 2) << "2 lanes on each of 16 banks";
  EXPECT_EQ(wavefronts([](int i) { return 128 * i; }), 32) << "all on one bank";
  EXPECT_EQ(wavefronts([](int i) { return 132 * i; }), 1) << "a padded column";
  EXPECT_EQ(wavefronts([](int i) { return 16 * i; }), 4);
  EXPECT_EQ(wavefronts([](int i) { return i == 31 ? 128 : 4 * i; }), 2) << "one lane in the way";
}

TEST(Wavefronts, OfOneWordAreOne) {
  EXPECT_EQ(wavefronts([](int) { return 12; }), 1) << "broadcast";
  EXPECT_EQ(wavefronts([](int i) { return i % 2 * 128; }), 2) << "two words of one bank";
  EXPECT_EQ(wavefronts([](int i) { return i / 8 * 4; }), 1) << "four words of four banks";
  EXPECT_EQ(wavefronts([](int i) { return i; }, 1), 1) << "bytes of the same words";
}

TEST(Wavefronts, AreOfActiveLanesOnly) {
  EXPECT_EQ(wavefronts([](int i) { return 128 * i; }, 4, 0x000000ff), 8);
  EXPECT_EQ(wavefronts([](int i) { return 16 * i; }, 16, 0x000000ff), 1) << "one quarter";
  EXPECT_EQ(wavefronts([](int i) { return 16 * i; }, 16, 0x01010101), 4)
      << "quarters go one by one, however few lanes they have";
}

TEST(Wavefronts, Of64BitsGoByHalves) {
  EXPECT_EQ(wavefronts([](int i) { return 8 * i; }, 8), 2);
  EXPECT_EQ(wavefronts([](int i) { return 16 * i; }, 8), 4) << "2 conflicts in each half";
  EXPECT_EQ(wavefronts([](int) { return 8; }, 8), 1) << "lanes share with their neighbours";
  EXPECT_EQ(wavefronts([](int i) { return i / 2 * 8; }, 8), 1);
  EXPECT_EQ(wavefronts([](int i) { return i / 4 * 16 + i % 2 * 8; }, 8), 1) << "by xor 2";
  EXPECT_EQ(wavefronts([](int i) { return i / 8 * 32 + i % 4 * 8; }, 8), 2)
      << "by xor 4 halves do not go together";
}

TEST(Wavefronts, Of128BitsGoByQuarters) {
  EXPECT_EQ(wavefronts([](int i) { return 16 * i; }, 16), 4);
  EXPECT_EQ(wavefronts([](int) { return 16; }, 16), 2) << "two quarters together, twice";
  EXPECT_EQ(wavefronts([](int i) { return i / 2 * 16; }, 16), 2);
  EXPECT_EQ(wavefronts([](int i) { return i / 4 * 32 + i % 2 * 16; }, 16), 2) << "by xor 2";
  EXPECT_EQ(wavefronts([](int i) { return i % 8 * 16; }, 16), 4) << "quarters alike do not";
  EXPECT_EQ(wavefronts([](int i) { return 32 * i; }, 16), 8) << "2 conflicts in each quarter";
  EXPECT_EQ(
      wavefronts([](int i) { return i % 2 == 0 ? i / 2 * 16 : 8192 + 16 * i; }, 16, 0x55555555), 2)
      << "partners that take no part do not matter";
  EXPECT_EQ(wavefronts([](int i) { return i < 2 ? 16 * i : i / 2 * 16; }, 16), 4)
      << "one pair that does not share, and none goes together";
}

TEST(Wavefronts, OfAtomicsOnOneWordTakeTurns) {
  EXPECT_EQ(atomic_wavefronts([](int i) { return 4 * i; }), 1);
  EXPECT_EQ(atomic_wavefronts([](int) { return 4; }), 32);
  EXPECT_EQ(atomic_wavefronts([](int i) { return i % 4 * 4; }), 8);
}

}  // namespace
}  // namespace ptx::tests
