// What variants ask of a GPU's memory, as the command shows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/counts/counts.h"
#include "cli/tests/program.h"
#include "cli/tests/read_json.h"

namespace assay::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Counts, IsExplained) {
  EXPECT_THAT(run({"--help"}).out, HasSubstr("\n  counts "));
  const Answer help = run({"counts", "--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, AllOf(HasSubstr("--by-line"), HasSubstr("--case"), HasSubstr("--json"),
                              HasSubstr("m=256 n=256 k=256")));
}

TEST(Counts, RefusesBadInput) {
  expect_bad_input(run({"counts", "tild_32"}),
                   "there is no variant 'tild_32' (did you mean tiled_32?); there are ");
  expect_bad_input(run({"counts", "naive", "--case", "m=5 n=6"}),
                   "--case \"m=5 n=6\": 'k' is missing");
  expect_bad_input(run({"counts", "naive", "--case", "m=5 n=6 k=seven"}), "k is a whole number");
  expect_bad_input(run({"counts", "--by-lines"}),
                   "there is no flag '--by-lines' (did you mean --by-line?)");
}

CountsResult result_of(std::vector<CountsLine> lines) {
  return {.request = {}, .problem = {.m = 16, .n = 16, .k = 16}, .lines = std::move(lines)};
}

TEST(Counts, SaysWhichLaunchFails) {
  const CountsResult result = result_of(
      {{.variant = "mine", .counting = {.failure = launch_crashed("data race: thread (0,0,0)")}}});
  const Conclusion conclusion = conclude(result);
  EXPECT_EQ(conclusion.code, ExitCode::wrong);
  const std::string text = counts_text(result, conclusion, Screen(stdout));
  EXPECT_THAT(text, HasSubstr("\nFAIL: mine on ptx: data race: thread (0,0,0)\n"));
  EXPECT_THAT(text, HasSubstr("next: assay check mine --backend ptx --case \"m=16 n=16 k=16\"\n"));
  const ReadJson json(json_of(result, conclusion));
  EXPECT_EQ(json["results"][0]["status"], "failed");
  EXPECT_EQ(json["results"][0]["reason"], "data race: thread (0,0,0)");
}

TEST(Counts, IsNothingWithoutALaunch) {
  const CountsResult result = result_of({{.variant = "mine"}});
  EXPECT_EQ(conclude(result).code, ExitCode::nothing_judged);
}

TEST(Counts, ShowsWhatWasCounted) {
  ptx::LaunchCounts launch{.kernel = "mine<4>", .blocks = 16, .threads_per_block = 16};
  launch.total.global_loads = {
      .requests = 1024, .sectors = 4096, .accesses = 2048, .bytes_asked = 8192};
  launch.total.shared_loads = {
      .instructions = 3, .wavefronts = 96, .accesses = 96, .bytes_asked = 384};
  launch.total.classes["fma.f32"] = {.warps = 256, .threads = 4096};
  launch.total.instructions = {.warps = 256, .threads = 4096};
  const CountsResult result = result_of(
      {{.variant = "mine", .counting = {.launches = {launch}}, .remarks = {"of some kind"}},
       {.variant = "other", .counting = {.refusal = "k = 16 is not a multiple of 32"}}});
  const Conclusion conclusion = conclude(result);
  EXPECT_EQ(conclusion.code, ExitCode::passed);
  const std::string text = counts_text(result, conclusion, Screen(stdout));
  EXPECT_THAT(text, StartsWith("assay counts: 2 variants at m=16 n=16 k=16\n\nmine\n"
                               "  mine<4>: 16 blocks of 16 threads\n"));
  EXPECT_THAT(text, HasSubstr("  global loads     1,024  4,096 sectors      4.00        8,192      "
                              "131,072\n"));
  EXPECT_THAT(text, HasSubstr("  shared loads         3     96 wavefronts  32.00          384"));
  EXPECT_THAT(text, HasSubstr("  FFMA 4,096, barriers of warps 0\n"));
  EXPECT_THAT(
      text,
      HasSubstr("  intensity: 1 FLOP per byte asked of global memory, 0.0625 per byte moved\n"));
  EXPECT_THAT(text, HasSubstr("  remark: of some kind\n"));
  EXPECT_THAT(text, HasSubstr("\nother refused: k = 16 is not a multiple of 32\n"));
  EXPECT_THAT(text, HasSubstr("\nCOUNTED: 1 variant; 1 refused the case\n"));
  EXPECT_THAT(text, Not(HasSubstr("global stores"))) << "there were none";
}

