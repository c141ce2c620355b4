// `assay check --library libmine.so`: libraries that others compiled, in C.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/child_process.h"
#include "cli/tests/program.h"

namespace assay::tests {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

namespace fs = std::filesystem;

class Library : public testing::Test {
 protected:
  // Compiles the C library, as its author would.
  std::string made(const std::vector<std::string>& flags = {}) {
    const std::string library = folder_ / "it's mine.so";
    std::vector<std::string> words = {"-x",
                                      "c",
                                      "-std=c11",
                                      "-Wall",
                                      "-Wextra",
                                      "-Werror",
                                      "-pedantic",
                                      "-O1",
                                      "-fPIC",
                                      "-shared",
                                      "-fvisibility=hidden",
                                      "-I" ASSAY_INCLUDE};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {ASSAY_STRANGERS "/../library/mine.c", "-o", library});
    const ProgramOutput compiler = output_of("g++", words);
    EXPECT_EQ(compiler.code, 0) << compiler.text;
    return library;
  }

  Answer check(const std::string& library, std::vector<std::string> words = {}) {
    words.insert(words.begin(), {"check", "--library", library, "--no-corpus"});
    return run(words);
  }

  const Folder folder_;
};

TEST_F(Library, IsJudgedByWhatItsTableSays) {
  const Answer answer = check(made());
  EXPECT_EQ(answer.code, 0) << answer.out << answer.err;
  EXPECT_THAT(answer.err, IsEmpty());
  EXPECT_THAT(answer.out, HasSubstr("by_rows     host "));
  EXPECT_THAT(answer.out, HasSubstr("by_columns  host "));
  EXPECT_THAT(answer.out, HasSubstr("PASS: 2 variants hold "));
}

TEST_F(Library, IsRefusedProblemsOutsideItsNeedsInItsOwnLayout) {
  const std::string library = made();
  const Answer odd = check(library, {"by_rows", "--case", "m=3 n=2 k=2"});
  EXPECT_THAT(odd.out + odd.err, HasSubstr("m = 3 is not a multiple of 2"));
  // Its own n is m of a problem by rows.
  const Answer wide = check(library, {"by_columns", "--case", "m=91 n=2 k=2"});
  EXPECT_THAT(wide.out + wide.err, HasSubstr("m = 91 is more than 90"));
}

TEST_F(Library, ThatIsWrongIsFoundAndReplayed) {
  const Answer found = check(made({"-DSKIPPED=1"}));
  EXPECT_EQ(found.code, 1) << found.out << found.err;
  EXPECT_THAT(found.out, HasSubstr("the contribution of k = "));
  constexpr std::string_view next = "next: assay ";
  ASSERT_THAT(found.last_line(), StartsWith(next));
  const Answer again = run({"-c", ASSAY_PROGRAM " " + found.last_line().substr(next.size())},
                           {.program = "/bin/sh"});
  EXPECT_EQ(again.code, 1) << again.out << again.err;
  EXPECT_THAT(again.out, HasSubstr("FAIL: 1 of 1 variant "));
}

TEST_F(Library, ThatTakesColumnsForRowsIsFound) {
  EXPECT_EQ(check(made({"-DLAYOUT=ASSAY_ROW_MAJOR"}), {"by_columns"}).code, 1);
}

TEST_F(Library, ThatCrashesIsAVerdict) {
  const Answer answer = check(made({"-DSKIPPED=*(volatile int*)stream"}), {"by_rows"});
  EXPECT_EQ(answer.code, 1) << answer.out << answer.err;
  EXPECT_THAT(answer.out, ContainsRegex("by_rows on host crashes: .*Segmentation fault|SIGSEGV"));
}

TEST_F(Library, ForAGpuIsJudgedWhereThereIsOne) {
  const Answer answer = check(made({"-DMEMORY=ASSAY_GPU_MEMORY"}), {"by_rows"});
  EXPECT_EQ(answer.code, 77) << answer.out << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("cuda: "));
}

TEST_F(Library, OfAnotherVersionIsRefusedWithBoth) {
  expect_bad_input(check(made({"-DVERSION=7"})),
                   "is of version 7 of assay_library.h, and this assay takes version 1");
}

TEST_F(Library, WithTwoVariantsOfOneName) {
  expect_bad_input(check(made({"-DSECOND_NAME=\"by_rows\""})),
                   "two variants are registered as 'by_rows'");
  const std::string library = made(), copy = folder_ / "copy.so";
  fs::copy_file(library, copy);
  expect_bad_input(check(library, {"--library", copy}), "two variants are registered as 'by_rows'");
}

TEST_F(Library, ThatIsNamedTwiceIsJudgedOnce) {
  const std::string library = made();
  const Answer answer =
      check(library, {"--library", folder_ / "./" + fs::path(library).filename().string(),
                      "--cases", "3", "--claim", "within_bound"});
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_THAT(answer.out, StartsWith("assay check: 2 variants, "));
}

TEST_F(Library, WithATableThatNoneCanKeepTo) {
  expect_bad_input(check(made({"-DMEMORY=0"})), "the variant by_rows: its memory is 0");
  expect_bad_input(check(made({"-DSECOND_NAME=0"})), "a variant is registered as ''");
  expect_bad_input(check(made({"-DSECOND_NAME=\"my kernel\""})), "registered as 'my kernel'");
  expect_bad_input(check(made({"-DSECOND_NAME=(char*)8"})),
                   "ends the process that loads it (Segmentation fault)");
}

TEST_F(Library, ThatExportsSomethingElse) {
  const std::string library = folder_ / "other.so";
  const auto check_source = [&](const char* text) {
    write_text(folder_ / "other.c", text);
    const ProgramOutput compiler =
        output_of("g++", {"-x", "c", "-fPIC", "-shared", folder_ / "other.c", "-o", library});
    EXPECT_EQ(compiler.code, 0) << compiler.text;
    return check(library);
  };
  expect_bad_input(check_source("int mine(void) { return 1; }\n"), "exports no table of variants");
  expect_bad_input(check_source("int assay_library_table(void) { return 1; }\n"),
                   "what it exports as assay_library_table is no table");
  expect_bad_input(check_source("const int assay_library_table[] = {1, 0, 0, 0};\n"),
                   "its table has no variants");
  expect_bad_input(check_source("const int assay_library_table[] = {1, 9999, 0, 0};\n"),
                   "its table has no variants");
}

TEST_F(Library, ThatEndsTheProcessThatLoadsIt) {
  expect_bad_input(check(made({"-DCRASHES"})),
                   "ends the process that loads it (Segmentation fault)");
}

TEST_F(Library, ThatHangsWhenItIsLoaded) {
  expect_bad_input(check(made({"-DHANGS"}), {"--watchdog", "1"}),
                   "is still being loaded after 1 s: see what it does when loaded");
}

TEST_F(Library, ThatIsNone) {
  expect_bad_input(check(folder_ / "nothing.so"), "there is no file ");
  write_text(folder_ / "text.so", "text\n");
  expect_bad_input(check(folder_ / "text.so"), "cannot be loaded: ");
}

}  // namespace
}  // namespace assay::tests
