// What the command says of comparisons that never went both ways.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "cli/check/paths.h"
#include "cli/tests/program.h"
#include "cli/tests/read_json.h"

namespace assay::tests {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Answer check(const std::string& variant, std::vector<std::string> more = {}) {
  std::vector<std::string> words = {"check",   variant, "--claim",    "within_bound",
                                    "--cases", "5",     "--no-corpus"};
  words.insert(words.end(), more.begin(), more.end());
  return run(words, {.program = ASSAY_WITH_FAULTS});
}

TEST(Paths, NameTheComparisonThatNeverWentBothWays) {
  const Answer answer = check("one_way");
  EXPECT_EQ(answer.code, 0) << answer.out << answer.err;
  EXPECT_THAT(answer.out, HasSubstr(" paths "));
  EXPECT_THAT(answer.out, HasSubstr(" 3/4 "));
  EXPECT_THAT(answer.out,
              HasSubstr("\npaths: one_way: cli/tests/one_way.cu:20: `if (g.m - g.k == "
                        "std::int64_t{1} << 50) return;`: compared with 1125899906842624, only "));
}

TEST(Paths, FailTheCheckWhereTheyAreRequired) {
  const Answer answer = check("one_way", {"--paths-required"});
  EXPECT_EQ(answer.code, 1);
  EXPECT_EQ(answer.last_line(),
            "FAIL: 1 comparison of one_way never went both ways, and --paths-required wants all");
}

TEST(Paths, LeaveOutWhatTheSourceAccepts) {
  const Answer answer = check("accepted", {"--paths-required"});
  EXPECT_EQ(answer.code, 0) << answer.out;
  EXPECT_THAT(answer.out, HasSubstr(" 3/3 "));
  EXPECT_THAT(answer.last_line(), StartsWith("PASS"));
}

TEST(Paths, AreNotShownOfVariantsThatCannotBeWatched) {
  const Answer answer = check("right", {"--paths-required"});
  EXPECT_EQ(answer.code, 0) << answer.out;
  EXPECT_THAT(answer.out, Not(HasSubstr("paths")));
}

TEST(Paths, CannotBeDecidedWithoutObjdump) {
  const auto without = [](std::vector<std::string> more) {
    std::vector<std::string> words = {"check", "one_way", "--claim", "within_bound", "--cases",
                                      "5",     "--jobs",  "1",       "--no-corpus"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words, {.program = ASSAY_WITH_FAULTS, .environment = {{"PATH", "/nowhere"}}});
  };
  const std::string reason = "naming comparisons takes objdump, which binutils has";
  const Answer asked = without({});
  EXPECT_EQ(asked.code, 0) << asked.out << asked.err;
  EXPECT_THAT(asked.out, HasSubstr("\n- paths: one_way: " + reason + "\n"));
  const Answer required = without({"--paths-required"});
  EXPECT_EQ(required.code, 4);
  EXPECT_EQ(required.last_line(), "UNFIT: --paths-required cannot be decided: one_way: " + reason);
}

TEST(Paths, AreALineForEachOfTheSource) {
  const auto exploration = std::make_shared<Exploration>();
  exploration->one_way = {{"mine.cu", 14, "if (k / 3 > x)", "compared with 0, only 1 came"},
                          {"mine.cu", 14, "if (k / 3 > x)", "compared with 2, only 0 came"},
                          {"mine.cu", 15, "if (n > x)", "compared with 7, only 8 came"}};
  CheckReport report;
  report.results.push_back({.exploration = exploration});
  report.results.back().entry.variant.name = "mine";
  report.results.back().entry.backend = Backend::ptx;
  EXPECT_EQ(paths_text(report),
            "paths: mine: mine.cu:14: `if (k / 3 > x)`: compared with 0, only 1 came, and 1 more "
            "in this line\n"
            "paths: mine: mine.cu:15: `if (n > x)`: compared with 7, only 8 came\n");
}

TEST(Paths, AreInBothFiles) {
  const Folder folder;
  check("one_way", {"--paths-required", "--json", folder / "a.json", "--junit", folder / "a.xml"});
  const ReadJson paths = ReadJson(text_of(folder / "a.json"))["paths"][0];
  EXPECT_EQ(paths["variant"], "one_way");
  EXPECT_EQ(paths["comparisons"], 4);
  EXPECT_EQ(paths["went_both_ways"], 3);
  EXPECT_EQ(paths["one_way"][0]["line"], 20);
  const std::string xml = text_of(folder / "a.xml");
  EXPECT_THAT(xml, HasSubstr("3/4 comparisons went both ways"));
  EXPECT_THAT(xml, HasSubstr("cli/tests/one_way.cu:20"));
}

}  // namespace
}  // namespace assay::tests
