// ci/check-layout: each rule, broken in a small tree of its own.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

namespace {

using Tree = std::map<std::string, std::string>;  // file to text

struct Answer {
  int exit_code = -1;
  std::string text;
};

Answer check_layout(const std::string& root) {
  Answer answer;
  FILE* out = popen(fmt::format("'{}' '{}' 2>&1", ASSAY_CHECK_LAYOUT, root).c_str(), "r");
  std::array<char, 4096> chunk;
  while (std::fgets(chunk.data(), chunk.size(), out) != nullptr) answer.text += chunk.data();
  answer.exit_code = WEXITSTATUS(pclose(out));
  return answer;
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

std::string quoted(const std::string& name) {
  return "#include \"" + name + "\"\n";
}
std::string angled(const std::string& name) {
  return "#include <" + name + ">\n";
}

// One of each room, and all that it may include.
Tree right_tree() {
  return {{"kernels/gemm.h", angled("cuda_runtime.h") + angled("cstdint") + angled("type_traits")},
          {"kernels/mine.cu", angled("cuda_runtime.h") + quoted("kernels/gemm.h")},
          {"kernels/mine.cpp", angled("Eigen/Core") + angled("cmath") + quoted("kernels/gemm.h")},
          {"kernels/registry.cpp",
           quoted("kernels/registry.h") + angled("fmt/format.h") + angled("algorithm")},
          {"simt/block.cpp", quoted("simt/block.h") + angled("boost/context/detail/fcontext.hpp")},
          {"simt/tests/kernels.cu", quoted("simt/tests/kernels.h") + angled("cuda_runtime.h")},
          {"oracle/judge.cpp", quoted("oracle/judge.h") + quoted("kernels/gemm.h") +
                                   quoted("simt/simt.h") + angled("vector")},
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
      {"kernels/mine.cu", quoted("oracle/case.h"), "only kernels"},
      {"kernels/mine.cu", quoted("simt/simt.h"), "only kernels"},
      {"kernels/mine.cu", angled("cstdint"), "cuda_runtime.h"},
      {"kernels/mine.cu", angled("cmath"), "cuda_runtime.h"},
      {"kernels/mine.cu", angled("Eigen/Core"), "cuda_runtime.h"},
      {"kernels/mine.cpp", angled("vector"), "cuda_runtime.h"},
      {"kernels/mine.cpp", angled("fmt/format.h"), "cuda_runtime.h"},
      {"kernels/helper.h", angled("algorithm"), "cuda_runtime.h"},
      {"kernels/registry.cpp", angled("Eigen/Core"), "cuda_runtime.h"},
      {"kernels/registry.cpp", quoted("oracle/case.h"), "only kernels"},
      {"kernels/gemm.h", quoted("oracle/case.h"), "only kernels"},
      {"kernels/gemm.h", quoted("simt/simt.h"), "only kernels"},
      {"kernels/gemm.h", angled("fmt/format.h"), "cuda_runtime.h"},
      {"simt/block.cpp", quoted("kernels/gemm.h"), "only simt"},
      {"simt/tests/kernels.cu", quoted("kernels/gemm.h"), "only simt"},
      {"simt/include/cuda_runtime.h", quoted("oracle/case.h"), "only simt"},
      {"oracle/judge.cpp", quoted("properties/claims.h"), "only kernels simt oracle"},
      {"oracle/tests/judge_test.cpp", quoted("cli/main.h"), "only kernels simt oracle"},
      {"properties/check.cpp", quoted("regress/gate.h"), "only kernels oracle properties"},
      {"properties/check.cpp", quoted("simt/simt.h"), "only kernels oracle properties"},
      {"properties/tests/a.cpp", quoted("cli/main.h"), "only kernels oracle properties"},
      {"regress/gate.cpp", quoted("properties/claims.h"), "only kernels oracle simt regress"},
      {"regress/gate.cpp", quoted("cli/main.h"), "only kernels oracle simt regress"},
      {"cli/main.cpp", quoted("simt/simt.h"), "only kernels oracle properties regress cli"},
      {"cli/main.cpp", "  #  include \"simt/simt.h\"  // on the sly\n", "regress cli"}};
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
