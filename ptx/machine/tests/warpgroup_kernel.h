// A kernel of one wgmma, as a test has it, and how the ISA lays out its matrices. Elements are
// small integers, so that every sum is exact.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "ptx/machine/halves.h"
#include "ptx/machine/reals.h"
#include "ptx/machine/tests/eight_bits.h"
#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {

inline constexpr int threads_of_group = 128;

struct Element {
  std::string name;  // "bf16"
  int bytes = name == "tf32" ? 4 : name.ends_with("16") ? 2 : 1;
  int k = 32 / bytes;
  void put(std::byte* to, int value) const {
    const auto write = [&](auto v) { std::memcpy(to, &v, sizeof v); };
    if (name == "f16") write(half_of(value, to_nearest));
    if (name == "bf16") write(bfloat_of(value, to_nearest));
    if (name == "tf32") write(static_cast<float>(value));
    if (name == "e4m3" || name == "e5m2")
      write(real_of_eight_bits(value, name == "e4m3" ? 3 : 2));
    else if (bytes == 1)
      write(static_cast<std::int8_t>(value));
  }
};

// Of `together` pieces of 16 bytes that are swizzled: 1, 2, 4 or 8. `leading` and `stride` as the
// descriptor has them, in bytes.
struct Placing {
  int together = 1;
  bool across_k = false;
  int leading = 0, stride = 0;

  // Tightly: units of 8 pieces follow each other along the lines, then along k.
  static Placing tight(int together, bool across_k, int lines, int per_piece) {
    const int unit = 128 * together;
    if (!across_k) return {together, false, lines * 16, unit};
    const int units = (lines + per_piece * together - 1) / (per_piece * together);
    if (together == 1) return {1, true, units * unit, unit};
    return {together, true, unit, units * unit};
  }
  int place(int line, int p, int bytes) const {
    const int per_piece = 16 / bytes;
    const int piece = (across_k ? line : p) / per_piece, row = (across_k ? p : line) % 8;
    const int beyond = (across_k ? p : line) / 8, in_piece = (across_k ? line : p) % per_piece;
    if (together == 1)
      return row * 16 + in_piece * bytes +
             (across_k ? piece * stride + beyond * leading : beyond * stride + piece * leading);
    const int swizzled = piece % together ^ row * together / 8;
    return row * 16 * together + swizzled * 16 + in_piece * bytes + beyond * stride +
           piece / together * leading;
  }
  std::uint64_t descriptor() const {
    const std::uint64_t mode = together == 1 ? 0 : together == 8 ? 1 : together == 4 ? 2 : 3;
    return static_cast<std::uint64_t>(leading / 16) << 16 |
           static_cast<std::uint64_t>(stride / 16) << 32 | mode << 62;
  }
};

inline std::string numbered(const char* prefix, int count) {
  std::string text = "{";
  for (int n = 0; n < count; ++n) text += fmt::format("{}%{}{}", n == 0 ? "" : ", ", prefix, n);
  return text + "}";
}

// Copies the first `words` words to `big` in shared memory, for wgmma to see.
inline std::string copy_to_big(int words) {
  return fmt::format(R"(
mov.u32 %r20, big; mov.u32 %r1, %t;
COPY: setp.ge.u32 %p1, %r1, {}; @%p1 bra COPIED; mul.wide.u32 %rd1, %r1, 4; add.s64 %rd2, %out, %rd1;
ld.global.u32 %r2, [%rd2]; shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %r20; st.shared.u32 [%r3], %r2;
add.u32 %r1, %r1, 128; bra COPY;
COPIED: fence.proxy.async.shared::cta; bar.sync 0;
)",
                     words);
}
// Into %rd<number>, of a matrix that begins at a byte of `big`.
inline std::string descriptor_of(int number, const Placing& placing, int at) {
  return fmt::format(
      "add.u32 %r4, %r20, {}; shr.u32 %r4, %r4, 4; cvt.u64.u32 %rd{}, %r4; or.b64 %rd{}, %rd{}, "
      "{};\n",
      at, number, number, number, placing.descriptor());
}
// The registers %s0 and so on of all threads become words from one on.
inline std::string store_sums_at(int word, int count, const char* type) {
  std::string text =
      fmt::format("mul.lo.u32 %r1, %t, {}; mul.wide.u32 %rd1, %r1, 4; add.s64 %rd2, %out, %rd1;\n",
                  4 * count / 4);
  for (int n = 0; n < count; ++n)
    text += fmt::format("st.global.{} [%rd2+{}], %s{};\n", type, (word + n) * 4, n);
  return text;
}

inline constexpr const char* big_array = ".shared .align 1024 .b8 big[65536];";

}  // namespace ptx::tests
