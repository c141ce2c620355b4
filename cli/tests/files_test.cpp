// The files that the command reads and writes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "cli/tests/program.h"
#include "cli/tests/read_json.h"
#include "cli/tests/xml.h"

namespace assay::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const std::vector<std::string> small = {"check",   "naive",   "eigen",   "--cases",   "2",
                                        "--claim", "refuses", "--claim", "fma_replay"};

std::vector<std::string> with(std::vector<std::string> arguments,
                              const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(Json, IsPureOnStdout) {
  const Answer answer = run(with(small, {"--json", "-"}));
  EXPECT_EQ(answer.code, 0);
  EXPECT_THAT(answer.err, HasSubstr("PASS: "));
  const auto json = ReadJson(answer.out);
  EXPECT_EQ(json["schema"], 2);
  EXPECT_EQ(json["command"], "check");
  EXPECT_EQ(json["argv"][1], "check");
  EXPECT_EQ(json["verdict"], "PASS");
  EXPECT_EQ(json["exit_code"], 0);
  EXPECT_EQ(json["seed"], 0);
  std::set<std::string> statuses;
  for (const ReadJson& result : json["results"].items()) {
    statuses.insert(result["status"].text());
    EXPECT_EQ(result["status"] == "holds", result["reason"] == "");
    if (result["status"] == "holds")
      EXPECT_GE(result["cases"].number(), 2) << "and the aimed ones";
    else
      EXPECT_EQ(result["cases"], 0);
  }
  EXPECT_THAT(statuses, ElementsAre("exempt", "holds"));
}

TEST(Json, TellsWhatWasNotJudged) {
  const Folder folder;
  const Answer answer = run({"check", "vectorized", "--backend", "simt", "--case", "m=8 n=8 k=777",
                             "--json", folder / "a.json"});
  EXPECT_EQ(answer.code, 77);
  const auto json = ReadJson(text_of(folder / "a.json"));
  EXPECT_EQ(json["verdict"], "NOTHING JUDGED");
  EXPECT_EQ(json["exit_code"], 77);
  EXPECT_EQ(json["case"], "m=8 n=8 k=777");
  EXPECT_EQ(json["results"][0]["status"], "not_judged");
  EXPECT_EQ(json["results"][0]["reason"], "lda = 777 is not a multiple of 4");
}

TEST(JUnit, IsWellFormed) {
  const Answer answer = run(with(small, {"--junit", "-"}));
  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(fault_of_xml(answer.out), "") << answer.out;
  EXPECT_THAT(answer.out, HasSubstr("<testsuite name=\"eigen.host\" tests=\"3\" failures=\"0\" "
                                    "errors=\"0\" skipped=\"2\""));
  EXPECT_THAT(answer.out, HasSubstr("<skipped message=\"it does not declare"));
  EXPECT_THAT(answer.out, HasSubstr("<skipped message=\"it has no build that can be watched"));
}

TEST(Xml, FaultsAreSeen) {
  EXPECT_EQ(fault_of_xml("<a b=\"1\">x &amp; y<c/></a>"), "");
  for (const char* document : {"<a>", "<a></b>", "<a>&</a>", "<a b=\"<\"/>", "<a b=\"1\" b=\"2\"/>",
                               "<a>\x01</a>", "<a>\xff</a>", "<a/><b/>", "", "<a b=1/>"})
    EXPECT_NE(fault_of_xml(document), "") << document;
}

TEST(OutputFile, IsTriedBeforeAnythingRuns) {
  const Folder folder;
  for (const char* flag : {"--json", "--junit"}) {
    for (const std::string& name : {folder / "no/such/folder/file", folder / "."}) {
      const Answer answer = run(with(small, {flag, name}));
      EXPECT_EQ(answer.code, 2);
      EXPECT_THAT(answer.out, IsEmpty()) << "something ran";
      EXPECT_THAT(answer.err, StartsWith("assay: " + name + ": cannot be written: "));
    }
  }
  EXPECT_EQ(run({"list", "--json", folder / "no/such"}).code, 2);
  EXPECT_EQ(run({"doctor", "--json", folder / "no/such"}).code, 2);
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(OutputFile, IsNamedOnce) {
  const Folder folder;
  std::filesystem::create_directory(folder / "below");
  std::filesystem::create_directory_symlink("below", folder / "link");
  write_text(folder / "below/old", "old");
  std::filesystem::create_hard_link(folder / "below/old", folder / "same");
  const std::vector<std::pair<std::string, std::string>> names = {
      {folder / "x", folder / "./x"},
      {folder / "below/x", folder / "link/x"},
      {folder / "below/x", folder / "below/../link/x"},
      {folder / "below/old", folder / "link/old"},
      {folder / "below/old", folder / "same"}};
  for (const auto& [one, other] : names) {
    expect_bad_input(run(with(small, {"--json", one, "--junit", other})),
                     "--json and --junit both name " + one);
  }
  EXPECT_EQ(text_of(folder / "same"), "old");
  EXPECT_EQ(run(with(small, {"--json", folder / "x", "--junit", folder / "below/x"})).code, 0);
}

TEST(OutputFile, IsReplacedAsAWholeAndKeepsItsModeAndLinks) {
  const Folder folder;
  write_text(folder / "old.json", "old");
  chmod((folder / "old.json").c_str(), 0640);
  std::filesystem::create_symlink("old.json", folder / "link.json");
  EXPECT_EQ(run(with(small, {"--json", folder / "link.json"})).code, 0);
  EXPECT_EQ(ReadJson(text_of(folder / "old.json"))["command"], "check");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.json"));
  struct stat status = {};
  stat((folder / "old.json").c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  EXPECT_THAT(folder.names(), ElementsAre("link.json", "old.json"));
}

TEST(OutputFile, StaysAsItWasWhereTheDiskIsFull) {
  const Folder folder;
  write_text(folder / "old.json", "old");
  const Answer answer = run(with(small, {"--json", folder / "old.json"}), {.largest_file = 100});
  EXPECT_EQ(answer.code, 2) << answer.out;
  EXPECT_THAT(answer.out, HasSubstr("PASS: ")) << "what was found out is lost";
  EXPECT_THAT(answer.err, HasSubstr("old.json: cannot be written: "));
  EXPECT_EQ(text_of(folder / "old.json"), "old");
  EXPECT_THAT(folder.names(), ElementsAre("old.json"));
}

// A device that the program could replace by a file without harm, were it wrong: root gets a node
// in the folder of the test, others the system's, which they cannot rename. Empty if there is
// neither.
std::string harmless_device(const Folder& folder, const std::string& name, unsigned minor) {
  if (geteuid() != 0) return "/dev/" + name;
  const std::string node = folder / name;
  if (mknod(node.c_str(), S_IFCHR | 0666, makedev(1, minor)) != 0) return "";
  return std::ofstream(node) ? node : "";
}

TEST(OutputFile, MayBeADevice) {
  const Folder folder;
  const std::string null = harmless_device(folder, "null", 3);
  const std::string full = harmless_device(folder, "full", 7);
  if (null.empty() || full.empty()) GTEST_SKIP() << "this user can make no devices";
  EXPECT_EQ(run(with(small, {"--json", null})).code, 0);
  const Answer answer = run(with(small, {"--json", full}));
  EXPECT_EQ(answer.code, 2);
  EXPECT_THAT(answer.err,
              HasSubstr("assay: " + full + ": cannot be written: No space left on device\n"));
  for (const std::string& device : {null, full})
    EXPECT_TRUE(std::filesystem::is_character_file(device)) << device;
}

TEST(OutputFile, MayBeAPipe) {
  const Folder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  EXPECT_EQ(run({"doctor", "--json", pipe}).code, 0);
  std::string text(1 << 16, '\0');
  const ssize_t size = read(reader, text.data(), text.size());
  close(reader);
  ASSERT_GT(size, 0);
  text.resize(static_cast<std::size_t>(size));
  EXPECT_EQ(ReadJson(text)["command"], "doctor");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST(Stdout, ThatIsFullIsAnError) {
  // The test opens it: the program has only a descriptor, and no name to do harm with.
  for (const auto& arguments : {small, with(small, {"--json", "-"}), {"list"}, {"doctor"}}) {
    const Answer answer = run(arguments, {.stdout_file = "/dev/full"});
    EXPECT_EQ(answer.code, 2) << arguments.front();
    EXPECT_THAT(answer.err, HasSubstr("assay: standard output cannot be written"));
  }
}

// What ends the program must not be that it could not say why it ends.
TEST(Stderr, ThatCannotBeWrittenChangesNoExitCode) {
  for (const char* file : {"/dev/full", "-"}) {
    EXPECT_EQ(run({"check", "nosuch"}, {.stderr_file = file}).code, 2) << file;
    EXPECT_EQ(run({}, {.stderr_file = file}).code, 2) << file;
    EXPECT_EQ(
        run({"bench"}, {.environment = {{"ASSAY_REQUIRE_GPU", "1"}}, .stderr_file = file}).code, 4)
        << file;
    EXPECT_EQ(run({"check", "without_beta", "--cases", "5", "--corpus", "/nowhere/corpus.txt"},
                  {.program = ASSAY_WITH_FAULTS, .stderr_file = file})
                  .code,
              1)
        << "a warning that cannot be printed";
  }
}

TEST(Corpus, DamagedLineStopsTheRun) {
  const Folder folder;
  write_text(folder / "corpus.txt", "# past failures\nwithin_bound: m=1 n=2\n");
  const Answer answer = run(with(small, {"--corpus", folder / "corpus.txt"}));
  EXPECT_EQ(answer.code, 2);
  EXPECT_THAT(answer.out, IsEmpty());
  EXPECT_THAT(answer.err, HasSubstr("corpus.txt:2: "));
  EXPECT_EQ(run(with(small, {"--corpus", folder / "corpus.txt", "--no-corpus"})).code, 0);
  EXPECT_EQ(run(small, {.environment = {{"ASSAY_CORPUS", folder / "corpus.txt"}}}).code, 2);
}

TEST(Corpus, IsNotReadForAGivenCase) {
  const Folder folder;
  write_text(folder / "corpus.txt", "nonsense\n");
  EXPECT_EQ(
      run({"check", "naive", "--case", "m=1 n=2 k=3", "--corpus", folder / "corpus.txt"}).code, 0);
}

}  // namespace
}  // namespace assay::tests
