// ci/bisect over commits whose kernels are numbers, with a compiler and a harness that are
// make-believe.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/tests/shell.h"
#include "regress/tests/recorded_samples.h"

namespace assay::tests {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Builds a program that is as slow as kernels/speed says, and calls itself slower if that is 2 more
// than at acceptance. What it says instead may stand there too.
constexpr const char* cmake = R"sh(
[ "$1" = --build ] || exit 0
source=${2%/build}/source
! grep -q broken $source/kernels/speed || exit 1
mkdir -p $2
speed="speed=$(sed -n 1p $source/kernels/speed) ends=$(sed -n 2p $source/kernels/speed)"
printf '#!/bin/bash\n%s\n' "$speed" | cat - "$(dirname "$0")/stand-in" >$2/assay
chmod +x $2/assay
)sh";
constexpr const char* stand_in = R"sh(
while [ $# -gt 0 ]; do
  case $1 in
    --baselines) there=$2 ;;
    --json) json=$2 ;;
    --cell) cell=$2 ;;
    --unmeasured) accepts=1 ;;
  esac
  shift
done
if [ -n "${accepts:-}" ]; then mkdir -p $there; echo $speed >$there/speed; exit; fi
[ "${cell:-}" != nonsense ] || { echo "assay: no such cell" >&2; exit 2; }
echo $speed >>$TRIED
status=same code=0
[ $speed -lt $(($(cat $there/speed) + 2)) ] || status=slower code=1
[ "$ends" != wrong ] || status=wrong code=1
case $ends in [0-9]*) code=$ends ;; esac
echo "\"status\": \"$status\"" >$json
exit $code
)sh";

class Bisect : public testing::Test {
 protected:
  Bisect() {
    std::filesystem::create_directories(folder_ / "tree/ci");
    for (const char* script : {"bisect", "kernels-at", "against"})
      std::filesystem::copy(scripts + "/" + script, folder_ / (std::string("tree/ci/") + script));
    write_program(folder_ / "tree/ci/install-dependencies", "");
    write_program(folder_ / "bin/cmake", cmake);
    write_text(folder_ / "bin/stand-in", stand_in);
    shell(
        "cd tree && git init -q -b main . && echo build >.gitignore && mkdir kernels && git add "
        ".");
  }
  Answer shell(const std::string& command) {
    std::map<std::string, std::string> environment = {{"TRIED", folder_ / "tried"}};
    for (const char* who :
         {"GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"})
      environment[who] = "a@b";
    return shell_in(folder_, command, environment);
  }
  // A commit, tagged with its number, for each text of kernels/speed.
  void commit(const std::vector<std::string>& texts) {
    std::string script = "cd tree";
    for (const std::string& text : texts) {
      const std::string number = std::to_string(++commits_);
      script += " && printf '" + text +
                "' >kernels/speed && git add . && git commit -q "
                "--allow-empty -m " +
                number + " && git tag c" + number;
    }
    ASSERT_EQ(shell(script).code, 0);
  }
  Answer bisect(const std::string& arguments) { return shell("tree/ci/bisect " + arguments); }

  Folder folder_;
  int commits_ = 0;
};

TEST_F(Bisect, FindsTheOneOfSixteenWhereverItIs) {
  std::vector<std::string> texts;
  for (int i = 1; i <= 16; ++i) texts.push_back(std::to_string(i < 11 ? 100 - i % 2 : 103));
  commit(texts);
  shell("cd tree && echo mine >mine && git status --porcelain >../before");
  const Answer answer = bisect("c1 c16 'naive m=1 n=1 k=1'");
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_THAT(answer.out, StartsWith(shell("git -C tree rev-parse c11").last_line()));
  EXPECT_THAT(answer.out, HasSubstr(": 11\n"));
  EXPECT_LE(shell("wc -l <tried").last_line(), "6") << "halved, not tried one by one";
  EXPECT_EQ(shell("cd tree && git status --porcelain | diff - ../before && git worktree list").code,
            0);
  EXPECT_EQ(shell("git -C tree rev-parse --abbrev-ref HEAD").last_line(), "main");
}

// Every commit changes the machine code, so that each is measured: the gate is the real one, with
// the noise that kernels had on real cards.
class BisectOfRecordedCards : public Bisect, public testing::WithParamInterface<int> {};

