// Every defect of the catalogue must be caught by the claim it belongs to, within the default budget, and be shrunk to a
// case that a person can work through.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "properties/check.h"

namespace {

using namespace assay;

struct Defect {
  const char* name;
  const char* claim;
};
void PrintTo(const Defect& defect, std::ostream* out) { *out << defect.name; }

constexpr Defect defects[] = {
#include "defects.inc"
};

const Entry* find(const std::vector<Entry>& entries, std::string_view name) {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.variant.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

class Catalogue : public testing::TestWithParam<Defect> {};

TEST_P(Catalogue, is_caught_by) {
  const auto entries = registered();
  const Entry* entry = find(entries, GetParam().name);
  ASSERT_NE(entry, nullptr);
  const ClaimResult result = check({*entry}, {&claim_named(GetParam().claim)}, {.jobs = 1}).front();
  ASSERT_TRUE(result.failure) << result.cases << " cases, and nobody noticed";

  const Failure& failure = *result.failure;
  fmt::print("caught by case {}, {} steps to {}\n{}: {}\n{}\n", result.cases, failure.shrink_steps,
             to_string(failure.shrunk), to_string(failure.verdict.status), failure.verdict.reason,
             failure.verdict.diagnosis);
  EXPECT_TRUE(failure.shrunk_fully);
  EXPECT_LE(failure.shrunk.multiply_adds(), 1e5) << "a case this large is not small";
}

INSTANTIATE_TEST_SUITE_P(Defect, Catalogue, testing::ValuesIn(defects),
                         [](const auto& info) { return std::string(info.param.name) + "_by_" + info.param.claim; });

}  // namespace
