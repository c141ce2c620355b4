// ci/merge-base in clones of every depth, and what ci/gate makes of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "cli/tests/shell.h"

namespace assay::tests {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// A repository whose branch left main 60 commits ago, when main had 60; both went on.
class MergeBase : public testing::Test {
 protected:
  static void SetUpTestSuite() { origin_ = std::make_unique<Folder>(); }
  static void TearDownTestSuite() { origin_.reset(); }
  MergeBase() {
    std::filesystem::create_directory_symlink(*origin_ / "origin", folder_ / "origin");
    if (base_.empty()) make_origin();
  }
  void make_origin() {
    std::filesystem::create_directories(*origin_ / "origin/ci");
    for (const char* script : {"merge-base", "gate"})
      std::filesystem::copy(scripts + "/" + script,
                            *origin_ / (std::string("origin/ci/") + script));
    write_program(folder_ / "origin/ci/build", "");
    write_program(*origin_ / "origin/build/cuda/assay", "echo \"$*\"\nexit ${ENDS_WITH:-0}\n");
    shell(R"(
      cd origin && git init -q -b main . && git add -f . && git commit -q -m first
      commits() {  # BRANCH FROM COUNT WHO
        for i in $(seq $3); do
          printf 'commit refs/heads/%s\ncommitter %s <a@b> %s +0000\ndata 1\n.\n' $1 $4 $((1000 + i))
          [ $i != 1 ] || echo "from $2^0"
        done | git fast-import --quiet
      }
      commits main main 60 a && git tag base main && commits change main 60 b && commits main main 1 c
      git checkout -q change)");
    base_ = shell("git -C origin rev-parse base").last_line();
  }

  Answer shell(const std::string& command, std::map<std::string, std::string> environment = {}) {
    for (const char* who :
         {"GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"})
      environment[who] = "a@b";
    const Answer answer = shell_in(folder_, command, environment);
    return answer;
  }
  void clone(const std::string& how) {
    const Answer answer = shell("rm -rf clone && git clone -q " + how + " clone");
    EXPECT_EQ(answer.code, 0) << answer.err;
  }

  Folder folder_;
  inline static std::unique_ptr<Folder> origin_;
  inline static std::string base_;
};

TEST_F(MergeBase, IsFoundWhateverTheFetchDepth) {
  const std::string from = " -b change \"file://$PWD/origin\"";
  for (const std::string& how :
       std::vector<std::string>{from, "--depth 1" + from, "--depth 7" + from,
                                "--depth 1 --no-single-branch" + from, "--single-branch" + from}) {
    clone(how);
    const Answer answer = shell("clone/ci/merge-base");
    EXPECT_EQ(answer.code, 0) << how << answer.err;
    EXPECT_EQ(answer.out, base_ + "\n") << how;
  }
}

TEST_F(MergeBase, IsThatOfAPullRequestsTarget) {
  shell("git -C origin branch release base~5");
  clone("--depth 1 -b change \"file://$PWD/origin\"");
  EXPECT_EQ(shell("clone/ci/merge-base", {{"GITHUB_BASE_REF", "release"}}).out,
            shell("git -C origin rev-parse base~5").out);
}

TEST_F(MergeBase, IsHeadOnMainAndInACloneOfNothing) {
  clone("-b main \"file://$PWD/origin\"");
  EXPECT_EQ(shell("clone/ci/merge-base").out, shell("git -C origin rev-parse main").out);
  shell("git -C clone remote remove origin && git -C clone checkout -q -b mine");
  EXPECT_EQ(shell("clone/ci/merge-base").out, shell("git -C origin rev-parse main").out);
}

TEST_F(MergeBase, ThatCannotBeFoundIsOneLine) {
  const auto refused = [&](const std::string& why, std::map<std::string, std::string> with = {}) {
    const Answer answer = shell("clone/ci/gate", with);
    EXPECT_EQ(answer.code, 2) << answer.out << answer.err;
    EXPECT_EQ(answer.out, "") << "nothing was measured";
    EXPECT_THAT(answer.err, StartsWith("assay: there is no merge base with '"));
    EXPECT_THAT(answer.err, HasSubstr(why));
    EXPECT_EQ(std::count(answer.err.begin(), answer.err.end(), '\n'), 1) << answer.err;
  };
  clone("--depth 1 -b change \"file://$PWD/origin\"");
  refused("no such branch was found", {{"ASSAY_TARGET", "mian"}});
  shell("git -C clone remote set-url origin /nowhere && git -C clone branch main");
  shell(
      "git -C clone commit -q --allow-empty -m x; git -C clone branch -f main $(git -C clone "
      "commit-tree -m other HEAD^{tree})");
  refused("this clone is shallow and cannot be deepened");
  clone("-b change \"file://$PWD/origin\"");
  shell(
      "cd clone && git remote remove origin && git branch -f main $(git commit-tree -m other "
      "HEAD^{tree})");
  refused("the two have no commit in common");
  shell("rm -rf clone/.git");
  refused("this is no clone of a git repository");
}

TEST_F(MergeBase, IsWhatTheGateComparesWith) {
  clone("--depth 1 -b change \"file://$PWD/origin\"");
  const std::string files =
      " --json build/cuda/gate.json --markdown build/cuda/gate.md --junit "
      "build/cuda/gate.xml ";
  EXPECT_EQ(shell("clone/ci/gate").out, "gate time" + files + "--base " + base_ + "\n");
  EXPECT_EQ(shell("clone/ci/gate --accepted-by-review").out,
            "gate time" + files + "--base " + base_ + " --accepted-by-review\n");
  EXPECT_EQ(shell("clone/ci/gate --against main").out, "gate time" + files + "--against main\n");
  EXPECT_EQ(shell("clone/ci/gate", {{"ENDS_WITH", "3"}}).code, 3);
  write_program(folder_ / "clone/build/cuda/assay", "echo {} >$4\n");
  shell("rm -rf clone/build/cuda/results; clone/ci/gate");
  EXPECT_EQ(shell("ls clone/build/cuda/results | grep -c -- -$(git -C clone rev-parse --short=12 "
                  "HEAD).json")
                .last_line(),
            "1")
      << "each run stays";
}

}  // namespace
}  // namespace assay::tests
