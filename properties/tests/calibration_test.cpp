// The references agree, and a run ends where they do not.
#include "properties/calibration.h"

#include <gtest/gtest.h>

#include "properties/claims.h"
#include "properties/tests/planted.h"

namespace {

using namespace assay;
using namespace assay_test;

TEST(Calibration, finds_that_the_references_agree) {
  for (Backend backend : {Backend::host, Backend::simt}) {
    Entry entry = host_entry(multiply);
    entry.backend = backend;
    const Verdict verdict =
        calibration().judge(entry, parse_case("m=33 n=21 k=77 alpha=1.5 beta=-0.5"), {});
    EXPECT_EQ(to_string(verdict.status), "right") << verdict.reason;
    EXPECT_EQ(verdict.judged, 33 * 21);
  }
}

TEST(Calibration, is_one_for_each_backend_and_gpu) {
  Calibration& first = Calibration::of(Backend::cuda, 0);
  EXPECT_EQ(&Calibration::of(Backend::cuda, 0), &first);
  EXPECT_NE(&Calibration::of(Backend::cuda, 1), &first);
  EXPECT_NE(&Calibration::of(Backend::simt, 0), &first);
}

TEST(Calibration, asks_once_unless_the_references_disagree) {
  Calibration calibration;
  int asked = 0;
  const auto judge = [&](TrialStatus status) {
    return [&asked, status](const Case&) {
      ++asked;
      return Verdict{.status = status, .reason = "two references differ", .judged = 1};
    };
  };
  for (int time : {1, 2}) {
    try {
      calibration.require(judge(TrialStatus::wrong));
      ADD_FAILURE() << "nobody noticed, time " << time;
    } catch (const OracleDisagrees& error) {
      EXPECT_STREQ(error.what(), "two references differ");
    }
    EXPECT_EQ(asked, time);
  }
  calibration.require(judge(TrialStatus::right));
  EXPECT_EQ(asked, 2 + 6);
  calibration.require(judge(TrialStatus::wrong));
  EXPECT_EQ(asked, 2 + 6);
}

}  // namespace
