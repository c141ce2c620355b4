// The names of kernels, and machine code beside what was accepted.
#include "regress/code/compare_code.h"

#include "base/errors.h"
#include "regress/tests/any_baseline.h"

namespace {

using namespace assay;

const std::string tiled =
    "_ZN5assay46_GLOBAL__N__a87bfd6b_8_tiled_cu_df613392_172245tiledILi32EEEvNS_4GemmE";

const std::string data = ASSAY_REGRESS_DATA;

TEST(KernelName, IsWhatItsAuthorCallsIt) {
  EXPECT_EQ(kernel_name(tiled), "tiled<32>");
  EXPECT_EQ(kernel_name("not_mangled"), "not_mangled");
  EXPECT_EQ(kernel_name("_Z4gemmPfPFviE"), "gemm");  // a parameter with brackets of its own
  EXPECT_EQ(names_of_kernel(tiled), (std::vector<std::string>{"tiled<32>", "tiled_32", "tiled"}));
}

TEST(KernelFile, IsReadFromTheSymbol) {
  EXPECT_EQ(kernel_file(tiled), "tiled");
  EXPECT_EQ(kernel_file("_ZN40_GLOBAL__N__2cbd46f0_8_small_cu_93f9adcc_15spilledEPf"), "small");
  for (const char* symbol : {"", "naive", "_GLOBAL__N__", "_GLOBAL__N__ab_", "_GLOBAL__N__ab_x_",
                             "_GLOBAL__N__ab_99_tiled_cu", "_GLOBAL__N__ab_3_abc"})
    EXPECT_EQ(kernel_file(symbol), "") << symbol;
}

// Of the cubins that some_baseline() launches, under one commit.
std::vector<CodeComparison> compared_with(const std::vector<std::string>& files,
                                          const std::string& commit = "") {
  std::vector<std::string> paths;
  for (const std::string& file : files) paths.push_back(data + "/" + file);
  return compare_code(some_baseline(), commit, kernels_in(paths));
}

TEST(CompareCode, finds_no_difference_in_the_code_that_was_accepted) {
  const auto all = compared_with({"small_90.cubin", "small_90_cuda12.cubin", "table_90.cubin"});
  ASSERT_EQ(all.size(), 3u);
  for (const CodeComparison& c : all) {
    EXPECT_EQ(c.differences, std::vector<std::string>{}) << c.variant;
    EXPECT_EQ(c.kernels, 1);
  }
  EXPECT_EQ(all[0].variant, "small");
  EXPECT_FALSE(all[0].anchor);
  EXPECT_TRUE(all[2].anchor);
}

TEST(CompareCode, is_about_one_commit_if_asked) {
  const auto all = compared_with({"small_90.cubin"}, "abc");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].commit, "abc");
}

TEST(CompareCode, tells_other_code_from_code_that_is_not_there) {
  EXPECT_TRUE(compared_with({"table_90.cubin"})[0].differences.at(0).ends_with(
      ": there is no such kernel"));
  EXPECT_TRUE(compared_with({"small_80.cubin"})[0].differences.at(0).ends_with(
      ": there is no machine code for sm_90"));
  const CodeComparison table = compared_with({"table_90_constant.cubin"})[1];
  EXPECT_EQ(table.variant, "table");
  EXPECT_NE(table.differences.at(0).find(" -> "), std::string::npos) << table.differences[0];
}

TEST(CompareCode, says_which_counts_differ) {
  const KernelCode before = {.registers = 40, .instructions = {{"FFMA", 8}, {"LDS", 2}}};
  KernelCode now = before;
  EXPECT_EQ(difference(before, now), "");
  now.registers = 48;
  now.barriers = 1;
  now.instructions = {{"FFMA", 8}, {"LDL", 3}};
  EXPECT_EQ(difference(before, now), "registers 40 -> 48, barriers 0 -> 1, LDL 0 -> 3, LDS 2 -> 0");
}

TEST(KernelsNamed, are_found_by_any_of_their_names) {
  const auto kernels = kernels_in({data + "/small_90.cubin", data + "/small_90.cubin"});
  EXPECT_EQ(kernels.size(), 2u) << "the same code once";
  EXPECT_EQ(kernels_named(kernels, {}).size(), 2u);
  EXPECT_EQ(kernels_named(kernels, {"staged"}).size(), 1u);
  EXPECT_EQ(kernels_named(kernels, {"small"}).size(), 2u) << "by the name of their file";
}

TEST(ProgramCode, is_of_the_libraries_that_are_judged) {
  const std::string small = data + "/small_90.cubin";
  const ProgramCode code(90, {small, small});
  const std::string symbol = kernels_named(kernels_in({small}), {"staged"}).front().code.symbol;
  ASSERT_NE(code.find(symbol), nullptr);
  EXPECT_EQ(code.cubins().size(), 1u);
  EXPECT_EQ(ProgramCode(80, {small}).find(symbol), nullptr);
  EXPECT_EQ(ProgramCode(90, {}).find(symbol), nullptr) << "this program has no kernels";
}

TEST(ProgramCode, refuses_two_kernels_of_one_name) {
  try {
    ProgramCode(90, {data + "/table_90.cubin", data + "/table_90_literal.cubin"});
    ADD_FAILURE();
  } catch (const BadInput& error) {
    EXPECT_NE(std::string(error.what()).find("two files each have a kernel "), std::string::npos);
  }
}

}  // namespace
