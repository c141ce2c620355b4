// What timed and accepted variants amount to, and how it reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/accept/accept.h"
#include "cli/bench/bench.h"
#include "cli/tests/program.h"
#include "cli/tests/read_json.h"
#include "kernels/registry.h"

namespace assay::tests {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

BenchLine timed(const std::string& variant, const std::string& problem = "m=64 n=32 k=16") {
  return {.cell = {variant, parse_case(problem)},
          .time_us = {12.345, 12.1, 12.6},
          .tflops = 5.31,
          .percent_of_cublas = {81.23, 80.1, 82.4},
          .percent_of_peak = 9.87,
          .percent_of_roofline = 45.6,
          .clock_mhz = 1980,
          .cold = 2.5};
}

BenchResult result_of(std::vector<BenchLine> lines) {
  BenchResult result;
  result.report = {.device = {{"name", "NVIDIA H200"}},
                   .peak_tflops = 60.31,
                   .memory_gb_s = 4123,
                   .lines = std::move(lines),
                   .processes = 3,
                   .seconds = 12};
  return result;
}

std::string text(const BenchResult& result) {
  return bench_text(result, conclude(result), Screen(stdout));
}

TEST(BenchText, LeadsWithTheCardAndHasATableForEachProblem) {
  const std::string said = text(result_of({timed("naive"), timed("tiled_32", "m=8 n=8 k=8")}));
  EXPECT_THAT(said,
              StartsWith("NVIDIA H200: 60.3 TFLOP/s of FFMA and 4123 GB/s of memory, measured "
                         "here\ncold operands, 3 processes, seed 0\n"));
  EXPECT_THAT(said, HasSubstr("\nm=64 n=32 k=16     us            95 %  TFLOP/s  % cuBLAS          "
                              "95 %  % peak  % roofline   MHz\n"
                              "naive           12.35  12.10 to 12.60     5.31      81.2  80.1 to "
                              "82.4     9.9        45.6  1980\n"));
  EXPECT_THAT(said, HasSubstr("\nm=8 n=8 k=8 "));
  EXPECT_THAT(said, HasSubstr("\nTIMED: 2 times on 2 problems, every result right\n"));
}

TEST(BenchText, KeepsAnotherArithmeticApartFromFfma) {
  BenchLine in_parts = timed("in_parts");
  in_parts.arithmetic = Arithmetic::tf32x3;
  in_parts.percent_of_peak = in_parts.percent_of_roofline = 0;
  const BenchResult result = result_of({timed("naive"), in_parts});
  EXPECT_THAT(text(result), HasSubstr("\nin_parts (tf32x3)  12.35  12.10 to 12.60     5.31      "
                                      "81.2  80.1 to 82.4       -           -  1980\n"));
  EXPECT_THAT(text(result), Not(HasSubstr("naive (")));
  const auto kept = ReadJson(json_of(result, conclude(result)));
  EXPECT_EQ(kept["results"][0]["arithmetic"], "fp32");
  EXPECT_EQ(kept["results"][1]["arithmetic"], "tf32x3");
}

TEST(BenchText, SaysWhyAVariantWasNotTimed) {
  BenchLine refused{.cell = {"vectorized", parse_case("m=64 n=32 k=16")},
                    .why_not = "lda = 777 is not a multiple of 4"};
  const std::string said = text(result_of({timed("naive"), refused}));
  EXPECT_THAT(said, HasSubstr("\nvectorized          -\n"));
  EXPECT_THAT(said, HasSubstr("lda = 777 is not a multiple of 4\n"));
  EXPECT_THAT(said, HasSubstr("TIMED: 1 time on 1 problem, every result right; 1 not timed"));
}

TEST(BenchText, ClaimsNothingOfTheGpuWhereNothingWasTimed) {
  const std::string said = text(
      result_of({{.cell = {"naive", parse_case("m=64 n=32 k=16")}, .why_not = "it needs sm_100"}}));
  EXPECT_THAT(said, HasSubstr("naive            -\n                it needs sm_100\n"));
  EXPECT_THAT(said, Not(HasSubstr("cold")));
  EXPECT_THAT(said, Not(HasSubstr("this GPU")));
}

TEST(BenchText, ShowsNoRatioWhereCublasWasNotTimed) {
  BenchLine line = timed("naive");
  line.percent_of_cublas = {};
  EXPECT_THAT(text(result_of({line})), HasSubstr("     5.31         -           9.9"));
}

TEST(BenchText, ClaimsColdOperandsOnlyWhereThatWasShown) {
  EXPECT_THAT(text(result_of({timed("naive")})), HasSubstr("cold, and shown to be: operands took "
                                                           "2.5 times"));
  for (double cold : {1.29, 1.0, 0.0, std::nan("")}) {
    BenchLine line = timed("naive");
    line.cold = cold;
    EXPECT_THAT(text(result_of({timed("tiled_4"), line})), HasSubstr("not shown to be cold"));
    EXPECT_THAT(text(result_of({timed("tiled_4"), line})), HasSubstr(": naive m=64 n=32 k=16 ("));
  }
  BenchResult warm = result_of({timed("naive")});
  warm.request.warm = true;
  EXPECT_THAT(text(warm), HasSubstr("\nwarm operands, "));
  EXPECT_THAT(text(warm), Not(HasSubstr("cold")));
}

TEST(BenchText, IsShortWhenQuiet) {
  BenchResult result = result_of({timed("naive")});
  result.request.quiet = true;
  EXPECT_EQ(text(result), "TIMED: 1 time on 1 problem, every result right\n");
}

TEST(BenchExit, FailsAWrongResult) {
  BenchLine line{.cell = {"naive", parse_case("m=1 n=2 k=3")}, .why_not = "3 wrong", .wrong = true};
  const BenchResult result = result_of({timed("tiled_4"), line});
  EXPECT_EQ(conclude(result).code, ExitCode::wrong);
  EXPECT_THAT(text(result), StartsWith("WRONG: the result of naive m=1 n=2 k=3\n"));
  EXPECT_THAT(text(result), HasSubstr("naive        WRONG\n"));
  EXPECT_THAT(text(result), HasSubstr("3 wrong\n"));
}

TEST(BenchExit, IsNoPassWhereNothingWasTimed) {
  EXPECT_EQ(conclude(result_of({})).code, ExitCode::nothing_judged);
  BenchLine refused{.cell = {"a", parse_case("m=1 n=2 k=3")}, .why_not = "too small"};
  EXPECT_EQ(conclude(result_of({refused})).code, ExitCode::nothing_judged);
  EXPECT_EQ(conclude(result_of({refused})).text(), "NOTHING TIMED: too small");
  BenchResult unfit = result_of({timed("naive")});
  unfit.report.unfit = "throttled";
  EXPECT_EQ(conclude(unfit).code, ExitCode::unfit_environment);
  EXPECT_THAT(text(unfit), StartsWith("UNFIT: throttled\n"));
}

TEST(BenchJson, HasWhatWasPrinted) {
  const BenchResult result = result_of({timed("naive")});
  const auto json = ReadJson(json_of(result, conclude(result)));
  EXPECT_EQ(json["schema"], 2);
  EXPECT_EQ(json["command"], "bench");
  EXPECT_EQ(json["exit_code"], 0);
  EXPECT_EQ(json["peak_tflops"], 60.31);
  EXPECT_EQ(json["results"][0]["status"], "timed");
  EXPECT_EQ(json["results"][0]["time_us"]["high"], 12.6);
  EXPECT_EQ(json["results"][0]["cold"], 2.5);
}

const Cell of_naive = parse_cell("naive m=64 n=32 k=16");

AcceptResult accepted(std::vector<std::string> named) {
  AcceptResult result;
  result.named = std::move(named);
  result.request.reason = "wider tiles";
  result.report = {.folder = "baselines/h200",
                   .accepted = {"naive", "tiled_4"},
                   .not_gated = {"cublas: its kernels are a library's"},
                   .lines = {{of_naive, {0.9, 0.89, 0.91, 12}, {1.011, 1.01, 1.012, 12}, ""},
                             {parse_cell("tiled_4 m=64 n=32 k=16"), {}, {}, ""}},
                   .seconds = 60};
  return result;
}

TEST(Accept, TellsEveryRatioAndWhatWasNotAccepted) {
  const AcceptResult result = accepted({});
  EXPECT_EQ(conclude(result).code, ExitCode::passed);
  EXPECT_EQ(accept_text(result, conclude(result), Screen(stdout)),
            "time of               over the baseline's (95 %)  over the anchor's (95 %)\n"
            "naive m=64 n=32 k=16  0.9000 (0.8900 to 0.9100)   1.0110 (1.0100 to 1.0120)\n"
            "with nothing to compare it with: 1 cell\n"
            "\naccepted: naive, tiled_4\nnot gated: cublas: its kernels are a library's\n"
            "because: wider tiles\nin 60 s\n\n"
            "ACCEPTED: 2 cells of 2 variants, written to baselines/h200\n");
}

TEST(Accept, FailsWhereAVariantThatWasNamedIsLeftOut) {
  EXPECT_EQ(conclude(accepted({"naive"})).code, ExitCode::passed);
  const Conclusion conclusion = conclude(accepted({"naive", "cublas"}));
  EXPECT_EQ(conclusion.code, ExitCode::wrong);
  EXPECT_THAT(conclusion.text(), StartsWith("ACCEPTED IN PART: cublas was left out; "));
}

TEST(Accept, FailsWhereAVariantWasRefused) {
  AcceptResult result = accepted({"naive", "tiled_4"});
  result.report.accepted = {"tiled_4"};
  result.report.refused = {"naive"};
  result.report.lines[0].refusal = "it takes 1.163 times as long as the anchor";
  EXPECT_EQ(conclude(result).code, ExitCode::wrong);
  EXPECT_EQ(
      conclude(result).text(),
      "ACCEPTED IN PART: naive cannot be accepted as a whole, and nothing was changed; 1 cell "
      "of 1 variant, written to baselines/h200");
  EXPECT_THAT(
      accept_text(result, conclude(result), Screen(stdout)),
      HasSubstr("\nrefused: naive m=64 n=32 k=16: it takes 1.163 times as long as the anchor\n"));
  result.report.wrong = true;
  EXPECT_THAT(conclude(result).text(), StartsWith("ACCEPTED IN PART: naive would be wrong, and "));
  result.report.accepted.clear();
  EXPECT_EQ(conclude(result).text(),
            "NOTHING ACCEPTED: naive would be wrong, and nothing was changed");
}

TEST(Accept, IsNoPassWhereNothingWasAccepted) {
  AcceptResult result = accepted({});
  result.report.accepted.clear();
  EXPECT_EQ(conclude(result).code, ExitCode::wrong);
  result.report.not_gated.clear();
  EXPECT_EQ(conclude(result).code, ExitCode::nothing_judged);
  result.report.unfit = "throttled";
  EXPECT_EQ(conclude(result).code, ExitCode::unfit_environment);
  result.why_not = "no GPU";
  EXPECT_EQ(conclude(result).code, ExitCode::nothing_judged);
}

// Nine problems, on a card that is taken away before the last of them.
TEST(BenchRun, ShowsAndKeepsResultsAsTheyCome) {
  register_variant({.name = "of_this_test",
                    .idea = "never launched",
                    .launch = [](const Gemm&, cudaStream_t) { return cudaSuccess; }},
                   Backend::cuda, 5000);
  const Folder folder;
  BenchRequest request;
  request.json = folder / "bench.json";
  BenchOptions options = {.variants = {"of_this_test"}, .processes = 1};
  for (int size = 1; size <= 9; ++size)
    options.problems.push_back(parse_case(fmt::format("m={0} n={0} k={0}", 100 * size)));
  int calls = 0;
  options.time = [&](const TimingJob& job, int, const TimingProgress&) {
    if (++calls == 3) throw std::runtime_error("stopped");
    ProcessTiming timing = {.device = {{"key", "lab"}, {"name", "LAB"}},
                            .canaries = {{"arithmetic_tflops", 60}, {"memory_gb_s", 4000}}};
    for (const CellJob& cell : job.cells) {
      CellTiming timed = {.cell = cell.cell, .cold = 2};
      Round round;
      round.fill({.time_us = 50, .clock_mhz = 1900});
      timed.rounds.assign(40, round);
      timing.cells.push_back(timed);
    }
    return std::vector{timing};
  };
  testing::internal::CaptureStdout();
  EXPECT_THROW(run_bench(request, options), std::runtime_error);
  const std::string said = testing::internal::GetCapturedStdout();
  EXPECT_THAT(said, StartsWith("LAB: "));
  EXPECT_THAT(said, HasSubstr("\nm=800 n=800 k=800 "));
  EXPECT_THAT(said, Not(HasSubstr("m=900")));
  const auto kept = ReadJson(text_of(request.json));
  EXPECT_EQ(kept["verdict"], "STOPPED");
  EXPECT_EQ(kept["exit_code"], 3);
  EXPECT_EQ(kept["results"].size(), 8u);

  calls = 10;
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_bench(request, options), ExitCode::passed);
  const std::string whole = testing::internal::GetCapturedStdout();
  for (const Case& problem : options.problems) {
    const std::string heading = "\n" + to_string(problem) + " ";
    EXPECT_EQ(whole.find(heading), whole.rfind(heading)) << heading;
    EXPECT_THAT(whole, HasSubstr(heading));
  }
  EXPECT_EQ(ReadJson(text_of(request.json))["verdict"], "TIMED");
}

}  // namespace
}  // namespace assay::tests
