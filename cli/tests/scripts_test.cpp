// Scripts of ci/ where what they call fails or has nothing to say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/tests/baselines.h"
#include "cli/tests/program.h"
#include "cli/tests/shell.h"

namespace assay::tests {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

// A clone with one commit, in which building is make-believe: a "compiler" that copies what
// $OBJECT names, or makes nothing.
class Clone {
 public:
  Clone() {
    for (const char* part : {"source/ci", "source/build/cpu", "source/kernels"})
      std::filesystem::create_directories(folder_ / part);
    std::filesystem::copy(scripts + "/rebuild-baselines", folder_ / "source/ci/rebuild-baselines");
    write_program(folder_ / "source/ci/build", "exit 0\n");
    std::filesystem::create_symlink(ASSAY_PROGRAM, folder_ / "source/build/cpu/assay");
    write_program(folder_ / "bin/nvcc", "echo 'Cuda compilation tools, release 13.0, V13.0.88'\n");
    write_program(folder_ / "bin/cmake",
                  "[ \"$1\" = --build ] || exit 0\n"
                  "objects=$2/CMakeFiles/assay_kernels_cuda.dir\n"
                  "mkdir -p \"$objects\"\n"
                  "[ -z \"$OBJECT\" ] || cp \"$OBJECT\" \"$objects/naive.cu.o\"\n");
    const Answer made = shell(
        "cd source && git init -q . && echo 1 >kernels/k.cu && git add ci kernels && git -c "
        "user.name=a -c user.email=a@b "
        "commit -qm one && git rev-parse HEAD");
    EXPECT_EQ(made.code, 0) << made.err;
    commit_ = made.last_line();
  }

  const std::string& commit() const { return commit_; }
  std::string commit_again() {
    return shell(
               "cd source && echo 2 >kernels/k.cu && git -c user.name=a -c user.email=a@b commit "
               "-qam two && git rev-parse HEAD")
        .last_line();
  }
  std::string kernels() { return shell("git -C source rev-parse HEAD:kernels").last_line(); }
  void store(const Baseline& baseline) {
    std::filesystem::remove_all(folder_ / "source/baselines");
    write_baseline(folder_ / "source/baselines", baseline);
  }
  // With what the compiler makes.
  Answer rebuild(const std::string& object, const std::string& arguments = "") {
    return shell("source/ci/rebuild-baselines " + arguments, {{"OBJECT", object}});
  }
  std::string operator/(const std::string& name) const { return folder_ / name; }

 private:
  Answer shell(const std::string& command, std::map<std::string, std::string> environment = {}) {
    return shell_in(folder_, command, std::move(environment));
  }

