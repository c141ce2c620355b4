// ci/check-layout: each rule, broken in a small tree of its own.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/child_process.h"

namespace assay::tests {
namespace {

using Tree = std::map<std::string, std::string>;  // file to text

struct Answer {
  int exit_code = -1;
  std::string text;
};

Answer check_layout(const std::string& root) {
  const ProgramOutput output =
      output_of("sh", {"-c", "exec \"$0\" \"$1\" 2>&1", ASSAY_CHECK_LAYOUT, root});
  return {output.code, output.text.empty() ? "" : output.text + "\n"};
}

Answer check_tree(const Tree& tree) {
  const auto root =
      std::filesystem::path(testing::TempDir()) / fmt::format("assay_layout_{}", getpid());
  std::filesystem::remove_all(root);
  std::filesystem::create_directories(root);
  for (const auto& [name, text] : tree) {
    std::filesystem::create_directories((root / name).parent_path());
    std::ofstream(root / name) << text;
  }
  Answer answer = check_layout(root.string());
  std::filesystem::remove_all(root);
  return answer;
}

std::string quoted(const std::string& name) { return "#include \"" + name + "\"\n"; }
std::string angled(const std::string& name) { return "#include <" + name + ">\n"; }

// One of each room, and all that it may include.
Tree right_tree() {
  return {{"base/text.cpp", quoted("base/text.h") + angled("nlohmann/json.hpp")},
          {"base/strict_json.h", angled("nlohmann/json.hpp")},
          {"kernels/gemm.h", angled("cuda_runtime.h") + angled("cstdint") + angled("type_traits")},
          {"kernels/mine.cu", angled("cuda_runtime.h") + quoted("kernels/gemm.h")},
          {"kernels/mine.cpp", angled("Eigen/Core") + angled("cmath") + quoted("kernels/gemm.h")},
          {"kernels/registry.cpp",
           quoted("kernels/registry.h") + quoted("base/errors.h") + angled("fmt/format.h")},
          {"simt/block.cpp", quoted("simt/block.h") + angled("boost/context/detail/fcontext.hpp")},
          {"simt/tests/kernels.cu", quoted("simt/tests/kernels.h") + angled("cuda_runtime.h")},
          {"oracle/judge.cpp", quoted("oracle/judge.h") + quoted("kernels/gemm.h") +
                                   quoted("simt/simt.h") + angled("vector")},
          {"oracle/cuda/nvml.cpp", quoted("oracle/cuda/nvml.h") + angled("cuda_runtime.h")},
          {"oracle/tests/wrong.cu", angled("cuda_runtime.h")},
          {"regress/device/probes.cu", angled("cuda_runtime.h") + angled("cublas_v2.h")},
          {"regress/code/elf.cpp", quoted("regress/code/elf.h")},
          {"regress/code/elf.h", ""},
          {"properties/check.cpp", quoted("properties/check.h") + quoted("oracle/trial.h") +
                                       quoted("kernels/registry.h") + angled("rapidcheck.h")},
          {"regress/gate.cpp", quoted("regress/gate.h") + quoted("oracle/trial.h") +
                                   quoted("simt/simt.h") + quoted("kernels/registry.h")},
          {"cli/main.cpp", quoted("cli/main.h") + quoted("properties/check.h") +
                               quoted("regress/gate.h") + quoted("oracle/case.h") +
                               quoted("kernels/registry.h")},
          {"ci/test", "#!/usr/bin/env bash\n"},
          {"build/cpu/generated.cpp", quoted("anything.h")}};
}

TEST(Layout, is_kept_by_a_tree_that_keeps_it) {
  const Answer answer = check_tree(right_tree());
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
}

struct Violation {
  const char* file;
  std::string line;
  const char* rule;
};

TEST(Layout, is_broken_by_each_include_that_points_elsewhere) {
  const std::vector<Violation> violations = {
      {"oracle/judge.cpp", quoted("judge.h"), "names its room"},
      {"oracle/judge.cpp", quoted("../kernels/gemm.h"), "names its room"},
      {"simt/tests/kernels.cu", quoted("kernels.h"), "names its room"},
      {"cli/main.cpp", quoted("stdio.h"), "names its room"},
      {"oracle/judge.cpp", angled("kernels/gemm.h"), "in quotes"},
      {"simt/block.cpp", angled("oracle/case.h"), "in quotes"},
      {"oracle/judge.cpp", "#include ANY_FILE\n", "names a file"},
      {"kernels/mine.cu", quoted("oracle/case.h"), "only base kernels"},
      {"kernels/mine.cu", quoted("simt/simt.h"), "only base kernels"},
      {"kernels/mine.cu", angled("cstdint"), "cuda_runtime.h"},
      {"kernels/mine.cu", angled("cmath"), "cuda_runtime.h"},
      {"kernels/mine.cu", angled("Eigen/Core"), "cuda_runtime.h"},
      {"kernels/mine.cpp", angled("vector"), "cuda_runtime.h"},
      {"kernels/mine.cpp", angled("fmt/format.h"), "cuda_runtime.h"},
      {"kernels/helper.h", angled("algorithm"), "cuda_runtime.h"},
      {"kernels/registry.cpp", angled("Eigen/Core"), "cuda_runtime.h"},
      {"kernels/registry.cpp", quoted("oracle/case.h"), "only base kernels"},
      {"kernels/gemm.h", quoted("oracle/case.h"), "only base kernels"},
      {"kernels/gemm.h", quoted("simt/simt.h"), "only base kernels"},
      {"kernels/gemm.h", angled("fmt/format.h"), "cuda_runtime.h"},
      {"kernels/mine.cu", quoted("base/errors.h"), "nothing but kernels/"},
      {"base/text.cpp", quoted("oracle/case.h"), "only base"},
      {"oracle/judge.cpp", angled("cuda_runtime.h"), "belong to kernels/, oracle/cuda/"},
      {"oracle/judge.h", angled("cublas_v2.h"), "belong to kernels/, oracle/cuda/"},
      {"regress/code/cubin.cpp", angled("cuda.h"), "belong to kernels/, oracle/cuda/"},
      {"cli/main.cpp", angled("cuda_runtime.h"), "belong to kernels/, oracle/cuda/"},
      {"cli/flags.h", angled("CLI/CLI.hpp"), "in a source, not in a header"},
      {"oracle/judge.h", angled("nlohmann/json.hpp"), "in a source, not in a header"},
      {"properties/claims.h", angled("rapidcheck.h"), "in a source, not in a header"},
      {"simt/block.cpp", quoted("kernels/gemm.h"), "only base simt"},
      {"simt/tests/kernels.cu", quoted("kernels/gemm.h"), "only base simt"},
      {"simt/include/cuda_runtime.h", quoted("oracle/case.h"), "only base simt"},
      {"oracle/judge.cpp", quoted("properties/claims.h"), "only base kernels simt ptx oracle"},
      {"oracle/tests/judge_test.cpp", quoted("cli/main.h"), "only base kernels simt ptx oracle"},
      {"properties/check.cpp", quoted("regress/gate.h"), "only base kernels oracle properties"},
      {"properties/check.cpp", quoted("simt/simt.h"), "only base kernels oracle properties"},
      {"properties/tests/a.cpp", quoted("cli/main.h"), "only base kernels oracle properties"},
      {"regress/gate.cpp", quoted("properties/claims.h"), "only base kernels oracle simt regress"},
      {"regress/gate.cpp", quoted("cli/main.h"), "only base kernels oracle simt regress"},
      {"door/door.cpp", quoted("oracle/case.h"), "only base kernels door"},
      {"cli/main.cpp", quoted("simt/simt.h"),
       "only base kernels door oracle properties regress report cli"},
      {"cli/main.cpp", "  #  include \"simt/simt.h\"  // on the sly\n", "regress report cli"}};
  for (const auto& [file, line, rule] : violations) {
    Tree tree = right_tree();
    tree[file] = "// Two lines\n\n" + line + tree[file];
    const Answer answer = check_tree(tree);
    EXPECT_EQ(answer.exit_code, 1) << file << " with " << line;
    EXPECT_EQ(answer.text.find(fmt::format("{}:3: ", file)), 0u) << answer.text;
    EXPECT_NE(answer.text.find(rule), std::string::npos) << answer.text;
    EXPECT_EQ(std::count(answer.text.begin(), answer.text.end(), '\n'), 1) << answer.text;
  }
}

std::string lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "\n";
  return text;
}

TEST(Layout, is_broken_by_a_file_of_more_than_400_lines) {
  for (const char* file : {"oracle/long.cpp", "oracle/long.h", "kernels/long.cu", "ci/long",
                           "cmake/long.cmake", "simt/CMakeLists.txt"}) {
    Tree tree = right_tree();
    tree[file] = lines(400);
    EXPECT_EQ(check_tree(tree).exit_code, 0) << file;
    tree[file] = lines(401);
    const Answer answer = check_tree(tree);
    EXPECT_EQ(answer.exit_code, 1) << file;
    EXPECT_EQ(answer.text.find(fmt::format("{}:401: a file has at most 400 lines", file)), 0u)
        << answer.text;
  }
}

TEST(Layout, is_broken_by_a_source_that_does_not_include_its_own_header_first) {
  Tree tree = right_tree();
  tree["regress/code/elf.cpp"] = angled("vector") + quoted("regress/code/elf.h");
  EXPECT_EQ(check_tree(tree).text,
            "regress/code/elf.cpp:2: a source includes its own header first: regress/code/elf.h\n");
}

TEST(Layout, is_broken_by_a_kernel_where_no_kernel_belongs) {
  Tree tree = right_tree();
  tree["regress/code/elf.cu"] = "\n";
  EXPECT_EQ(check_tree(tree).text.find("regress/code/elf.cu:1: a kernel lies in"), 0u);
}

TEST(Layout, is_broken_by_a_folder_of_more_than_15_sources) {
  Tree tree = right_tree();
  for (int i = 0; i < 15; ++i) {
    tree[fmt::format("oracle/full/{}.cpp", i)] = tree[fmt::format("kernels/stage_{}.cu", i)] = "\n";
    tree[fmt::format("oracle/tests/{}.cpp", i)] = "\n";
  }
  EXPECT_EQ(check_tree(tree).exit_code, 0) << "nor by tests, or by a long ladder";
  tree["oracle/full/16.cpp"] = "\n";
  EXPECT_EQ(check_tree(tree).text,
            "oracle/full/: a folder holds at most 15 sources, tests aside, and this one 16\n");
}

TEST(Layout, tells_all_violations_at_once) {
  Tree tree = right_tree();
  tree["oracle/judge.cpp"] += quoted("judge.h") + quoted("cli/main.h");
  tree["simt/block.cpp"] += quoted("kernels/gemm.h");
  const Answer answer = check_tree(tree);
  EXPECT_EQ(std::count(answer.text.begin(), answer.text.end(), '\n'), 3) << answer.text;
}

TEST(Layout, is_not_kept_where_there_is_nothing_to_look_at) {
  EXPECT_EQ(check_tree({}).exit_code, 2);
  EXPECT_NE(check_layout("/no/such/folder").exit_code, 0);
}

}  // namespace
}  // namespace assay::tests
