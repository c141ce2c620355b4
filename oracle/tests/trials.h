// Trials of the planted kernels on the CPU executor.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "oracle/machine.h"
#include "oracle/trial.h"

namespace oracle_test {

using namespace assay;

inline constexpr std::array placements = {Placement::guarded, Placement::elsewhere,
                                          Placement::far_off, Placement::ends_at_fence,
                                          Placement::begins_at_fence};

inline const Case small{.m = 9, .n = 7, .k = 5};
inline const Case scaled{.m = 9,
                         .n = 7,
                         .k = 5,
                         .alpha = 1.5,
                         .beta = -0.5,
                         .lda = {3},
                         .ldb = {1},
                         .ldc = {2},
                         .offset = {{1, 2, 3}},
                         .seed = 4};

inline Entry planted(std::string_view name) { return entry_named(name, Backend::simt); }
inline Entry with_needs(std::string_view name, const Needs& needs) {
  Entry entry = planted(name);
  entry.variant.needs = needs;
  return entry;
}
inline Entry on_host(cudaError_t (*launch)(const Gemm&, cudaStream_t)) {
  return {{.name = "host", .idea = "", .launch = launch}, Backend::host};
}

inline Verdict run(std::string_view name, const Case& c, const Plan& plan = {}) {
  return run_trial(planted(name), c, plan);
}

inline std::string status_of(std::string_view name, const Case& c, const Plan& plan = {}) {
  return std::string(to_string(run(name, c, plan).status));
}

inline void expect_words(const std::string& text, const std::vector<std::string>& words) {
  for (const auto& word : words)
    EXPECT_NE(text.find(word), text.npos) << text << "\nlacks " << word;
}

inline void expect_status(TrialStatus status, const Verdict& verdict,
                          const std::vector<std::string>& words) {
  EXPECT_EQ(to_string(verdict.status), to_string(status)) << verdict.reason;
  EXPECT_EQ(verdict.reason.find('\n'), std::string::npos) << "one sentence";
  expect_words(verdict.reason, words);
}

}  // namespace oracle_test
