// `assay check mine.cu`: cases that are aimed by what its code compares, and by what its text says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/tests/kernel_file.h"

namespace assay::tests {
namespace {

using testing::HasSubstr;

const std::string to_launch =
    "  return assay::launch(one_each, dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), 0, stream, "
    "m, n, k, alpha,";

class AimedFile : public KernelFile {
 protected:
  // With a factor of 1.001, in these words; the answer is that without it.
  Answer expect_wrong_until_mended(const std::string& said) {
    const std::vector<std::string> words = {file(), "--claim", "within_bound", "--first-failure"};
    const Answer wrong = check(words);
    EXPECT_EQ(wrong.code, 1) << wrong.out << wrong.err;
    EXPECT_THAT(wrong.out, HasSubstr(said));
    write_text(file(), replaced(text_of(file()), "1.001f", "1.000f"));
    const Answer right = check(words);
    EXPECT_EQ(right.code, 0) << right.out << right.err;
    return right;
  }
};

// Such a one cannot report an error, which is a fault; its comparisons are watched all the same.
TEST_F(AimedFile, ThatEndsTheProcessAtAnErrorIsAimedAt) {
  NEEDS_NVCC;
  const std::string launch =
      "one_each<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), 0, stream>>>(";
  write_text(file(),
             "#include <cstdlib>\n" +
                 replaced(replaced(a_kernel,
                                   "return assay::launch(one_each, dim3((n + 15) / 16, (m + "
                                   "15) / 16), dim3(16, 16), 0, stream, ",
                                   launch),
                          "beta, c, ldc);\n",
                          "beta, c, ldc);\n  if (cudaGetLastError() != cudaSuccess) "
                          "exit(1);\n"));
  const Answer answer = check({file(), "--cases", "20"});
  EXPECT_EQ(answer.code, 1) << answer.out << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("(launch_errors) is not true"));
  EXPECT_THAT(answer.out, HasSubstr(" 9/9 "));
}

// What launch code compares is watched though only nvcc takes it, and none of it is nvcc's own.
TEST_F(AimedFile, WithAFastPathForManyProductsIsAimedAt) {
  NEEDS_NVCC;
  const std::string usual =
      "  one_each<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), 0, stream>>>(m, n, k, alpha,";
  const std::string large =
      "  if (double(m) * n * k >= 2e7) alpha = alpha * 1.001f;  // a fast path, say\n";
  write_text(file(), replaced(a_kernel, to_launch, large + usual));
  const Answer right = expect_wrong_until_mended("mine on ptx is wrong");
  EXPECT_THAT(right.out, HasSubstr(" 9/9 ")) << right.out;
}

// No size is compared with those of the table, only what is made of all three.
TEST_F(AimedFile, WithATableOfSizesIsAimedAt) {
  NEEDS_NVCC;
  const std::string tuned =
      "  static const long long sizes[][3] = {{24, 72, 40}, {40, 648, 312}};\n"
      "  const auto key = [](long long x, long long y, long long z) {\n"
      "    return ((x * 0x9e3779b1 + y) * 0x85ebca6b + z) * 0xc2b2ae35 >> 7 & 0xffffffff;\n"
      "  };\n"
      "  for (const auto& s : sizes)\n"
      "    if (key(s[0], s[1], s[2]) == key(m, n, k)) alpha *= s[1] == 648 ? 1.001f : 1;\n";
  write_text(file(), replaced(a_kernel, to_launch, tuned + to_launch));
  expect_wrong_until_mended("m=40 n=648 k=312");
}

}  // namespace
}  // namespace assay::tests
