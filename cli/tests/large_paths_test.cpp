// Ways that only large problems take are run whole: with sizes that are multiples of nothing, with
// zeros that meet infinities, and twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/tests/kernel_file.h"

namespace assay::tests {
namespace {

using testing::HasSubstr;

Answer check_few(const std::string& variant, const std::string& claim) {
  const Folder folder;
  return run({"check", std::string(ASSAY_SOURCES) + "/cli/tests/large_paths.cu", variant,
              "--backend", "ptx", "--cases", "2", "--claim", claim, "--no-corpus", "--cache",
              folder / "cache"});
}

struct OnLargePath {
  const char *variant, *claim, *says;
};
void PrintTo(const OnLargePath& fault, std::ostream* to) { *to << fault.variant; }
class LargePaths : public testing::TestWithParam<OnLargePath> {};

TEST_P(LargePaths, AreRunWhole) {
  NEEDS_NVCC;
  const auto& [variant, claim, says] = GetParam();
  const Answer answer = check_few(variant, claim);
  EXPECT_EQ(answer.code, 1) << answer.out << answer.err;
  EXPECT_THAT(answer.out, HasSubstr(says));
  EXPECT_THAT(answer.out, testing::Not(HasSubstr("fresh process"))) << "it shows again there";
}

INSTANTIATE_TEST_SUITE_P(All, LargePaths,
                         testing::Values(OnLargePath{"large_copies_b", "within_bound",
                                                     "workspace that this launch has not written"},
                                         OnLargePath{"large_leaves_out_zeros", "any_data",
                                                     "a NaN of the input was lost"},
                                         OnLargePath{"large_adds_parts", "same_bits_twice",
                                                     "the order of blocks"}),
                         [](const auto& info) { return std::string(info.param.variant); });

TEST(RightOnLargePath, BreaksNoClaim) {
  NEEDS_NVCC;
  for (const char* const claim : {"within_bound", "any_data"}) {
    const Answer answer = check_few("right_large_copies_b", claim);
    EXPECT_EQ(answer.code, 0) << answer.out << answer.err;
  }
}

}  // namespace
}  // namespace assay::tests