  Folder folder_;
  std::string commit_;
};

TEST(RebuildBaselines, ComparesWhatItsCommitCompilesTo) {
  Clone clone;
  clone.store(baseline_of("staged", clone.commit()));
  const Answer same = clone.rebuild(small_90);
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  EXPECT_THAT(same.last_line(), StartsWith("THE SAME: "));
  EXPECT_EQ(clone.rebuild(ASSAY_REGRESS_DATA "/small_90_unrolled.cubin").code, 1);
}

TEST(RebuildBaselines, ComparesLaunchesOnAGpu) {
  Clone clone;
  Baseline stored = baseline_of("staged", clone.commit());
  write_baseline(clone / "launches", stored);
  write_program(clone / "source/ci/against", "echo '" + (clone / "launches") + "'\n");
  std::get<KernelNode>(stored.accepted["naive"].cells[0].recipe.nodes[0]).grid = {2, 1, 1};
  clone.store(stored);
  EXPECT_EQ(clone.rebuild(small_90).code, 0) << "it is the same code";
  const Answer edited = clone.rebuild(small_90, "--launches");
  EXPECT_EQ(edited.code, 1) << edited.out << edited.err;
  EXPECT_THAT(edited.out, HasSubstr("grid 2 -> 1"));
  clone.store(baseline_of("staged", clone.commit()));
  EXPECT_EQ(clone.rebuild(small_90, "--launches").code, 0);
}

// An anchor may be older than the contract that today's harness builds kernels for.
TEST(RebuildBaselines, ComparesTheLaunchesThatItCan) {
  Clone clone;
  const std::string old = clone.commit(), now = clone.commit_again();
  Baseline stored = baseline_of("staged", now);
  write_baseline(clone / "launches", stored);
  write_program(clone / "source/ci/against",
                "[ $1 = " + now + " ] || exit 4\necho '" + (clone / "launches") + "'\n");
  stored.anchor["naive"].provenance.commit = old;
  clone.store(stored);
  EXPECT_EQ(clone.rebuild(small_90).code, 0);
  const Answer same = clone.rebuild(small_90, "--launches");
  EXPECT_EQ(same.code, 4);
  EXPECT_THAT(same.err, HasSubstr("by today's harness, of commit " + old + "\n"));
  std::get<KernelNode>(stored.accepted["naive"].cells[0].recipe.nodes[0]).grid = {2, 1, 1};
  clone.store(stored);
  const Answer edited = clone.rebuild(small_90, "--launches");
  EXPECT_EQ(edited.code, 1) << edited.out << edited.err;
  EXPECT_THAT(edited.out, HasSubstr("grid 2 -> 1"));
}

TEST(RebuildBaselines, FindsTheKernelsOfACommitThatWasSquashed) {
  Clone clone;
  Baseline stored = baseline_of("staged", std::string(40, 'a'));
  clone.store(stored);
  const Answer lost = clone.rebuild(small_90);
  EXPECT_EQ(lost.code, 4);
  EXPECT_THAT(lost.err, HasSubstr("which this clone has not: fetch it, or accept again"));
  for (auto* variants : {&stored.accepted, &stored.anchor})
    variants->at("naive").provenance.kernels = clone.kernels();
  clone.store(stored);
  const Answer found = clone.rebuild(small_90);
  EXPECT_EQ(found.code, 0) << found.out << found.err;
  EXPECT_THAT(found.out, HasSubstr("which is gone: its kernels are those of " + clone.commit()));
  EXPECT_EQ(clone.rebuild(ASSAY_REGRESS_DATA "/small_90_unrolled.cubin").code, 1);
}

TEST(RebuildBaselines, IsNoPassWhereNothingWasBuilt) {
  Clone clone;
  clone.store(baseline_of("staged", clone.commit()));
  const Answer answer = clone.rebuild("");
  EXPECT_EQ(answer.code, 4) << answer.out << answer.err;
  EXPECT_THAT(answer.err, HasSubstr("assay: the kernels of commit " + clone.commit() +
                                    " were built, and left no object file\n"));
}

TEST(RebuildBaselines, IsNoPassWithoutReadableMachineCode) {
  Clone clone;
  clone.store(baseline_of("staged", clone.commit()));
  write_text(clone / "text", "no machine code");
  const Answer answer = clone.rebuild(clone / "text");
  EXPECT_EQ(answer.code, 4) << answer.out << answer.err;
  EXPECT_THAT(answer.err, HasSubstr("assay: the objects of commit " + clone.commit() +
                                    " have no machine code that can be read\n"));
}

// A library does all the work of what was accepted.
TEST(RebuildBaselines, IsNoPassWhereNoCommitHadAnythingToCompare) {
  Clone clone;
  clone.store(baseline_of("none of its kernels", clone.commit()));
  const Answer answer = clone.rebuild(small_90);
  EXPECT_EQ(answer.code, 4) << answer.out << answer.err;
  EXPECT_THAT(answer.err,
              HasSubstr("assay: no machine code was accepted, so nothing was compared"));

  Baseline both = baseline_of("staged", clone.commit());
  both.accepted["naive"].cells.clear();
  clone.store(both);
  EXPECT_EQ(clone.rebuild(small_90).code, 0) << "the anchor was compared";
}

TEST(CheckLayout, RefusesTheWayBackAndLooksAtEveryEnding) {
  const auto complaints = [](const std::string& file, const std::string& include) {
    const Folder folder;
    std::filesystem::create_directories(std::filesystem::path(folder / file).parent_path());
    write_text(folder / file, "// One line\n#include " + include + "\n");
    const Answer answer = shell_in(folder, scripts + "/check-layout .");
    EXPECT_EQ(answer.code, answer.lines().size() == 1 && answer.out.find(": ") != std::string::npos)
        << answer.out << answer.err;
    return answer.out;
  };
  const std::string back = ":2: an include goes straight to its file, without \".\" or \"..\"";
  EXPECT_THAT(complaints("oracle/a.cpp", "\"oracle/../properties/check.h\""),
              StartsWith("oracle/a.cpp" + back));
  EXPECT_THAT(complaints("simt/a.h", "\"simt/tests/../../kernels/gemm.h\""),
              StartsWith("simt/a.h" + back));
  EXPECT_THAT(complaints("oracle/a.cpp", "\"oracle/./case.h\""), StartsWith("oracle/a.cpp" + back));
  EXPECT_THAT(complaints("oracle/a.cpp", "<../properties/check.h>"),
              StartsWith("oracle/a.cpp" + back));
  for (const char* ending : {"cc", "cxx", "c", "cpp", "cu", "h", "hh", "hpp", "hxx", "cuh", "inc",
                             "inl", "ipp", "tpp"}) {
    const std::string file = std::string("oracle/cuda/a.") + ending;
    EXPECT_THAT(complaints(file, "\"properties/check.h\""),
                StartsWith(file + ":2: oracle/ includes"));
    EXPECT_THAT(complaints(file, "\"oracle/case.h\""), HasSubstr("1 files, and every include"));
  }
}

TEST(InstallDependencies, SaysSoWhereItCannot) {
  const Folder folder;
  write_program(folder / "bin/id", "echo 0\n");
  write_program(folder / "bin/dpkg-query", "exit 1\n");
  write_program(folder / "bin/apt-get", "[ \"$1\" = update ]\n");
  const Answer answer = shell_in(folder, scripts + "/install-dependencies");
  EXPECT_EQ(answer.code, 4) << answer.out << answer.err;
  EXPECT_THAT(answer.err, MatchesRegex("assay: apt-get cannot install what is missing: .*\n"));
  EXPECT_THAT(answer.err, HasSubstr("librapidcheck-dev"));
  write_program(folder / "bin/apt-get", "exit 0\n");
  EXPECT_EQ(shell_in(folder, scripts + "/install-dependencies").code, 0);
}

TEST(GitIgnore, KnowsWhatAnInterruptedWriteLeaves) {
  const Folder folder;
  std::filesystem::copy(scripts + "/../.gitignore", folder / ".gitignore");
  const Answer status =
      shell_in(folder,
               "git init -q . && mkdir below && touch .assay-a1B2c3 below/.assay-xYzabc "
               "below/assay.cpp && git status --porcelain -uall");
  EXPECT_EQ(status.out, "?? .gitignore\n?? below/assay.cpp\n");
}

// A build folder that is there already, and a cmake that says that it was called.
Answer build_again(const std::string& cache,
                   const std::map<std::string, std::string>& environment) {
  const Folder folder;
  for (const char* part : {"ci", "build/cpu"}) std::filesystem::create_directories(folder / part);
  std::filesystem::copy(scripts + "/build", folder / "ci/build");
  write_program(folder / "ci/install-dependencies", "exit 0\n");
  write_program(folder / "bin/cmake", "echo \"cmake $*\" | tee -a /dev/stderr >/dev/null\n");
  write_program(folder / "bin/mine++", "exit 0\n");
  std::string text = cache;
  if (const auto at = text.find("HERE"); at != text.npos) text.replace(at, 4, folder / ".");
  write_text(folder / "build/cpu/CMakeCache.txt", text);
  return shell_in(folder, "ci/build", environment);
}

TEST(Build, RefusesAFolderOfAnotherPlaceOrCompilerInOneLine) {
  const std::string here = "CMAKE_HOME_DIRECTORY:INTERNAL=HERE\n";
  const Answer usual = build_again(here + "CMAKE_CXX_COMPILER:FILEPATH=/usr/bin/c++\n", {});
  EXPECT_EQ(usual.code, 0) << usual.err;
  EXPECT_THAT(usual.err, HasSubstr("cmake --build"));
  const std::string cure = ": rm -r build/cpu, and run this again\n";
  const auto refused = [&](const std::string& cache, std::map<std::string, std::string> settings,
                           const std::string& why) {
    const Answer answer = build_again(cache, settings);
    EXPECT_EQ(answer.code, 2) << answer.err;
    EXPECT_EQ(answer.err, "assay: build/cpu was made " + why + cure);
  };
  refused("CMAKE_HOME_DIRECTORY:INTERNAL=/another\n", {}, "in /another");
  refused(here + "CMAKE_CXX_COMPILER:FILEPATH=/usr/bin/old++\n", {},
          "by /usr/bin/old++, which is not here");
  refused(here + "CMAKE_CUDA_COMPILER:STRING=/old/nvcc\n", {}, "by /old/nvcc, which is not here");
  refused(here + "CMAKE_CXX_COMPILER:FILEPATH=/usr/bin/c++\n", {{"CXX", "mine++"}},
          "by /usr/bin/c++, not by mine++");
}

TEST(AddKernel, RefusesTwoFilesOfOneNameInOneLine) {
  const Folder folder;
  for (const char* part : {"one", "two"}) {
    std::filesystem::create_directories(folder / part);
    write_text(folder / part + "/naive.cu", "");
  }
  write_text(folder / "list.cmake",
             "set(PROJECT_SOURCE_DIR ${CMAKE_CURRENT_LIST_DIR})\n"
             "include(" +
                 scripts +
                 "/../kernels/add_kernel.cmake)\n"
                 "assay_add_kernel(${CMAKE_CURRENT_LIST_DIR}/one/naive.cu GPU_ONLY)\n"
                 "assay_add_kernel(${CMAKE_CURRENT_LIST_DIR}/two/naive.cu GPU_ONLY)\n");
  const Answer answer = shell_in(folder, "cmake -P list.cmake");
  EXPECT_NE(answer.code, 0);
  EXPECT_THAT(answer.err, HasSubstr("one/naive.cu and two/naive.cu are both named naive"));
}

}  // namespace
}  // namespace assay::tests
