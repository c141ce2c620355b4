// Which commit is accepted.
#include "cli/origin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/child_process.h"
#include "base/errors.h"
#include "cli/tests/program.h"

namespace assay::tests {
namespace {

using testing::HasSubstr;

class Commit : public testing::Test {
 protected:
  Commit() {
    write_text(folder_ / "kernel.cu", "one\n");
    shell("git init -q . && git add . && git -c user.name=a -c user.email=a@b commit -qm one");
    head_ = shell("git rev-parse HEAD");
  }
  std::string shell(const std::string& command) {
    const ProgramOutput output = output_of("sh", {"-c", "cd " + source() + " && " + command});
    EXPECT_EQ(output.code, 0) << command;
    return output.text;
  }
  std::string source() const { return folder_ / "."; }
  std::string refusal(bool dirty_too) const {
    try {
      return "no refusal, but " + commit_of(source(), dirty_too);
    } catch (const BadInput& error) {
      return error.what();
    }
  }

  Folder folder_;
  std::string head_;
};

TEST_F(Commit, IsTheOneThatIsCheckedOut) {
  EXPECT_EQ(commit_of(source(), false), head_);
  shell("mkdir baselines && echo accepted > baselines/device.json");
  EXPECT_EQ(commit_of(source(), false), head_) << "what was accepted is no source";
}

TEST_F(Commit, IsRefusedWhereSourcesDiffer) {
  for (const char* change : {"echo two > kernel.cu", "git checkout -q . && echo new > other.cu"}) {
    shell(change);
    EXPECT_THAT(refusal(false), HasSubstr("the sources differ from commit " + head_.substr(0, 12) +
                                          ", so nobody could rebuild what is accepted"));
    EXPECT_EQ(commit_of(source(), true), head_ + "-dirty");
  }
}

TEST_F(Commit, IsRefusedWhereGitCannotTell) {
  write_text(folder_ / ".git/index", "damaged");
  EXPECT_THAT(refusal(false), HasSubstr("git knows no commit of these sources"));
  EXPECT_THAT(refusal(true), HasSubstr("git knows no commit of these sources"))
      << "its status could not be read";
  shell("rm -rf .git");
  EXPECT_THAT(refusal(true), HasSubstr("git knows no commit of these sources"));
}

}  // namespace
}  // namespace assay::tests
