// What every command writes with --json is what docs/result.schema.json describes, with no field
// that it does not name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/errors.h"
#include "base/json_schema.h"
#include "cli/accept/accept.h"
#include "cli/bench/bench.h"
#include "cli/codegen/codegen.h"
#include "cli/counts/counts.h"
#include "cli/gate/gate_report.h"
#include "cli/out/result.h"
#include "cli/power/defects_text.h"
#include "cli/tests/gates.h"
#include "cli/tests/program.h"

namespace assay::tests {
namespace {

using testing::HasSubstr;

const Json& schema() {
  static const Json json = parse_json(text_of(ASSAY_RESULT_SCHEMA), "the schema");
  return json;
}

// What is wrong with a result; empty if nothing is.
std::string fault_of(const std::string& text, UnknownFields unknown = UnknownFields::refused) {
  try {
    const Json json = parse_json(text, "a.json");
    check_schema(schema(), Field(json, "a.json:"), unknown);
    return "";
  } catch (const BadInput& fault) {
    return fault.what();
  }
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  EXPECT_NE(text.find(from), text.npos) << from;
  return text.replace(text.find(from), from.size(), to);
}

TEST(ResultSchema, DescribesWhatCommandsWrite) {
  const std::vector<std::vector<std::string>> commands = {
      {"list"},
      {"doctor"},
      {"check", "naive", "eigen", "--cases", "2", "--no-corpus"},
      {"check", "naive", "--case", "m=1 n=2 k=3"},
      {"calibrate", "naive"},
      {"codegen"},
      {"bench"},
      {"gate", "time"}};
  for (std::vector<std::string> command : commands) {
    command.insert(command.end(), {"--json", "-"});
    EXPECT_EQ(fault_of(run(command).out), "") << command[0];
  }
}

TEST(ResultSchema, DescribesAKillMatrix) {
  const Entry entry = {{.name = "a"}, Backend::simt};
  const ClaimResult held = {.entry = entry, .claim = &claim_named("beta_zero")};
  ClaimResult killed = held;
  killed.failure.emplace();
  const KillMatrix matrix = {.claims = {held.claim},
                             .rows = {{{.name = "a", .claim = "beta_zero"}, {held}},
                                      {{.name = "b", .claim = "beta_zero"}, {killed}}}};
  EXPECT_EQ(fault_of(json_of(matrix, {"assay", "defects"}, {ExitCode::passed, "PASS", "", ""})),
            "");
}

TEST(ResultSchema, DescribesAFailure) {
  const Answer answer =
      run({"check", "--cases", "20", "--no-corpus", "--json", "-"}, {.program = ASSAY_WITH_FAULTS});
  EXPECT_EQ(answer.code, 1);
  EXPECT_THAT(answer.out, HasSubstr("\"leads\": true"));
  EXPECT_EQ(fault_of(answer.out), "");
}

TEST(ResultSchema, DescribesWhatIsMeasuredOnAGpu) {
  GateResult gated = gate({cell("a", CellOutcome::same), slower(), wrong(), without_baseline()});
  EXPECT_EQ(fault_of(json_of(gated, conclude(gated))), "");
  BenchResult benched;
  benched.report.lines = {{.cell = parse_cell("naive m=64 n=32 k=16"), .time_us = {1, 1, 2, 3}}};
  EXPECT_EQ(fault_of(json_of(benched, conclude(benched))), "");
  AcceptResult accepted;
  accepted.report.lines = {{parse_cell("naive m=64 n=32 k=16"), {0.9, 0.8, 1, 12}, {}, ""}};
  EXPECT_EQ(fault_of(json_of(accepted, conclude(accepted))), "");
}

TEST(ResultSchema, DescribesWhatIsReadFromMachineCode) {
  CountsResult counted;
  counted.request.by_line = true;
  counted.lines = {{.variant = "a", .counting = {.launches = {{.kernel = "k"}}}},
                   {.variant = "b", .counting = {.refusal = "too small"}}};
  counted.lines[0].counting.launches[0].lines.resize(1);
  counted.lines[0].counting.launches[0].lines[0].accesses.resize(1);
  EXPECT_EQ(fault_of(json_of(counted, conclude(counted))), "");
  CodegenResult shown;
  shown.kernels = {{90, {.symbol = "_Z1kv", .instructions = {{"FFMA", 2}}}}};
  shown.comparisons = {{.variant = "a", .differences = {"registers 1 -> 2"}}};
  EXPECT_EQ(fault_of(json_of(shown, conclude(shown))), "");
}

TEST(ResultSchema, RefusesWhatItDoesNotDescribe) {
  const GateResult gated = gate({slower()});
  const std::string text = json_of(gated, conclude(gated));
  EXPECT_EQ(fault_of(replaced(text, "\"ratio\"", "\"ratios\"")),
            "a.json: results[0]: the field \"ratio\" is missing");
  EXPECT_EQ(fault_of(replaced(text, "\"crept\"", "\"creeps\"")),
            "a.json: results[0]: the schema knows no field 'creeps'");
  EXPECT_EQ(fault_of(replaced(text, "\"crept\"", "\"creeps\""), UnknownFields::ignored), "");
  EXPECT_EQ(fault_of(replaced(text, "\"slower\"", "\"slow\"")).substr(0, 40),
            "a.json: results[0].status: expected one ");
  EXPECT_EQ(fault_of(replaced(text, "\"unchanged\": false", "\"unchanged\": 0")),
            "a.json: results[0].unchanged: expected \"boolean\"");
  EXPECT_EQ(fault_of(replaced(text, "\"processes\": 12", "\"processes\": -1")),
            "a.json: processes: expected 0 or more");
  EXPECT_EQ(fault_of(replaced(text, "\"origin\"", "\"origins\"")),
            "a.json: the field \"origin\" is missing");
  EXPECT_EQ(fault_of("[]"), "a.json: expected \"object\"");
  EXPECT_THROW(check_schema(Json{{"pattern", "x"}}, Field(schema(), ""), UnknownFields::ignored),
               std::logic_error);
}

TEST(ResultSchema, HasTheOldResultsThatAreStillRead) {
  for (const char* name : {"h200-check.json", "h200-check-7f1c5d4.json"})
    EXPECT_EQ(fault_of(text_of(std::string(ASSAY_MEASURED) + "/" + name), UnknownFields::ignored),
              "");
}

}  // namespace
}  // namespace assay::tests