TEST_P(BisectOfRecordedCards, FindsTwoPercentWhereverTheyCame) {
  const int culprit = GetParam();
  const auto cards = assay_test::read_samples(false);
  const auto& [card, cells] = *std::next(cards.begin(), culprit % static_cast<int>(cards.size()));
  std::string cell;
  for (std::size_t i = static_cast<std::size_t>(culprit) * 14; cell.empty(); ++i) {
    const assay_test::Recorded& one = cells[i % cells.size()];
    if (one.time_us >= 20) cell = to_string(one.cell);
  }
  write_text(folder_ / "bin/stand-in",
             "exec " ASSAY_REPLAYED_GATE " " + card + " $speed $ends \"$@\"\n");
  std::vector<std::string> texts = {"100\\n0"};
  for (int i = 1; i <= 16; ++i)
    texts.push_back(std::to_string(100 + i) + (i < culprit ? "\\n0" : "\\n2"));
  commit(texts);
  const Answer answer = bisect("c1 c17 '" + cell + "'");
  EXPECT_EQ(answer.code, 0) << cell << answer.err;
  EXPECT_THAT(answer.out, HasSubstr(": " + std::to_string(culprit + 1) + "\n")) << cell;
}
INSTANTIATE_TEST_SUITE_P(AtEveryCommit, BisectOfRecordedCards, testing::Range(1, 17));

TEST_F(Bisect, GoesThroughWhatItCannotUse) {
  commit({"100", "broken", "100\\n3", "100\\n4", "100", "102\\nwrong", "102", "102\\n5", "102"});
  const Answer answer = bisect("c1 c9");
  EXPECT_EQ(answer.code, 3) << answer.out << answer.err;
  EXPECT_EQ(answer.out,
            shell("cd tree && for i in 7 6; do git log -1 --format='%H %s' c$i; done").out)
      << "6 gave a wrong result, which says nothing of its speed";
  EXPECT_THAT(answer.err, HasSubstr("assay: one of these made it slower"));
}

TEST_F(Bisect, RefusesWhatIsNoRange) {
  commit({"100", "100", "102", "102\\n4"});
  shell("cd tree && git commit -q --allow-empty -m later && git tag later");
  const auto refused = [&](const std::string& arguments, const std::string& why, int code = 2) {
    const Answer answer = bisect(arguments);
    EXPECT_EQ(answer.code, code) << arguments << answer.err;
    EXPECT_EQ(answer.out, "") << arguments;
    EXPECT_THAT(answer.err, HasSubstr("assay: " + why)) << arguments;
  };
  refused("c1", "usage: ci/bisect GOOD BAD");
  refused("c1 nothing", "git knows no commit 'nothing'");
  refused("c3 c1", "'c3' to 'c1' is no range: name an older commit that was fast");
  refused("c1 c1", "'c1' to 'c1' is no range");
  refused("c4 later", "no commit from 'c4' to 'later' changes kernels/");
  refused("c1 c2", "no commit from 'c1' to 'c2' changes kernels/");
  refused("c3 c4", "the kernels of 'c4' cannot be built or measured here", 4);
  refused("c1 c3 nonsense", "no such cell");
  EXPECT_EQ(shell("git -C tree worktree list | wc -l").last_line(), "1");
}

TEST_F(Bisect, SaysWhereNothingGotSlower) {
  commit({"100", "101", "100"});
  const Answer answer = bisect("c1 c2");
  EXPECT_EQ(answer.code, 2);
  EXPECT_THAT(answer.err, HasSubstr("assay: 'c2' is not slower than 'c1'"));
}

// For whoever drives git bisect alone.
TEST_F(Bisect, MapsExitCodesForGitBisectRun) {
  commit({"100", "102", "100\\n3", "100\\n4", "100\\n5", "100\\n77", "100\\n2", "broken"});
  shell("mkdir -p at && echo 100 >at/speed");
  const auto tried = [&](const std::string& commit) {
    return shell("cd tree && git checkout -q " + commit +
                 " && ASSAY_BISECT_BASELINES=$PWD/../at ci/bisect --try")
        .code;
  };
  EXPECT_EQ(tried("c1"), 0);
  EXPECT_EQ(tried("c2"), 1);
  for (const char* skipped : {"c3", "c4", "c5", "c6", "c8"}) EXPECT_EQ(tried(skipped), 125);
  EXPECT_EQ(tried("c7"), 128) << "ends the bisection";
}

}  // namespace
}  // namespace assay::tests
