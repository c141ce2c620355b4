// What all commands print and write in the same way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/out/conclusion.h"
#include "cli/out/json.h"
#include "report/junit_xml.h"
#include "cli/out/table.h"
#include "cli/tests/read_json.h"
#include "cli/tests/xml.h"

namespace assay::tests {
namespace {

using testing::HasSubstr;

const std::string hostile = "\033[2J\nnaive: \xff";
const std::string harmless = "\\x1b[2J\\x0anaive: \\xff";

TEST(Text, OfOthersIsSafeToPrint) {
  const Screen screen(stdout);
  Table table;
  table.add_column("variant", Side::left);
  table.add_row({{hostile}});
  table.add_line(hostile);
  EXPECT_EQ(table.text(screen), "variant\n" + harmless + "\n" +
                                    std::string(harmless.size() + 2, ' ') + harmless + "\n");
  EXPECT_EQ(say("crashed", hostile), "  crashed:   " + harmless + "\n");
  EXPECT_EQ(conclusion_text({ExitCode::wrong, "FAIL", hostile, hostile}, screen),
            "FAIL: " + harmless + "\nnext: " + harmless + "\n");
}

TEST(JsonText, KeepsTheOrderOfFieldsAndReadsBack) {
  const std::string text = text_of(JsonValue{{"z", 1},
                                             {"a", hostile},
                                             {"list", std::vector<std::string>{"x", "y"}},
                                             {"map", std::map<std::string, int>{{"k", 7}}},
                                             {"none", std::optional<double>()},
                                             {"half", std::optional<double>(0.5)},
                                             {"largest", UINT64_MAX},
                                             {"empty", JsonValue::List()},
                                             {"yes", true}});
  EXPECT_LT(text.find("\"z\""), text.find("\"a\""));
  EXPECT_THAT(text, HasSubstr("\"largest\": 18446744073709551615"));
  EXPECT_THAT(text, HasSubstr("\"empty\": []"));
  EXPECT_THAT(text, HasSubstr("\"yes\": true"));
  const ReadJson json(text);
  EXPECT_EQ(json["a"], "\033[2J\nnaive: \xef\xbf\xbd");
  EXPECT_EQ(json["list"][1], "y");
  EXPECT_EQ(json["map"]["k"], 7);
  EXPECT_TRUE(json["none"].is_null());
  EXPECT_EQ(json["half"], 0.5);
}

TEST(JUnitText, CountsOutcomesAndEscapesText) {
  using Outcome = JUnitCase::Outcome;
  const std::string xml =
      junit_text("run \"<&>\"", 1.5,
                 {{"timed", {{.name = "a", .seconds = 0.25}, {.name = "b", .seconds = 0.5}}},
                  {"<odd>",
                   {{.name = "c"},
                    {.name = "d",
                     .outcome = Outcome::failure,
                     .type = "wrong",
                     .message = hostile,
                     .details = "1 < 2\n" + hostile + "\n"},
                    {.name = "e", .outcome = Outcome::error, .type = "unfit", .message = "hot"},
                    {.name = "f", .outcome = Outcome::skipped, .message = "no GPU"}}}});
  EXPECT_EQ(fault_of_xml(xml), "") << xml;
  EXPECT_THAT(xml, HasSubstr("<testsuites name=\"run &quot;&lt;&amp;&gt;&quot;\" tests=\"6\" "
                             "failures=\"1\" errors=\"1\" skipped=\"1\" time=\"1.500\">"));
  EXPECT_THAT(xml, HasSubstr("<testsuite name=\"timed\" tests=\"2\" failures=\"0\" errors=\"0\" "
                             "skipped=\"0\" time=\"0.750\">"));
  EXPECT_THAT(xml, HasSubstr("<testsuite name=\"&lt;odd&gt;\" tests=\"4\" failures=\"1\" "
                             "errors=\"1\" skipped=\"1\">"));
  EXPECT_THAT(xml, HasSubstr("<failure type=\"wrong\" message=\"\\x1b[2J&#10;naive: \\xff\">1 &lt; "
                             "2\n\\x1b[2J\nnaive: \\xff\n</failure>"));
  EXPECT_THAT(xml, HasSubstr("<error type=\"unfit\" message=\"hot\"/>"));
  EXPECT_THAT(xml, HasSubstr("<skipped message=\"no GPU\"/>"));
}

}  // namespace
}  // namespace assay::tests
