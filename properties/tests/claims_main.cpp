// One GoogleTest test for every variant and claim, named BACKEND.VARIANT.CLAIM as in
// `simt.tiled_32.within_bound`.
//
//   claims_test                    every claim about every variant, ASSAY_CASES (100) cases each,
//   from ASSAY_SEED (0) claims_test --write-ctest F    writes into F the CTest tests that run them
//   one by one
//
// Exits with 77 if nothing was judged, which CTest shows as skipped.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>

#include "properties/check.h"

namespace {

using namespace assay;

constexpr int nothing_judged = 77;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr) return otherwise;
  char* end = nullptr;
  const std::uint64_t value = std::strtoull(text, &end, 10);
  if (end == text || *end != '\0')
    throw BadInput(fmt::format("{}='{}' is not a number", name, text));
  return value;
}

std::filesystem::path corpus_path() {
  const char* path = std::getenv("ASSAY_CORPUS");
  return path != nullptr ? path : ASSAY_CORPUS_PATH;
}

class ClaimTest : public testing::Test {
 public:
  ClaimTest(const Entry& entry, const Claim& claim) : entry_(entry), claim_(claim) {}

  void TestBody() override {
    const Budget budget{.cases = static_cast<int>(from_environment("ASSAY_CASES", 100)),
                        .seed = from_environment("ASSAY_SEED", 0),
                        .jobs = 1};
    const auto corpus = read_corpus(corpus_path());
    const ClaimResult result = check({entry_}, {&claim_}, budget, corpus).front();
    if (!result.exempt.empty()) GTEST_SKIP() << result.exempt;
    if (result.failure) {
      append_to_corpus(corpus_path(), {&claim_, result.failure->shrunk});
      report(result, *result.failure);
    } else if (result.cases < budget.cases) {
      FAIL() << "judged only " << result.cases << " of " << budget.cases << " cases";
    }
    fmt::print("{} cases judged, {} elements, worst {:.3g} of {:.3g} gulps\n", result.cases,
               result.elements, result.worst_gulps, result.allowed_gulps);
  }

 private:
  void report(const ClaimResult& result, const Failure& failure) const {
    FAIL() << "'" << claim_.sentence << "' is not true of " << entry_.variant.name
           << "\n  drawn:  " << to_string(failure.original)
           << "\n  shrunk: " << to_string(failure.shrunk) << "\n  "
           << to_string(failure.verdict.status) << ": " << failure.verdict.reason << "\n  "
           << failure.verdict.diagnosis << "\n"
           << failure.verdict.picture << "  replay: " << replay_line(result, failure.shrunk);
  }

  Entry entry_;
  const Claim& claim_;
};

void write_ctest(const char* program, const char* file) {
  std::ofstream out(file);
  for (const Entry& entry : registered()) {
    for (const Claim& claim : claims()) {
      const std::string name =
          fmt::format("{}.{}.{}", to_string(entry.backend), entry.variant.name, claim.name);
      out << fmt::format("add_test([=[{0}]=] [=[{1}]=] [=[--gtest_filter={0}]=])\n", name, program)
          << fmt::format(
                 "set_tests_properties([=[{}]=] PROPERTIES SKIP_RETURN_CODE {} TIMEOUT 600 LABELS "
                 "\"claim;{};{};{}\")\n",
                 name, nothing_judged, to_string(entry.backend), entry.variant.name, claim.name);
    }
  }
  if (!out.flush()) throw BadInput(fmt::format("{}: cannot be written", file));
}

int judged_tests() {
  const auto& unit = *testing::UnitTest::GetInstance();
  return unit.successful_test_count() + unit.failed_test_count();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 3 && std::string_view(argv[1]) == "--write-ctest") {
      write_ctest(argv[0], argv[2]);
      return 0;
    }
    testing::InitGoogleTest(&argc, argv);
    for (const Entry& entry : registered()) {
      const std::string suite = fmt::format("{}.{}", to_string(entry.backend), entry.variant.name);
      for (const Claim& claim : claims()) {
        testing::RegisterTest(
            suite.c_str(), claim.name, nullptr, nullptr, __FILE__, __LINE__,
            [&claim, entry]() -> testing::Test* { return new ClaimTest(entry, claim); });
      }
    }
    const int failed = RUN_ALL_TESTS();
    return failed != 0 ? 1 : judged_tests() == 0 ? nothing_judged : 0;
  } catch (const BadInput& error) {
    std::cerr << "claims_test: " << error.what() << "\n";
    return 2;
  }
}
