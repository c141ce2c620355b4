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

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "oracle/gpu_info.h"
#include "properties/check.h"

namespace {

using namespace assay;

constexpr int unfit_environment = 4, nothing_judged = 77;

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

// Under a debugger or a sanitizer everything is to happen in one process.
WorkerCommand worker_command() {
  if (std::getenv("ASSAY_IN_PROCESS") != nullptr) return {};
  return {{"--worker"}};
}

class ClaimTest : public testing::Test {
 public:
  ClaimTest(const Entry& entry, const Claim& claim) : entry_(entry), claim_(claim) {}

  void TestBody() override {
    if (const std::string why = unavailable(entry_.backend); !why.empty()) GTEST_SKIP() << why;
    const Budget budget{.cases = static_cast<int>(from_environment("ASSAY_CASES", 100)),
                        .seed = from_environment("ASSAY_SEED", 0),
                        .jobs = 1,
                        .worker = worker_command()};
    const auto corpus = read_corpus(corpus_path());
    const ClaimResult result = check({entry_}, {&claim_}, budget, corpus).front();
    if (!result.exempt.empty()) GTEST_SKIP() << result.exempt;
    if (result.failure) {
      append_to_corpus(corpus_path(), {&claim_, result.failure->shrunk});
      report(result, *result.failure);
    } else if (result.cases < std::min(budget.cases, claim_.most_cases)) {
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

// Claims that take a GPU are no tests of other backends; all other pairs are, if only to be skipped
// with a reason.
template <class Visit>
void for_each_pair(const Visit& visit) {
  for (const Entry& entry : registered()) {
    for (const Claim& claim : claims()) {
      if (!claim.takes_gpu || entry.backend == Backend::cuda) visit(entry, claim);
    }
  }
}

std::ofstream open_output(const char* file) {
  std::ofstream out(file);
  if (!out) throw BadInput(fmt::format("{}: cannot be written", file));
  return out;
}

void write_ctest(const char* program, const char* file) {
  std::ofstream out = open_output(file);
  const auto add = [&](const std::string& name, const std::string& argument,
                       const std::string& properties) {
    out << fmt::format("add_test([=[{}]=] [=[{}]=] [=[{}]=])\n", name, program, argument)
        << fmt::format(
               "set_tests_properties([=[{}]=] PROPERTIES SKIP_RETURN_CODE {} TIMEOUT 600 {})\n",
               name, nothing_judged, properties);
  };
  const auto entries = registered();
  const auto is_for_gpu = [](const Entry& entry) { return entry.backend == Backend::cuda; };
  if (std::any_of(entries.begin(), entries.end(), is_for_gpu))
    add("gpu.present", "--gpu-present", "FIXTURES_SETUP gpu LABELS \"gpu\"");
  for_each_pair([&](const Entry& entry, const Claim& claim) {
    const bool gpu = entry.backend == Backend::cuda, large = claim.most_cases < 100;
    const std::string name =
        fmt::format("{}.{}.{}", to_string(entry.backend), entry.variant.name, claim.name);
    add(name, "--gtest_filter=" + name,
        fmt::format("LABELS \"claim;{};{};{}{}{}\"{}", to_string(entry.backend), entry.variant.name,
                    claim.name, gpu ? ";gpu" : "", large ? ";large" : "",
                    gpu ? " FIXTURES_REQUIRED gpu RESOURCE_GROUPS \"1,gpus:1\"" : ""));
  });
  for (const Entry& entry : entries) {
    if (!is_for_gpu(entry)) continue;
    for (const char* tool : {"memcheck", "racecheck", "initcheck", "synccheck"}) {
      const std::string name = fmt::format("sanitizer.{}.{}", entry.variant.name, tool);
      out << fmt::format("add_test([=[{}]=] [=[{}]=] [=[{}]=] {} {})\n", name, ASSAY_SANITIZE,
                         program, entry.variant.name, tool)
          << fmt::format(
                 "set_tests_properties([=[{}]=] PROPERTIES SKIP_RETURN_CODE {} TIMEOUT 600 LABELS "
                 "\"sanitizer;gpu;{};{}\" FIXTURES_REQUIRED gpu RESOURCE_GROUPS \"1,gpus:1\")\n",
                 name, nothing_judged, entry.variant.name, tool);
    }
  }
  if (!out.flush()) throw BadInput(fmt::format("{}: cannot be written", file));
}

// CTest's resource specification: every GPU takes some tests at a time.
void write_resources(const char* file) {
  std::ofstream out = open_output(file);
  std::string gpus;
  for (int device = 0; device < gpu_count(); ++device) {
    gpus += fmt::format("{}{{\"id\": \"{}\", \"slots\": 4}}", device == 0 ? "" : ", ", device);
  }
  out << fmt::format(
      "{{\"version\": {{\"major\": 1, \"minor\": 0}}, \"local\": [{{\"gpus\": [{}]}}]}}\n", gpus);
  if (!out.flush()) throw BadInput(fmt::format("{}: cannot be written", file));
}

bool gpu_is_required() {
  const char* text = std::getenv("ASSAY_REQUIRE_GPU");
  return text != nullptr && std::string_view(text) != "" && std::string_view(text) != "0";
}

// A run that needs a GPU must not turn green because it has none: then this is what fails.
int answer_gpu_present() {
  const std::string why = unavailable(Backend::cuda);
  if (why.empty()) {
    for (const auto& [name, value] : describe_gpus()) fmt::print("{}: {}\n", name, value);
    return 0;
  }
  fmt::print("{}{}\n", why, gpu_is_required() ? ", and ASSAY_REQUIRE_GPU is set" : "");
  return gpu_is_required() ? unfit_environment : nothing_judged;
}

int judged_tests() {
  const auto& unit = *testing::UnitTest::GetInstance();
  return unit.successful_test_count() + unit.failed_test_count();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 2 && std::string_view(argv[1]) == "--worker") return serve_worker();
    if (argc == 3 && std::string_view(argv[1]) == "--write-ctest") {
      write_ctest(argv[0], argv[2]);
      return 0;
    }
    if (argc == 3 && std::string_view(argv[1]) == "--write-resources") {
      write_resources(argv[2]);
      return 0;
    }
    if (argc == 2 && std::string_view(argv[1]) == "--gpu-present") return answer_gpu_present();
    testing::InitGoogleTest(&argc, argv);
    for_each_pair([](const Entry& entry, const Claim& claim) {
      const std::string suite = fmt::format("{}.{}", to_string(entry.backend), entry.variant.name);
      testing::RegisterTest(
          suite.c_str(), claim.name, nullptr, nullptr, __FILE__, __LINE__,
          [&claim, entry]() -> testing::Test* { return new ClaimTest(entry, claim); });
    });
    const int failed = RUN_ALL_TESTS();
    return failed != 0 ? 1 : judged_tests() == 0 ? nothing_judged : 0;
  } catch (const BadInput& error) {
    std::cerr << "claims_test: " << error.what() << "\n";
    return 2;
  }
}