#ifdef ASSAY_HAS_PTX

TEST(Counts, AreKnownByHand) {
  // 4 blocks of 32 warps, 2 slices of k: each warp loads a row of either tile for each.
  const Answer answer = run({"counts", "tiled_32", "--case", "m=64 n=64 k=64", "--json", "-"});
  EXPECT_EQ(answer.code, 0) << answer.err;
  const ReadJson json(answer.out);
  EXPECT_EQ(json["command"], "counts");
  EXPECT_EQ(json["case"], "m=64 n=64 k=64");
  const ReadJson row = json["results"][0], launch = row["launches"][0], counts = launch["counts"];
  EXPECT_EQ(row["status"], "counted");
  EXPECT_EQ(row["remarks"].size(), 0u) << "the machine code has the shared loads of the PTX";
  EXPECT_EQ(launch["kernel"], "tiled<32>");
  EXPECT_EQ(launch["blocks"], 4);
  EXPECT_EQ(counts["global_loads"]["requests"], 4 * 32 * 2 * 2);
  EXPECT_EQ(counts["global_loads"]["sectors"], 4 * 32 * 2 * 2 * 4);
  EXPECT_EQ(counts["global_loads"]["bytes_asked"], 4 * 32 * 2 * 2 * 128);
  EXPECT_EQ(counts["global_stores"]["requests"], 4 * 32);
  EXPECT_EQ(counts["shared_stores"]["instructions"], 4 * 32 * 2 * 2);
  EXPECT_EQ(counts["shared_stores"]["wavefronts"], 4 * 32 * 2 * 2);
  // A row of A by 8 loads of 128 bits, a column of B by 32 of 32 bits.
  EXPECT_EQ(counts["shared_loads"]["instructions"], 4 * 32 * 2 * (8 + 32));
  EXPECT_EQ(counts["barriers"], 4 * 32 * 2 * 2);
  EXPECT_EQ(counts["ffma"], 64 * 64 * 64);
  EXPECT_EQ(run({"counts", "tiled_32", "--case", "m=64 n=64 k=64 seed=2", "--json", "-"}).code, 0);
}

// The stage that `fastest` chooses is the one whose kernels it launches. Nothing is summed up.
TEST(Counts, OfFastestAreThoseOfTheStageThatSuits) {
  const std::pair<const char*, const char*> chosen[] = {
      {"m=1 n=300 k=40", "few_rows"},
      {"m=16 n=300 k=40", "few_rows"},
      {"m=17 n=300 k=40", "split_k"},
      {"m=300 n=32 k=40", "few_columns"},
      {"m=30 n=3 k=40", "few_columns"},
      {"m=512 n=512 k=40", "split_k"},
      {"m=1000 n=777 k=64", "split_k"},
      {"m=1001 n=777 k=345", "split_k"},
      {"m=1001 n=777 k=346", "warp_specialized_64x128"},
      {"m=1001 n=777 k=348 ldb=+3", "tma_hybrid_64x128"},
      {"m=1001 n=777 k=348 ldb=+2", "warp_specialized_64x128"},
      {"m=1001 n=777 k=348 ldb=+3 offset=1,0,0", "warp_specialized_64x128"},
      {"m=2048 n=2048 k=64", "pipelined_128x256"},
      {"m=2048 n=2047 k=65", "stream_k"},
      {"m=1001 n=513 k=777", "stream_k"},
      {"m=256 n=256 k=16384", "split_k"},
  };
  for (const auto& [problem, stage] : chosen) {
    const std::string unsummed = std::string(problem) + " alpha=0";
    const auto kernels_of = [&](const char* variant) {
      const ReadJson json(run({"counts", variant, "--case", unsummed, "--json", "-"}).out);
      std::vector<std::string> kernels;
      for (const ReadJson& launch : json["results"][0]["launches"].items())
        kernels.push_back(launch["kernel"].text());
      return kernels;
    };
    const auto of_fastest = kernels_of("fastest");
    ASSERT_FALSE(of_fastest.empty()) << problem;
    EXPECT_EQ(of_fastest, kernels_of(stage)) << problem;
  }
}

