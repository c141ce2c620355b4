// Kernels of other people, unchanged: compiled by nvcc, run on the machine, judged. Elements are
// small integers, so that every sum is exact in every order and format.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "ptx/machine/halves.h"
#include "ptx/machine/reals.h"
#include "ptx/runtime/observe.h"
#include "ptx/tests/foreign/foreign_gemm.h"

namespace ptx::tests {
namespace {

using testing::HasSubstr;

enum class Elements { floats, halves };
struct Size {
  int m, n, k;
};
struct Foreign {
  const char* name;
  int (*run)(const foreign::Problem&);
  std::vector<Size> sizes;
  Elements elements = Elements::floats;
};
void PrintTo(const Foreign& each, std::ostream* to) { *to << each.name; }

int a_of(int i, int p) { return (i * 7 + p * 3) % 5 - 2; }
int b_of(int p, int j) { return (p * 5 + j * 2) % 7 - 3; }
int c_of(int i, int j) { return (i + j) % 4; }

// A matrix in memory that is lent to the device, row after row.
class Matrix {
 public:
  template <class Of>
  Matrix(std::string name, int rows, int columns, Elements elements, bool writable, const Of& of)
      : bytes_(static_cast<std::size_t>(rows * columns) * size_of(elements) + 64) {
    for (int i = 0; i < rows * columns; ++i) {
      const auto value = static_cast<float>(of(i / columns, i % columns));
      const std::uint16_t half = half_of(value, to_nearest);
      if (elements == Elements::floats)
        std::memcpy(data() + static_cast<std::size_t>(i) * 4, &value, 4);
      else
        std::memcpy(data() + static_cast<std::size_t>(i) * 2, &half, 2);
    }
    const std::uint64_t all = static_cast<std::uint64_t>(rows * columns) * size_of(elements);
    device_memory().lend({.name = std::move(name),
                          .first = reinterpret_cast<std::uint64_t>(data()),
                          .row_bytes = all,
                          .pitch_bytes = all,
                          .writable = writable});
  }
  ~Matrix() { device_memory().forget(reinterpret_cast<std::uint64_t>(data())); }
  Matrix(const Matrix&) = delete;

  std::byte* data() {  // at a multiple of 64, as cudaMalloc gives at least
    auto* at = bytes_.data();
    while (reinterpret_cast<std::uint64_t>(at) % 64 != 0) ++at;
    return at;
  }

