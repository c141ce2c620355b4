// `assay defects`: what it shows of a planted fault, and when it fails.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/power/defects_text.h"
#include "cli/tests/program.h"
#include "cli/tests/read_json.h"

namespace assay::tests {
namespace {

using testing::HasSubstr;

TEST(Defects, ShowsWhichClaimsNoticeAPlantedFault) {
  const Folder folder;
  const Answer answer =
      run({"defects", "dropped_k_tail", "--json", folder / "a.json", "--md", folder / "a.md"});
  EXPECT_EQ(answer.code, 0) << answer.out << answer.err;
  EXPECT_EQ(answer.last_line(), "ALL KILLED: 1 defect, each by the claim that must notice it");
  const std::string markdown = text_of(folder / "a.md");
  EXPECT_THAT(markdown, HasSubstr("\n| dropped_k_tail | simt | "));
  EXPECT_THAT(markdown,
              testing::ContainsRegex("dropped_k_tail .*[*][*][0-9]+[*][*].*`m=.* is missing"));
  const std::string committed = text_of(ASSAY_SCRIPTS "/../docs/kill-matrix.md");
  if (committed.find(fmt::format("g++ {}:", __GNUC__)) != committed.npos) {
    EXPECT_THAT(committed, HasSubstr(markdown.substr(markdown.find("\n| dropped_k_tail |"))))
        << "docs/kill-matrix.md is stale: run assay defects --md docs/kill-matrix.md";
  }
  const ReadJson row = ReadJson(text_of(folder / "a.json"))["results"][0];
  EXPECT_EQ(row["name"], "dropped_k_tail");
  EXPECT_EQ(row["must_be_killed_by"], "exact_integers");
  EXPECT_EQ(row["claims"][2]["claim"], "exact_integers");
  EXPECT_FALSE(row["claims"][2]["shrunk"].is_null());
}

TEST(Defects, JudgesSeveralSeedsByTheNamedClaimAlone) {
  const Answer answer = run({"defects", "dropped_k_tail", "--seeds", "2", "--seed", "5"});
  EXPECT_EQ(answer.code, 0) << answer.out << answer.err;
  EXPECT_THAT(answer.out, testing::ContainsRegex("dropped_k_tail +simt +exact_integers +2/2"));
  EXPECT_EQ(answer.last_line(),
            "ALL KILLED: 1 defect, each by the claim that must notice it, for every seed");
  expect_bad_input(run({"defects", "--seeds", "2", "--md", "-"}), "the kill matrix is of one seed");
}

TEST(Defects, NamesTheSeedsForWhichAFaultLivesOn) {
  const Claim& bound = claim_named("within_bound");
  const ClaimResult holds{.claim = &bound, .wanted = 5, .cases = 5};
  const ClaimResult fails{.claim = &bound, .wanted = 5, .failure = Failure{}, .cases = 1};
  const Defect defect{.name = "sly", .claim = "within_bound", .backend = Backend::simt};
  const std::vector<SeedsOfDefect> scores = {{defect, {fails, holds, fails, holds}}};
  EXPECT_EQ(conclude(scores, 7).code, ExitCode::wrong);
  EXPECT_THAT(conclude(scores, 7).sentence, HasSubstr("sly (by within_bound)"));
  EXPECT_THAT(seeds_text(scores, 7, Screen(stdout)),
              testing::ContainsRegex("sly +simt +within_bound +2/4 +5 +8, 10"));
}

TEST(Defects, RefusesAMisspeltName) {
  expect_bad_input(run({"defects", "dropped_k_tial"}), "there is no defect 'dropped_k_tial'");
}

// One that only another claim notices.
TEST(Defects, FailsWhereTheNamedClaimHolds) {
  const Claim &bound = claim_named("within_bound"), &exact = claim_named("exact_integers");
  const ClaimResult holds{.claim = &bound, .wanted = 5, .cases = 5};
  const ClaimResult fails{.claim = &exact, .wanted = 5, .failure = Failure{}, .cases = 1};
  const Defect defect{.name = "sly", .claim = "within_bound", .backend = Backend::simt};
  KillMatrix matrix{{&bound, &exact}, {{defect, {holds, fails}}}, 5};
  EXPECT_EQ(matrix.rows[0].first_killer(), &matrix.rows[0].results[1]);
  EXPECT_EQ(conclude(matrix).code, ExitCode::wrong);
  EXPECT_THAT(conclude(matrix).sentence, HasSubstr("sly (by within_bound)"));
  EXPECT_THAT(matrix_markdown(matrix, "assay defects"), HasSubstr("| sly | simt | **.** | 1 |"));
  matrix.rows[0].defect.claim = "exact_integers";
  EXPECT_EQ(conclude(matrix).code, ExitCode::passed);
}

}  // namespace
}  // namespace assay::tests