TEST(Counts, DoNotFollowTheSeed) {
  const auto results = [](const std::string& seed) {
    const Answer answer = run({"counts", "tiled_16", "warptiled", "--by-line", "--json", "-",
                               "--case", "m=70 n=36 k=40 alpha=1.5 beta=0.5 seed=" + seed});
    return answer.out.substr(answer.out.find("\"results\""));
  };
  const std::string first = results("0");  // threads forward, reverse, and shuffled
  for (const char* seed : {"1", "2", "5"}) EXPECT_EQ(results(seed), first);
}

TEST(Counts, AreShownByLine) {
  const Answer answer = run({"counts", "tiled_32", "--by-line", "--case", "m=64 n=64 k=64"});
  EXPECT_THAT(answer.out, HasSubstr("\n  kernels/tiled.cu\n"));
  EXPECT_THAT(answer.out, HasSubstr("a_tile[y][x] = row < g.m && p0 + x < k"));
  EXPECT_THAT(answer.out, HasSubstr("*c = blend(g, sum, c);"));
  EXPECT_THAT(answer.out, Not(HasSubstr("gemm.h")))
      << "what is inlined is shown where it is called";
  for (const std::string& line : answer.lines()) EXPECT_LE(line.size(), 120u) << line;
}

TEST(Counts, OfPaddedRowsFollowTheOffsets) {
  const auto sectors = [](const std::string& more) {
    const ReadJson json(
        run({"counts", "coalesced", "--case", "m=16 n=32 k=1" + more, "--json", "-"}).out);
    return json["results"][0]["launches"][0]["counts"]["global_stores"]["sectors"].number();
  };
  // 16 rows of 2 blocks, each 16 floats wide: two sectors, or three if misaligned.
  EXPECT_EQ(sectors(""), 64);
  EXPECT_EQ(sectors(" offset=0,0,1"), 96);
}

TEST(Counts, RefusesWhatCannotBeCounted) {
  expect_bad_input(run({"counts", "eigen"}), "nothing to count: eigen does not exist for ptx");
  expect_bad_input(
      run({"counts", "vectorized", "--case", "m=8 n=8 k=777"}),
      "vectorized refuses the case \"m=8 n=8 k=777\": lda = 777 is not a multiple of 4");
  expect_bad_input(run({"counts", "naive", "--case", "m=1000000 n=1000000 k=1"}), "GiB of memory");
  const Answer some = run({"counts", "--case", "m=8 n=8 k=7"});
  EXPECT_EQ(some.code, 0) << some.err;
  EXPECT_THAT(some.out, HasSubstr("\nvectorized refused: lda = 7 is not a multiple of 4\n"));
  EXPECT_EQ(run({"counts", "naive", "--case", "m=0 n=4 k=4"}).code, 77);
}

#else

TEST(Counts, SaysWhatItTakes) {
  const std::string what =
      "this build has no kernels of nvcc: run ci/get-nvcc, and configure with the preset ptx";
  expect_bad_input(run({"counts"}), "nothing to count: " + what);
  const Answer check = run({"check", "naive", "--backend", "ptx"});
  EXPECT_EQ(check.code, 77);
  EXPECT_THAT(check.out, HasSubstr("NOTHING JUDGED: ptx: " + what));
}

#endif

}  // namespace
}  // namespace assay::tests