 private:
  static std::size_t size_of(Elements e) { return e == Elements::floats ? 4 : 2; }
  std::vector<std::byte> bytes_;
};

// What is found, and whether C is right if nothing is.
std::optional<Finding> judged(const Foreign& kernel, const Size& s, const Settings& settings) {
  Matrix a("A", s.m, s.k, kernel.elements, false, a_of);
  Matrix b("B", s.k, s.n, kernel.elements, false, b_of);
  Matrix c("C", s.m, s.n, Elements::floats, true, c_of);
  float* const values = reinterpret_cast<float*>(c.data());
  int error = -1;
  const Observation seen = observe({.settings = settings}, [&] {
    error = kernel.run({s.m, s.n, s.k, 2, 3, a.data(), b.data(), values});
  });
  if (seen.finding) return seen.finding;
  EXPECT_EQ(error, 0);
  EXPECT_GT(seen.kernels, 0);
  for (int i = 0; i < s.m; ++i)
    for (int j = 0; j < s.n; ++j) {
      int sum = 0;
      for (int p = 0; p < s.k; ++p) sum += a_of(i, p) * b_of(p, j);
      const auto wanted = static_cast<float>(2 * sum + 3 * c_of(i, j));
      if (values[i * s.n + j] == wanted) continue;
      ADD_FAILURE() << "row " << i << ", column " << j << ": " << values[i * s.n + j] << ", wanted "
                    << wanted;
      return {};
    }
  return {};
}

std::vector<Settings> orders() {
  return {{.order = Order::forward},
          {.order = Order::reverse},
          {.order = Order::shuffled, .seed = 1},
          {.order = Order::shuffled, .seed = 2}};
}

class ForeignGemm : public testing::TestWithParam<Foreign> {};

TEST_P(ForeignGemm, is_right_and_has_no_finding) {
  for (const Size& size : GetParam().sizes)
    for (const Settings& settings : orders()) {
      const auto finding = judged(GetParam(), size, settings);
      ASSERT_FALSE(finding) << size.m << "x" << size.n << "x" << size.k << ", order "
                            << static_cast<int>(settings.order) << ", seed " << settings.seed
                            << ": " << to_string(finding->fault) << ": " << finding->text;
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, ForeignGemm,
    testing::Values(
        Foreign{"host_program", foreign::host_program, {{33, 40, 20}}},
        Foreign{"dynamic_tiles", foreign::dynamic_tiles, {{33, 20, 35}}},
        Foreign{"register_tiles", foreign::register_tiles, {{64, 128, 24}}},
        Foreign{"inline_ptx", foreign::inline_ptx, {{32, 64, 64}}},
        Foreign{"groups", foreign::groups, {{5, 19, 100}}},
        Foreign{"pipelined", foreign::pipelined, {{16, 32, 96}}},
        Foreign{"barriers", foreign::barriers, {{16, 32, 80}}},
        Foreign{"wmma_tiles", foreign::wmma_tiles, {{32, 64, 48}}, Elements::halves},
        Foreign{"mma_tiles", foreign::mma_tiles, {{64, 64, 64}, {50, 64, 32}}, Elements::halves},
        Foreign{"tf32_tiles", foreign::tf32_tiles, {{32, 24, 40}}},
        Foreign{"persistent", foreign::persistent, {{9, 10, 50}}},
        Foreign{"split_k", foreign::split_k, {{17, 21, 50}}},
        Foreign{"grid_sync", foreign::grid_sync, {{17, 21, 50}}},
        Foreign{"last_block", foreign::last_block, {{17, 21, 50}}},
        Foreign{"half2_math", foreign::half2_math, {{11, 36, 70}}, Elements::halves},
        Foreign{"bulk_tiles", foreign::bulk_tiles, {{32, 64, 80}}},
        Foreign{"tensor_tiles", foreign::tensor_tiles, {{50, 36, 76}}},
        Foreign{"texture_tiles", foreign::texture_tiles, {{33, 40, 50}}},
        Foreign{"wgmma_tiles", foreign::wgmma_tiles, {{150, 72, 260}, {64, 64, 32}}}),
    [](const auto& each) { return each.param.name; });

TEST(ForeignGemm, of_cutlass_is_right_and_has_no_finding) {
#ifdef ASSAY_HAS_CUTLASS
  const Foreign all[] = {
      {"simt", foreign::cutlass_simt, {{130, 70, 20}}},
      {"cooperative", foreign::cutlass_cooperative, {{72, 40, 600}}, Elements::halves},
      {"pingpong", foreign::cutlass_pingpong, {{256, 136, 200}}, Elements::halves},
      {"tf32", foreign::cutlass_tf32, {{72, 40, 300}}}};
  for (const Foreign& each : all)
    for (const Settings& settings : orders()) {
      const auto finding = judged(each, each.sizes[0], settings);
      ASSERT_FALSE(finding) << each.name << ": " << to_string(finding->fault) << ": "
                            << finding->text;
    }
#else
  GTEST_SKIP() << "CUTLASS's headers are not here: unpack what `pip download --no-deps "
                  "nvidia-cutlass` gets, and configure with "
                  "-DASSAY_CUTLASS_INCLUDE=.../cutlass_library/source/include";
#endif
}

TEST(ForeignGemm, that_does_not_wait_for_its_copies_has_a_race) {
  for (const Settings& settings : orders()) {
    const auto finding = judged({"", foreign::inline_ptx_without_wait, {}}, {32, 32, 64}, settings);
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->fault, Fault::data_race);
    EXPECT_THAT(finding->text, HasSubstr("a wait for the copy is missing"));
    EXPECT_THAT(finding->text, HasSubstr("inline_ptx.cuh:"));
  }
}

TEST(ForeignGemm, that_frees_its_stages_before_it_has_multiplied_them_has_a_race) {
  for (const Settings& settings : orders()) {
    const auto finding = judged({"", foreign::wgmma_tiles_too_early, {}}, {128, 64, 256}, settings);
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->fault, Fault::data_race);
    EXPECT_THAT(finding->text, HasSubstr("which a wgmma read"));
    EXPECT_THAT(finding->text, HasSubstr("wgmma_tiles.cuh:"));
  }
}

}  // namespace
}  // namespace ptx::tests
